"""Sequential direct writes of a large file, which would evict others' pages from the page cache."""

from __future__ import annotations

import errno
import mmap
import os
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Any

from tgraph.files import Pause
from tgraph.files.positioned import write_at

STAGED = 1 << 22  # bytes written at a time, whole pages
PIECE = 1 << 20  # the same, while others wait for the disk


class PastCache:
    """Appends bytes to a file open for writing, from a `position` at the start of a page.

    One buffer is filled while a thread writes the other. The remainder, and everything where the system or disk does
    not support direct writes, goes through the page cache. While others wait for the disk, by `pause`, writes are
    pieces with pauses, since a disk is not fair. Use it in `with`.
    """

    def __init__(self, file: Any, position: int, pause: Pause | None = None):
        self._file, self._position, self._pause = file, position, pause
        self._filled = 0
        self._buffers: list[mmap.mmap] = []
        self._direct = -1
        self._writer: ThreadPoolExecutor | None = None
        self._writing: Future[None] | None = None

    def __enter__(self) -> PastCache:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        try:
            if kind is None:
                self._wait()
                self._file.seek(self._position)
                if self._filled:
                    self._file.write(memoryview(self._buffers[0])[: self._filled])
        finally:
            if self._writer is not None:
                self._writer.shutdown()
            if self._direct >= 0:
                os.close(self._direct)

    def write(self, data: memoryview) -> None:
        """Append bytes. Raises OSError where earlier writes failed."""
        done = 0
        while done < len(data):
            if not self._buffers:
                self._buffers = [mmap.mmap(-1, STAGED), mmap.mmap(-1, STAGED)]
            taken = min(len(data) - done, STAGED - self._filled)
            self._buffers[0][self._filled : self._filled + taken] = data[done : done + taken]
            self._filled, done = self._filled + taken, done + taken
            if self._filled == STAGED:
                self._flush()

    def _flush(self) -> None:
        """Start writing the full buffer, and continue with the other."""
        self._wait()
        if self._writer is None:
            self._writer, self._direct = ThreadPoolExecutor(1, "tgraph writing"), _direct(self._file.name)
        self._writing = self._writer.submit(self._put, self._buffers[0], self._position)
        self._buffers.reverse()
        self._position, self._filled = self._position + STAGED, 0

    def _wait(self) -> None:
        if self._writing is not None:
            self._writing.result()

    def _put(self, buffer: mmap.mmap, position: int) -> None:
        done = 0
        while done < STAGED:
            file = self._direct if self._direct >= 0 else self._file.fileno()
            times, begin = None if self._pause is None else self._pause(), time.perf_counter()
            end = STAGED if times is None else min(done + PIECE, STAGED)
            try:
                done += write_at(file, memoryview(buffer)[done:end], position + done)
                if times is not None:
                    if file != self._direct:
                        os.fsync(file)
                    time.sleep(times * (time.perf_counter() - begin))
            except OSError as fault:
                if self._direct < 0 or fault.errno != errno.EINVAL:
                    raise
                os.close(self._direct)  # a file system with O_DIRECT for open, but not for writes
                self._direct = -1


def _direct(path: str) -> int:
    """The descriptor for direct writes, -1 without support."""
    if hasattr(os, "O_DIRECT"):
        with suppress(OSError):
            return os.open(path, os.O_WRONLY | os.O_DIRECT | os.O_CLOEXEC)
    return -1
