"""Direct reads of a file (O_DIRECT), in sectors of the device."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

from torch import Tensor

from tgraph.files.positioned import open_to_read, read_at
from tgraph.kernels.operators.pieces import read_pieces

_SECTOR = 512  # bytes of the smallest reads of most devices; of others, a page


class DirectFile:
    """A file with rows read by io_uring, or by threads without it, bypassing the page cache: no memory beside the
    result, no page faults, and a sector per row where a row fits in one.

    Without O_DIRECT in the system or file system, reads go through the page cache.
    """

    def __init__(self, path: Path):
        try:
            self._file = open_to_read(path, getattr(os, "O_DIRECT", 0))
        except OSError:  # without support by the file system
            self._file = open_to_read(path)
        self._align = _SECTOR if _reads(self._file, _SECTOR) else mmap.PAGESIZE

    def read(self, begin: Tensor, size: int) -> Tensor:
        """`size` bytes from each of the positions `begin` [k]: uint8 [k, size]. Raises OSError."""
        return read_pieces(self._file, begin, size, self._align)

    def fileno(self) -> int:
        """The descriptor."""
        return self._file

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)


def _reads(file: int, size: int) -> bool:
    """Whether the device supports reads of `size` bytes."""
    with mmap.mmap(-1, mmap.PAGESIZE) as memory, memoryview(memory) as view, view[:size] as part:
        try:
            return read_at(file, part, size) >= 0
        except OSError:
            return False
