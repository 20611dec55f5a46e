"""Merged blocks cached in a file, so that a program that passes over them many times merges each only twice."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path

from torch import Tensor

from tgraph.files.nameless import without_name
from tgraph.files.positioned import write_at
from tgraph.stream.file.container import as_bytes, checksum, read_fully

OPEN = 16  # files; a process may open few
_OPENED: weakref.WeakSet[CachedBlocks] = weakref.WeakSet()


class CachedBlocks:
    """A file without a name, which vanishes with the object or the process, with room for blocks of these sizes, whole
    pages in bytes each. A block is written when it has been merged for the second time.

    Blocks go on being merged where the system or the disk permits no writing, and beyond OPEN files of a process.
    """

    def __init__(self, folder: Path | None, sizes: Sequence[int]):
        self._file = -1 if folder is None or len(_OPENED) >= OPEN else without_name(folder)
        if self._file >= 0:
            _OPENED.add(self)
        self._sizes, self._sums = sizes, dict[int, int]()
        self._seen: set[int] = set()
        self._position = [*accumulate(sizes, initial=0)]

    def close(self) -> None:
        """Close the file, and so remove it."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1
        _OPENED.discard(self)
        self._sums.clear()

    def has(self, block: int) -> bool:
        """Whether a block can be read."""
        return block in self._sums

    def see(self, block: int, memory: Tensor) -> None:
        """Note that a block has been merged into memory, uint8 that begins at a page."""
        if self._file < 0 or block in self._sums:
            return
        if block not in self._seen:
            self._seen.add(block)
            return
        data = as_bytes(memory[: self._sizes[block]])
        with suppress(OSError):  # there is no room
            if write_at(self._file, data, self._position[block]) == len(data):
                self._sums[block] = checksum(data)

    def read(self, block: int, memory: Tensor) -> None:
        """Read a block into memory, uint8 that begins at a page."""
        read_fully(self._file, as_bytes(memory[: self._sizes[block]]), self._position[block])

    def is_whole(self, block: int, memory: Tensor) -> bool:
        """Whether a block that was read equals the block written."""
        return checksum(as_bytes(memory[: self._sizes[block]])) == self._sums[block]
