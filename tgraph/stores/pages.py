"""Prefetching of the pages of a mapped file: many reads in flight at the same time."""

from __future__ import annotations

import mmap
import os

from torch import Tensor

_AT_ONCE = (128 << 10) // mmap.PAGESIZE  # pages of a request: systems may truncate longer ones
_PROBES = 32


def read_alone(mapping: mmap.mmap) -> None:
    """Disable read-ahead: a page fault reads one page, not megabytes that evict others where memory is short."""
    if hasattr(mmap, "MADV_RANDOM"):
        mapping.madvise(mmap.MADV_RANDOM)


class Pages:
    """The pages of a mapped file.

    A page fault waits for one read, with megabytes of read-ahead; a disk runs many random reads in parallel. So all
    pages are requested first (madvise), sorted and merged: one thread is then as fast as a pool of readers.

    file : its descriptor, for this map alone. mapping : the whole file.
    """

    def __init__(self, file: int, mapping: mmap.mmap):
        self._file, self._map = file, mapping
        self._can_ask = hasattr(mmap, "MADV_WILLNEED")
        read_alone(mapping)  # for the pages still missing
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)  # and for the misses of a probe

    def ask(self, begin: Tensor, size: int) -> None:
        """Request `size` bytes from each of the positions `begin` [k], up to the end of the file."""
        if not self._can_ask or not size or not len(begin):
            return
        begin = begin.sort().values
        first = begin // mmap.PAGESIZE
        last = (begin + size - 1).clamp_(max=len(self._map) - 1) // mmap.PAGESIZE
        ends = (first[1:] > last[:-1] + 1).nonzero().view(-1)  # of runs of pages
        starts = [int(first[0]), *first[ends + 1].tolist()]
        stops = [*(last[ends] + 1).tolist(), int(last[-1]) + 1]
        for start, stop in zip(starts, stops, strict=True):
            for page in range(start, stop, _AT_ONCE):
                pages = min(stop - page, _AT_ONCE)
                self._map.madvise(mmap.MADV_WILLNEED, page * mmap.PAGESIZE, pages * mmap.PAGESIZE)

    def seem_in_memory(self, begin: Tensor) -> bool:
        """Whether all probed positions are in memory: requesting pages takes as long as copying short rows."""
        if not hasattr(os, "RWF_NOWAIT"):
            return False
        for position in begin[:: 1 + len(begin) // _PROBES].tolist():
            try:
                os.preadv(self._file, [bytearray(1)], position, os.RWF_NOWAIT)
            except OSError:  # absent, or not supported by the file system
                return False
        return True
