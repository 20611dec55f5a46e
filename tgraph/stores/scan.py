"""Scans of a tensor in a file that several readers share.

A disk reads files from end to end several times faster than pages here and there. Where several readers want rows of
many pages, one scan serves all of them: a reader joins it wherever it is, and leaves when it has come round (Zukowski,
Heman, Nes and Boncz, "Cooperative Scans", VLDB 2007).
"""

from __future__ import annotations

import math
import mmap
import os
import threading
from typing import BinaryIO

import torch
from torch import Tensor

from tgraph.stores.blocks import Stat

PIECE = 1 << 19  # bytes that are read at a time: of longer ones, pages that others read would wait too long
SPARSE = 16  # pages of the tensor for each row that is wanted, beyond which reading the rows' own pages is faster
_LOCK = threading.Lock()
if hasattr(os, "register_at_fork"):  # a child has a lock that nobody holds
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


class Scan:
    """Goes round a tensor while readers wait for rows. Each reads pieces for all of them, one after the other.

    The system's cache, which it would fill with what is not read again soon, is passed by where the file system can.

    file, begin : its descriptor, and where the tensor begins in it. stat : of the tensor.
    """

    def __init__(self, file: int, begin: int, stat: Stat):
        self._file, self._begin, self._stat = _past_the_cache(file), begin, stat
        self._rows = max(1, PIECE // max(1, stat.row_bytes))  # of a piece
        self._pieces = -(-stat.shape[0] // self._rows)
        self._next = 0
        self._readers: list[_Reader] = []
        self._changed = threading.Condition(_LOCK)

    def suits(self, index: Tensor) -> bool:
        """Whether so many rows are wanted that scans are faster."""
        if not hasattr(os, "preadv"):
            return False
        return len(index) * SPARSE * mmap.PAGESIZE >= self._stat.shape[0] * self._stat.row_bytes > 0

    def rows(self, index: Tensor) -> Tensor:
        """The rows at `index`, when the scan has come round. Raises OSError where the file cannot be read."""
        reader = _Reader(index, self._stat, self._rows, self._pieces)
        buffer = mmap.mmap(-1, self._rows * self._stat.row_bytes + 2 * mmap.PAGESIZE)
        with self._changed:
            self._readers.append(reader)
        while (piece := self._piece_for(reader)) is not None:
            number, readers = piece
            try:
                values = self._read(number, buffer)
                for each in readers:
                    each.take(number, values)
            except BaseException as error:
                for each in readers:
                    each.error = error
                raise
            finally:
                with self._changed:
                    for each in readers:
                        each.left -= 1
                    self._changed.notify_all()
        if reader.error is not None:
            raise reader.error
        return reader.in_order()

    def _piece_for(self, reader: _Reader) -> tuple[int, list[_Reader]] | None:
        """The next piece to read, and for whom; None when the reader has all. Waits where others read the last ones."""
        with self._changed:
            self._changed.wait_for(lambda: not reader.left or self._readers)
            if not reader.left:
                return None
            number, readers = self._next, list(self._readers)
            self._next = (number + 1) % self._pieces
            for each in readers:
                each.to_read -= 1
            self._readers = [each for each in readers if each.to_read]
            return number, readers

    def _read(self, number: int, buffer: mmap.mmap) -> Tensor:
        """The rows of a piece, on the buffer."""
        first = number * self._rows
        count = min(self._rows, self._stat.shape[0] - first)
        begin = self._begin + first * self._stat.row_bytes
        skip = begin % mmap.PAGESIZE  # reads that pass by the cache begin and end with pages
        size, done = -(-(skip + count * self._stat.row_bytes) // mmap.PAGESIZE) * mmap.PAGESIZE, 0
        while done < skip + count * self._stat.row_bytes:
            taken = os.preadv(self._file.fileno(), [memoryview(buffer)[done:size]], begin - skip + done)
            if not taken:
                raise OSError(f"{self._stat.key}: the file ends at byte {begin - skip + done}")
            done += taken
        shape = (count, *self._stat.shape[1:])
        return torch.frombuffer(buffer, dtype=self._stat.dtype, offset=skip, count=math.prod(shape)).view(shape)


class _Reader:
    """Who waits for rows. to_read, left : pieces that nobody has begun to read for it, that it has not been given."""

    def __init__(self, index: Tensor, stat: Stat, rows: int, pieces: int):
        self._index, self._order = index.sort()
        self._rows, self.to_read, self.left = rows, pieces, pieces
        self._ends = torch.searchsorted(self._index, torch.arange(pieces + 1) * rows).tolist()
        self._found = torch.empty((len(index), *stat.shape[1:]), dtype=stat.dtype)  # by ascending index
        self.error: BaseException | None = None

    def take(self, number: int, values: Tensor) -> None:
        """Its rows of a piece."""
        mine = slice(self._ends[number], self._ends[number + 1])
        torch.index_select(values, 0, self._index[mine] - number * self._rows, out=self._found[mine])

    def in_order(self) -> Tensor:
        """All rows, as they were asked for."""
        place = torch.empty_like(self._order).scatter_(0, self._order, torch.arange(len(self._order)))
        return self._found.index_select(0, place)


def _past_the_cache(file: int) -> BinaryIO:
    """The same file, opened for reads that pass by the system's cache; where it always uses it, as before."""
    try:
        found = os.open(f"/proc/self/fd/{file}", os.O_RDONLY | getattr(os, "O_DIRECT", 0))
    except OSError:
        found = os.dup(file)
    return os.fdopen(found, "rb", buffering=0)
