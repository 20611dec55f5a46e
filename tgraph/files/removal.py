"""Removal of large files while others wait for the disk."""

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

_PART = 1 << 22  # bytes that are freed at a time
_FORGET = 5e-3  # seconds that a disk takes for it, generously


def remove(path: Path, pause: Pause | None = None) -> None:
    """Remove a file, if it is there: a part at a time where others wait for the disk, and where no process has it open
    or mapped, which would miss the part.

    Some file systems tell the disk what they free, which then does nothing else for a while: 50 ms for 100 MB, say.
    """
    if fcntl is None:  # on Windows, where nobody can remove what is open
        path.unlink(missing_ok=True)
        return
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        path.unlink(missing_ok=True)  # now nobody can open it any more
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
    """Whether no other file description or memory map has the file; False where that cannot be told. The system grants
    a lease for writing only then."""
    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    with contextlib.suppress(OSError):
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        return True
    return False
