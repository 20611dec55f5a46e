"""The arcs of the parts of a rank in a file of blocks, by local numbers."""

from __future__ import annotations

import errno
import os
import tempfile

import torch
from torch import Tensor

from tgraph.files.atomic_write import room_for
from tgraph.files.nameless import without_name
from tgraph.files.positioned import write_at
from tgraph.files.temporary import writable_folder
from tgraph.stream.file.block import Block
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.file.container import Extent, as_bytes, checksum, places
from tgraph.stream.file.weights import WeightStatistics
from tgraph.stream.file.writing import ArcRange, cut, local_offset
from tgraph.stream.memory import page_aligned
from tgraph.stream.partitioning.parts import round_to_rows

_ROW = 8  # bytes of the offset of a row in a block
_WRITTEN = 1 << 30  # bytes at a time, of which a system call takes fewer than 2 GiB
_HEADROOM = 128  # bytes of a block in which its parts are aligned


class PartBlocks(BlockFile):
    """Blocks of the sides of parts with the interface of a partitioned file. This process writes them to a file without
    a name, which vanishes with it.

    path : of the graph; the blocks are beside it, or in TMPDIR where its folder is read-only.
    neighbor_dtype, weight_dtype : of the graph.
    """

    def __init__(self, path: str, neighbor_dtype: torch.dtype, weight_dtype: torch.dtype | None):
        self._beside = writable_folder(path)
        self.path = f"{path} (the blocks of a rank)"
        self.neighbor_dtype, self.weight_dtype = neighbor_dtype, weight_dtype
        self.index: list[Extent] = []
        self._checked_blocks = set()
        self._sides: dict[str, tuple[range, Tensor]] = {}
        self._end = 0
        self._direct_file = without_name(self._beside)
        self.direct, self._file = self._direct_file >= 0, -1
        if not self.direct:
            with room_for(path, "some"), tempfile.TemporaryFile(dir=self._beside) as file:
                self._file = os.dup(file.fileno())

    @property
    def arc_bytes(self) -> int:
        """Bytes of an arc, with its weight."""
        return self.neighbor_dtype.itemsize + (0 if self.weight_dtype is None else self.weight_dtype.itemsize)

    def blocks(self, section: str = "rows") -> range:
        """The numbers of the blocks of a side, in the order of their arcs."""
        return self._sides[section][0]

    def offset(self, section: str = "rows") -> Tensor:
        """Offsets of the rows of a side, int64 [k + 1]."""
        return self._sides[section][1]

    def add(self, side: str, offset: Tensor, nbytes: int) -> Writer:
        """A further side, in blocks of at most `nbytes`, a page at least; the arcs are passed to the result. offset :
        int64 [k + 1]."""
        first = len(self.index)
        for block in cut(offset, bounds(offset, self.arc_bytes, nbytes)):
            rows, arcs = block.end_row - block.first_row, block.end_arc - block.first_arc
            size = places(rows, arcs, self.neighbor_dtype, self.weight_dtype).nbytes
            self.index.append(Extent(0, *block, self._end, size, 0))
            self._end += size
        self._sides[side] = range(first, len(self.index)), offset
        return Writer(self, side)

    def write(self, number: int, memory: Tensor) -> None:
        """Write a block from memory that begins at a page. Raises OSError, with the bytes needed, where the disk is
        full."""
        extent = self.index[number]
        data, done = as_bytes(memory[: extent.nbytes]), 0
        file = self._direct_file if self.direct else self._file
        with room_for(self._beside, self._end):
            while done < len(data):
                written = write_at(file, data[done : done + _WRITTEN], extent.position + done)
                if not written:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                done += written
        self.index[number] = extent._replace(checksum=checksum(data))

    def _check_entries(self, block: int, memory: Tensor) -> None:
        """No check: the process wrote the block itself."""


class Writer:
    """Takes the arcs of a side in their order and writes its blocks.

    statistics : of the weights so far.
    """

    def __init__(self, file: PartBlocks, side: str):
        self._file, self._offset = file, file.offset(side)
        self._coming = iter(file.blocks(side))
        size = max((file.index[number].nbytes for number in file.blocks(side)), default=0)
        self._memory = page_aligned(size)
        self._block: Block | None = None
        self._filled = 0
        self.statistics: WeightStatistics = WeightStatistics()

    def add(self, neighbors: Tensor, weights: Tensor | None) -> None:
        """The next arcs: local numbers [e], and weights [e] where there are any."""
        if weights is not None:
            self.statistics.add(weights)
        done = 0
        while done < len(neighbors):
            block = self._open() if self._block is None else self._block
            begin, count = self._filled, min(len(neighbors) - done, len(block.neighbors) - self._filled)
            block.neighbors[begin : begin + count] = neighbors[done : done + count]
            if block.weights is not None and weights is not None:
                block.weights[begin : begin + count] = weights[done : done + count]
            self._filled, done = begin + count, done + count
            if self._filled == len(block.neighbors):
                self._file.write(block.number, self._memory)
                self._block = None

    def _open(self) -> Block:
        """The next block, with its offsets."""
        number = next(self._coming)
        self._block, self._filled = self._file.views(number, self._memory), 0
        extent = self._file.index[number]
        self._block.offset.copy_(local_offset(self._offset, ArcRange(*extent[1:5])))
        return self._block


def bounds(offset: Tensor, arc_bytes: int, nbytes: int) -> Tensor:
    """Bounds of blocks of at most `nbytes`, offsets included: int64, the first arc of each and the number of arcs. Only
    long rows are split.

    offset : int64 [k + 1], of the rows. nbytes : a page at least.
    """
    arcs = int(offset[-1])
    size = offset * arc_bytes + _ROW * torch.arange(len(offset), device=offset.device)  # bytes before each row
    most = nbytes * 7 // 8 - _HEADROOM  # the rest is for bounds rounded to whole rows
    count = max(-(-int(size[-1]) // most), 1)
    at = torch.arange(1, count, device=offset.device) * int(size[-1]) // count
    row = torch.searchsorted(size, at, right=True) - 1
    begin = torch.minimum(offset[row] + (at - size[row]) // arc_bytes, offset[row + 1])
    begin = round_to_rows(offset, begin, most // (16 * arc_bytes))
    return torch.cat((begin.new_tensor([0]), begin, begin.new_tensor([arcs]))).unique()
