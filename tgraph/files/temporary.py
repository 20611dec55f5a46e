"""Temporary folders beside a file, or in the system's place for them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tgraph.files import PathLike
from tgraph.files.atomic_write import prefix, remove_leftovers


@contextmanager
def temporary_folder(path: PathLike, suffix: str = "converting", beside: Path | None = None) -> Iterator[Path]:
    """A temporary folder beside `path` or in `beside`, removed at the end, as are killed processes' leftovers."""
    path = Path(path).absolute()
    path = path if beside is None else beside / path.name
    remove_leftovers(path, suffix)
    folder = Path(tempfile.mkdtemp(prefix=prefix(path), suffix=f".{suffix}", dir=path.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def writable_folder(path: PathLike) -> Path:
    """The folder of an input file, or TMPDIR if not writable. Raises OSError, naming both, if neither is."""
    folder = Path(path).absolute().parent
    if os.access(folder, os.W_OK | os.X_OK):
        return folder
    try:
        return Path(tempfile.gettempdir())
    except OSError as fault:
        what = f"{folder} is read-only, and {fault.strerror}; set TMPDIR to a folder for temporary files"
        raise OSError(fault.errno, what) from fault
