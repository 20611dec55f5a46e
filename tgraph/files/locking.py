"""Advisory locks on open files, between processes."""

from __future__ import annotations

import os
import time
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PLACE = 1 << 40  # of the byte that Windows locks, past all contents, since locked bytes cannot be read
_WAIT = 0.01  # seconds between two tries


def lock(file: BinaryIO, *, wait: bool = True) -> None:
    """Lock an open file, until `unlock` or until it is closed. Where another process has locked it, wait, or without
    `wait` raise BlockingIOError."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    while True:
        try:
            return _lock_byte(file, take=True)
        except (PermissionError, BlockingIOError) as fault:
            if not wait:
                raise BlockingIOError(*fault.args) from fault
        time.sleep(_WAIT)


def unlock(file: BinaryIO) -> None:
    """Release the lock, even if forked processes have the file open."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_UN)
    else:
        _lock_byte(file, take=False)


def _lock_byte(file: BinaryIO, *, take: bool) -> None:
    import msvcrt  # of Windows

    place = os.lseek(file.fileno(), 0, os.SEEK_CUR)
    os.lseek(file.fileno(), _PLACE, os.SEEK_SET)
    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK if take else msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]
    finally:
        os.lseek(file.fileno(), place, os.SEEK_SET)
