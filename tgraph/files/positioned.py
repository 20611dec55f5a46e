"""Positioned reads and writes of open files, by preadv and pwrite, or by seeks where the system lacks them."""

from __future__ import annotations

import io
import os
import threading

from tgraph.files import PathLike

_seeking = threading.Lock()  # of seeks, on systems without positioned calls


def open_to_read(path: PathLike, flags: int = 0) -> int:
    """A descriptor of a file for reading bytes, with further `flags` of os.open. Raises OSError."""
    return os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | flags)


def read_at(file: int, target: memoryview, position: int) -> int:
    """Read into `target` from byte `position`. Returns the number of bytes, maybe fewer. Raises OSError."""
    if hasattr(os, "preadv"):
        return os.preadv(file, [target], position)
    with _seeking, io.FileIO(file, closefd=False) as stream:
        stream.seek(position)
        return stream.readinto(target) or 0


def write_at(file: int, data: memoryview, position: int) -> int:
    """Write `data` at byte `position` of a file. Returns the number of bytes written, maybe fewer. Raises OSError."""
    if hasattr(os, "pwrite"):
        return os.pwrite(file, data, position)
    with _seeking:
        os.lseek(file, position, os.SEEK_SET)
        return os.write(file, data)
