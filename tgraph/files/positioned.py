"""Reads and writes at positions of open files, where the system has calls for these and where it has not."""

from __future__ import annotations

import io
import os
import threading

from tgraph.files import PathLike

_seeking = threading.Lock()  # of systems that only read and write where a file stands


def open_to_read(path: PathLike, flags: int = 0) -> int:
    """A descriptor of a file for reading bytes, with further `flags` of os.open. Raises OSError."""
    return os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | flags)


def read_at(file: int, target: memoryview, position: int) -> int:
    """Read into `target` from byte `position` of a file on. Returns how many bytes, which may be fewer than it has room
    for. Raises OSError."""
    if hasattr(os, "preadv"):
        return os.preadv(file, [target], position)
    with _seeking, io.FileIO(file, closefd=False) as stream:
        stream.seek(position)
        return stream.readinto(target) or 0


def write_at(file: int, data: memoryview, position: int) -> int:
    """Write `data` at byte `position` of a file. Returns how many bytes were, which may not be all. Raises OSError."""
    if hasattr(os, "pwrite"):
        return os.pwrite(file, data, position)
    with _seeking:
        os.lseek(file, position, os.SEEK_SET)
        return os.write(file, data)
