"""Archives, zip and tar, with one file in them."""

from __future__ import annotations

import errno
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tgraph.errors import FileFormatError
from tgraph.files import PathLike

_TAR = (".tar", ".tgz", ".tbz2", ".txz", ".tar.gz", ".tar.bz2", ".tar.xz")
FAULTS = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError)  # of damaged archives


def is_archive(path: PathLike) -> bool:
    """Whether the name of a file is that of an archive.

    >>> from tgraph.files.archives import is_archive
    >>> is_archive("web.tar.gz"), is_archive("web.txt.gz")
    (True, False)
    """
    return Path(path).name.lower().endswith((".zip", *_TAR))


def member(path: PathLike) -> str:
    """The name of the one file in an archive, or of the list of edges, out.*, in one of KONECT, without its folders.

    Raises FileFormatError for an archive that has none or several, or is damaged.
    """
    with open_member(path) as (name, _):
        return name


@contextmanager
def open_member(path: PathLike) -> Iterator[tuple[str, Any]]:
    """(name, stream of its bytes) of the file that `member` names."""
    with ExitStack() as stack:
        try:
            opened = _opened(path, stack)
        except (*FAULTS, RuntimeError, OSError) as fault:  # RuntimeError: encrypted, or compressed in another way
            if isinstance(fault, OSError) and fault.errno not in (None, errno.EINVAL):  # a seek to a damaged offset
                raise
            raise FileFormatError(
                path, f"the archive cannot be read ({fault})", "fetch it again, or unpack it"
            ) from fault
        yield opened


def _opened(path: PathLike, stack: ExitStack) -> tuple[str, Any]:
    if Path(path).suffix.lower() == ".zip":
        archive = stack.enter_context(zipfile.ZipFile(path))
        name = _chosen(path, [each.filename for each in archive.infolist() if not each.is_dir()])
        return Path(name).name, stack.enter_context(archive.open(name))
    files = stack.enter_context(tarfile.TarFile.open(path))
    name = _chosen(path, [each.name for each in files if each.isreg()])
    return Path(name).name, files.extractfile(name)


def _chosen(path: PathLike, names: list[str]) -> str:
    names = [name for name in names if not name.startswith("__MACOSX") and not Path(name).name.startswith(".")]
    of_konect = [name for name in names if Path(name).name.startswith("out.")]
    if len(of_konect) == 1 or len(names) == 1:
        return (of_konect if len(of_konect) == 1 else names)[0]
    listed = ", ".join(Path(name).name for name in names[:4])
    raise FileFormatError(path, f"{len(names)} files in the archive: {listed}", "unpack it, and name one of them")
