"""Atomic writes: a file is complete under its name or absent, whenever the process or the machine stops."""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tgraph.files import PathLike

_LONG = 200  # bytes of a name, before affixes


@contextmanager
def replacing(path: PathLike, mode: int = 0o666) -> Iterator[Path]:
    """A new file beside `path`, of mode & ~umask, renamed to it at the end of the block, removed on failure."""
    with _beside(path, mode) as (file, temporary):
        os.close(file)
        yield temporary


@contextmanager
def replacing_by(path: PathLike) -> Iterator[Any]:
    """As `replacing`, opened to write bytes."""
    with _beside(path) as (descriptor, temporary), open(temporary, "wb", opener=lambda *_: descriptor) as file:
        yield file


@contextmanager
def _beside(path: PathLike, mode: int = 0o666) -> Iterator[tuple[int, Path]]:
    """(descriptor, path) of a new file, with a name unique among threads, without following links."""
    path = Path(path)
    remove_leftovers(path, "part")
    temporary = path.with_name(f"{prefix(path)}{secrets.token_hex(4)}.part")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags | getattr(os, "O_CLOEXEC", 0), mode)
    try:
        yield descriptor, temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def prefix(path: Path) -> str:
    """The prefix of temporary files beside a path: hidden, with the id of the process."""
    return f".{_stem(path)}.{os.getpid()}."


def _stem(path: Path) -> str:
    """The name of the file, or its digest if long, since file systems limit names to 255 bytes."""
    name = os.fsencode(path.name)
    return path.name if len(name) <= _LONG else hashlib.sha256(name).hexdigest()


@contextmanager
def whole_file(path: PathLike, nbytes: int) -> Iterator[Any]:
    """A new file of `nbytes` bytes, which replaces `path` once written and synced, and is removed on failure. Raises
    OSError, naming path and bytes, where the disk has too little space."""
    with room_for(path, nbytes), replacing_by(path) as file:
        reserve(file.fileno(), nbytes)
        yield file
        file.flush()
        os.fsync(file.fileno())
    sync_folder(Path(path).parent)


def reserve(file: int, nbytes: int) -> None:
    """Allocate the disk space, to detect a lack of it before the data is written."""
    if nbytes and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, nbytes)


@contextmanager
def room_for(path: PathLike, nbytes: int | str) -> Iterator[None]:
    """Add the path and the required bytes to the OSError of a full disk."""
    try:
        yield
    except OSError as fault:
        said = fault.filename == os.fspath(path)
        if said or fault.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        free = shutil.disk_usage(Path(path).absolute().parent).free
        what = f"{fault.strerror}: {nbytes} bytes are needed, {free} are free; make room, or write to another disk"
        raise OSError(fault.errno, what, os.fspath(path)) from fault


def remove_leftovers(path: PathLike, suffix: str) -> None:
    """Remove temporary files and folders of killed processes beside `path`, by `prefix` and `suffix`."""
    path = Path(path)
    stem = _stem(path)
    for left in path.parent.glob(f".{glob.escape(stem)}.*.{suffix}"):
        process = re.fullmatch(r"(\d+)(\.\w+)?", left.name[len(stem) + 2 : -len(suffix) - 1])
        if process is None or _runs(int(process[1])):
            continue
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    """Whether a process with this id exists, for any user; True on Windows, where os.kill ends it."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that a renamed file survives a power failure."""
    try:
        opened = os.open(folder, os.O_RDONLY)
    except OSError:  # some systems cannot open folders
        return
    try:
        os.fsync(opened)
    except OSError:  # some file systems cannot sync them
        pass
    finally:
        os.close(opened)
