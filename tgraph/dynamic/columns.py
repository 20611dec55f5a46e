"""Columns of arcs and changes of which ranges are read: from memory, or past the page cache from the file that they are
on a map of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from torch import Tensor

from tgraph.files import PathLike
from tgraph.files.checksummed import as_bytes
from tgraph.files.positioned import open_to_read
from tgraph.stream.file.blocks import drop_pages, open_direct
from tgraph.stream.file.container import read_fully
from tgraph.stream.memory import PAGE, aligned, let_go, page_aligned


class Place(NamedTuple):
    """Where the data of a tensor begin in a file, in bytes."""

    path: PathLike
    position: int


class Column:
    """A tensor [k], in memory, or on a map of a file. place : in that file, None for one in memory.

    A file that was removed meanwhile is read from the map.
    """

    tensor: Tensor

    def __init__(self, tensor: Tensor, place: Place | None):
        self.tensor, self._file, self._is_direct = tensor, -1, False
        if place is not None:
            self._position = place.position
            with suppress(FileNotFoundError):
                self._file = open_direct(os.fspath(place.path))
                self._is_direct = self._file >= 0
                self._file = self._file if self._is_direct else open_to_read(place.path)

    def close(self) -> None:
        """Close the file; the tensor stays."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def let_go(self) -> None:
        """Have what was looked at on the map leave the memory."""
        if self._file >= 0:
            let_go([self.tensor])

    def _pages(self, begin: int, end: int) -> tuple[int, int]:
        """The pages of the file that hold a range of the numbers: (the first byte, how many bytes)."""
        width = self.tensor.element_size()
        first = (self._position + begin * width) // PAGE * PAGE
        return first, aligned(self._position + end * width - first)

    def room(self, begin: int, end: int) -> int:
        """Bytes that reading a range takes, whole pages."""
        return self._pages(begin, end)[1] if self._file >= 0 and begin < end else 0

    def read(self, begin: int, end: int, memory: Tensor) -> Tensor:
        """The numbers [begin, end): a view of the tensor, or of `memory`, uint8 [room], which begins at a page."""
        if not len(memory):
            return self.tensor[begin:end]
        first, nbytes = self._pages(begin, end)
        skip, width = self._position + begin * self.tensor.element_size() - first, self.tensor.element_size()
        wanted = skip + (end - begin) * width
        if read_fully(self._file, as_bytes(memory[:nbytes]), first) < wanted:
            return self.tensor[begin:end]  # it is shorter now than its map: an error of the disk, which the map raises
        if not self._is_direct:
            drop_pages(self._file, first, nbytes)
        return memory[skip:wanted].view(self.tensor.dtype)


def read_ranges(wanted: Iterable[tuple[Column, int, int]], memory: Tensor | None) -> tuple[list[Tensor], Tensor]:
    """Ranges of columns, in `memory` where it suffices, else in new: (the numbers of each, the memory)."""
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
