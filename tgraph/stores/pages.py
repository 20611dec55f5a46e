"""Pages of a mapped file, many of which are asked of the disk before the first is waited for."""

from __future__ import annotations

import mmap
import os

from torch import Tensor

_AT_ONCE = (128 << 10) // mmap.PAGESIZE  # pages of a request: of longer ones systems may only read the beginning
_PROBES = 32


def read_alone(mapping: mmap.mmap) -> None:
    """Have a page fault read one page, not the megabytes around it, which where memory is short drive out others."""
    if hasattr(mmap, "MADV_RANDOM"):
        mapping.madvise(mmap.MADV_RANDOM)


class Pages:
    """The pages of a file on a map of it.

    A page fault waits for one read, and systems read megabytes around it; a disk serves many random reads at a time.
    So all are announced first (madvise), sorted and merged, which makes one thread as fast as a pool of readers.

    file : its descriptor, for this map alone. mapping : all of it.
    """

    def __init__(self, file: int, mapping: mmap.mmap):
        self._file, self._map = file, mapping
        self._can_ask = hasattr(mmap, "MADV_WILLNEED")
        read_alone(mapping)  # what is missing nevertheless
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)  # and so is what a probe does not find

    def ask(self, begin: Tensor, size: int) -> None:
        """Have `size` bytes from each of the positions `begin` [k], or as many as the file has, read into memory."""
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
        """Whether some of the positions are in memory: to ask for all of them takes as long as copying short rows."""
        if not hasattr(os, "RWF_NOWAIT"):
            return False
        for position in begin[:: 1 + len(begin) // _PROBES].tolist():
            try:
                os.preadv(self._file, [bytearray(1)], position, os.RWF_NOWAIT)
            except OSError:  # it is not, or the file system does not tell
                return False
        return True
