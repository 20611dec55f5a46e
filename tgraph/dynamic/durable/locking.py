"""A folder that one process at a time changes."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from pathlib import Path
from typing import BinaryIO

from tgraph.errors import BusyError
from tgraph.files.locking import lock, unlock

_WAIT = 0.01  # seconds between two tries


class FolderLock:
    """A lock on the file `lock` of a folder, held until `release`, or until the process ends.

    timeout : seconds to wait for another process. Raises BusyError, with the process and the host that hold it, after
    that.
    """

    def __init__(self, folder: Path, timeout: float):
        self._file = open(folder / "lock", "a+b", buffering=0)  # noqa: SIM115 - as long as it is held
        try:
            self._wait(folder, time.monotonic() + timeout)
        except BaseException:
            self._file.close()
            raise
        with contextlib.suppress(OSError):  # on a full disk
            self._file.truncate(0)
            self._file.write(json.dumps({"process": os.getpid(), "host": socket.gethostname()}).encode())

    def _wait(self, folder: Path, end: float) -> None:
        while True:
            with contextlib.suppress(BlockingIOError):
                return lock(self._file, wait=False)
            if time.monotonic() >= end:
                raise BusyError(
                    f"{folder}: {_holder(self._file)} has it open to change it; close it there, wait with timeout=, or "
                    'open it with mode="r" to read'
                )
            time.sleep(_WAIT)

    def release(self) -> None:
        """Release the lock."""
        unlock(self._file)
        self._file.close()


def _holder(file: BinaryIO) -> str:
    file.seek(0)
    try:
        said = json.loads(file.read())
        return f"process {said['process']} on {said['host']}"
    except (ValueError, LookupError, TypeError):  # it is just about to write
        return "another process"
