"""Ranges of columns of arcs and changes, read from memory or, past the page cache, from mapped files."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from torch import Tensor

from tgraph.files import PathLike
from tgraph.files.checksummed import as_bytes
from tgraph.files.positioned import open_to_read
from tgraph.stream.file.blocks import drop_pages, open_direct
from tgraph.stream.file.container import read_fully
from tgraph.stream.memory import PAGE, aligned, let_go, page_aligned

OPEN = 32  # files; a process may open few


class Place(NamedTuple):
    """The position in bytes at which the data of a tensor begin in a file."""

    path: PathLike
    position: int


class Column:
    """A tensor [k] in memory or on a map of a file. place : in that file, None for one in memory.

    A removed file is read from its map. At most OPEN files are open, of the columns read last.
    """

    tensor: Tensor

    def __init__(self, tensor: Tensor, place: Place | None):
        self.tensor, self._place = tensor, place
        self._file, self._is_direct, self._readers = -1, False, 0

    def close(self) -> None:
        """Close the file; the tensor stays."""
        with _LOCK:
            _OPENED.pop(self, None)
            self._close()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def let_go(self) -> None:
        """Drop the mapped pages that were read (madvise)."""
        if self._place is not None:
            let_go([self.tensor])

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """The file, open meanwhile; -1 for a removed one."""
        with _LOCK:
            if self._file < 0 and self._place is not None:
                self._open(self._place.path)
            _OPENED[self] = None
            _OPENED.move_to_end(self)
            self._readers += 1
            for other in [column for column in _OPENED if not column._readers][: max(len(_OPENED) - OPEN, 0)]:
                _OPENED.pop(other, None)
                other._close()
        try:
            yield self._file
        finally:
            with _LOCK:
                self._readers -= 1

    def _open(self, path: PathLike) -> None:
        with suppress(FileNotFoundError):
            self._file = open_direct(os.fspath(path))
            self._is_direct = self._file >= 0
            self._file = self._file if self._is_direct else open_to_read(path)

    def _pages(self, place: Place, begin: int, end: int) -> tuple[int, int]:
        """The pages of the file that hold a range: (first byte, bytes)."""
        width = self.tensor.element_size()
        first = (place.position + begin * width) // PAGE * PAGE
        return first, aligned(place.position + end * width - first)

    def room(self, begin: int, end: int) -> int:
        """Bytes of whole pages that reading a range takes."""
        return self._pages(self._place, begin, end)[1] if self._place is not None and begin < end else 0

    def read(self, begin: int, end: int, memory: Tensor) -> Tensor:
        """The values [begin, end): a view of the tensor, or of `memory`, uint8 [room], which begins at a page."""
        if not len(memory) or self._place is None:
            return self.tensor[begin:end]
        first, nbytes = self._pages(self._place, begin, end)
        width = self.tensor.element_size()
        skip = self._place.position + begin * width - first
        wanted = skip + (end - begin) * width
        with self._opened() as file:
            # a shorter file than its map is an error of the disk, which the map raises
            if file < 0 or read_fully(file, as_bytes(memory[:nbytes]), first) < wanted:
                return self.tensor[begin:end]
            if not self._is_direct:
                drop_pages(file, first, nbytes)
        return memory[skip:wanted].view(self.tensor.dtype)


_OPENED: OrderedDict[Column, None] = OrderedDict()  # the one that was read last at the end
_LOCK = threading.RLock()  # a collection of garbage while it is held may close others
if hasattr(os, "register_at_fork"):  # a child's lock must be free
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


def read_ranges(wanted: Iterable[tuple[Column, int, int]], memory: Tensor | None) -> tuple[list[Tensor], Tensor]:
    """Ranges of columns, read into `memory` where it suffices, else into new memory: (values of each, memory)."""
    wanted = list(wanted)
    rooms = [column.room(begin, end) for column, begin, end in wanted]
    if memory is None or len(memory) < sum(rooms):
        memory = page_aligned(sum(rooms))
    found, at = [], 0
    for (column, begin, end), room in zip(wanted, rooms, strict=True):
        found.append(column.read(begin, end, memory[at : at + room]))
        at += room
    return found, memory


def columns_of(tensors: Sequence[Tensor], places: Sequence[Place]) -> list[Column]:
    """The columns of tensors with their places in files, none for tensors in memory."""
    return [Column(tensor, places[number] if places else None) for number, tensor in enumerate(tensors)]
