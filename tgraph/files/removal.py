"""Removal of large files in parts, while others wait for the disk."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from tgraph.files import Pause

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PART = 1 << 22  # bytes freed at a time
_FORGET = 5e-3  # seconds of the disk for it, generously


def remove(path: Path, pause: Pause | None = None) -> None:
    """Remove a file, if it exists: in parts while others wait for the disk, unless a process has it open or mapped.

    Some file systems pass freed blocks to the disk (TRIM), which stalls it: for about 50 ms for 100 MB.
    """
    if fcntl is None:  # on Windows, where open files cannot be removed
        path.unlink(missing_ok=True)
        return
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        path.unlink(missing_ok=True)  # from here on no process can open it
        if pause is not None and _is_ours_alone(file):
            _shorten(file, pause)
    finally:
        os.close(file)


def _shorten(file: int, pause: Pause) -> None:
    size = os.fstat(file).st_size
    while size > _PART and (times := pause()) is not None:
        size -= _PART
        os.ftruncate(file, size)
        time.sleep(times * _FORGET)


def _is_ours_alone(file: int) -> bool:
    """Whether nothing else has the file open or mapped, by a write lease (F_SETLEASE); False if unknown."""
    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    with contextlib.suppress(OSError):
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        return True
    return False
