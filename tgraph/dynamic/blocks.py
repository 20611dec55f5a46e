"""Streamed blocks of the arcs of a version, each read from the CSR and merged with the runs of changes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import torch
import xxhash
from torch import Tensor

from tgraph.core.rows import offset_of
from tgraph.dynamic.cached_blocks import CachedBlocks
from tgraph.dynamic.parts import Part, Read, VersionParts
from tgraph.dynamic.runs import WEIGHTS
from tgraph.dynamic.version import Version
from tgraph.stream.file.container import Extent, as_bytes
from tgraph.stream.file.writing import GraphInfo, block_size, cut
from tgraph.stream.run.budget import BLOCKS_IN_MEMORY, block_count, budget_for, vertex_bytes
from tgraph.stream.run.out_arcs import OutArcs
from tgraph.stream.run.scheduler import AHEAD

_HELD = 4  # runs are merged in memory if they take up to this fraction of the memory for blocks


class VersionBlocks(OutArcs):
    """The arcs of a version of a graph with the interface of a `BlockFile`.

    version, directed, ids : of the snapshot. memory : the budget in bytes, which determines the size of blocks.
    folder : of the store, None for one in memory. beside : whether vertex data comes beside the budget.

    A block ends between two pairs of vertices, so that a row may lie in several blocks. Runs take one pass over all
    arcs, which counts the arcs of each row, and blocks that are merged repeatedly are cached in a file in the folder.
    Raises MemoryBudgetError where the vertex data exceeds the budget.
    """

    memory: int

    pushes = True

    def __init__(
        self,
        version: Version,
        directed: bool,
        ids: Any,
        memory: int,
        folder: Path | None = None,
        beside: bool = False,
    ):
        self.path, self.direct = str((folder or Path(tempfile.gettempdir())) / "snapshot"), False
        self.directed, self._ids, self._checked_blocks = directed, ids, set()
        self.num_vertices, self.neighbor_dtype = version.num_vertices, torch.int32
        self.weight_dtype = version.schema.columns.get(WEIGHTS)
        self._working = 0
        taken = vertex_bytes(self)
        self.memory = self._memory = budget_for(memory + taken) if beside else memory
        self._arcs = VersionParts(version, (self.memory - taken) // _HELD)
        self._parts = self._planned()
        self._read: dict[int, Read] = {}  # blocks that are not merged yet
        self._free: list[Tensor] = []
        self._offset, firsts = self._counted()
        self.num_arcs = int(firsts[-1])
        info = GraphInfo(self.num_vertices, self.num_arcs, self.directed, self.neighbor_dtype, self.weight_dtype)
        blocks = cut(self._offset, firsts)
        self.index: list[Extent] = [Extent(0, *block, 0, block_size(block, info), 0) for block in blocks]
        self._own = len(self.index)
        self._cached = CachedBlocks(folder if self._arcs.runs else None, [extent.nbytes for extent in self.index])

    def close(self) -> None:
        """Close the files; blocks that were read stay valid."""
        self._arcs.close()
        self._cached.close()
        if self._reverse is not None:
            self._reverse.close()

    # ---- resident tensors ------------------------------------------------------------------------------------------

    @property
    def working_bytes(self) -> int:
        """Bytes beside the blocks: runs merged at once, and parts being read and merged."""
        return self._working

    def offset(self, section: str = "rows") -> Tensor:
        return self._offset if self._section(section) == 0 else self._transpose().offset()

    @property
    def weight_statistics(self) -> None:
        """None: unknown without a pass over the arcs."""
        return None

    @property
    def order(self) -> None:
        """None: vertices are numbered in their order of arrival."""
        return None

    @property
    def vertices(self) -> Any:
        """The ids of the snapshot."""
        return self._ids

    def identity(self) -> list[Tensor]:
        """The offsets, and a checksum of the arcs that is independent of runs and blocks."""
        sums, memory = [xxhash.xxh3_64(), xxhash.xxh3_64()], None
        for part in self._parts:
            tensors, memory = self._arcs.read(part, memory)
            arcs = self._arcs.merge(part, tensors)
            for total, tensor in zip(sums, (arcs.neighbors, *arcs.data), strict=False):
                total.update(as_bytes(tensor))
        return [self._offset, torch.tensor(list(b"".join(total.digest() for total in sums)), dtype=torch.uint8)]

    # ---- planning --------------------------------------------------------------------------------------------------

    def _planned(self) -> list[Part]:
        """The parts, of a size that lets several fit the budget while they are read and merged."""
        arcs = self._arcs
        width = self.neighbor_dtype.itemsize + (0 if self.weight_dtype is None else self.weight_dtype.itemsize)
        most, in_memory = len(arcs.base.neighbors) + 2 * arcs.pending, BLOCKS_IN_MEMORY + AHEAD + 1
        self._working = arcs.nbytes
        size = max(most // block_count(self, width * most * in_memory // BLOCKS_IN_MEMORY, self._memory), 1)
        self._working += (AHEAD + 1) * width * size
        return arcs.cut(size, self.num_vertices)

    def _counted(self) -> tuple[Tensor, Tensor]:
        """(the offsets of all rows, the first arc of each block and the number of arcs)"""
        base, memory = self._arcs.base, None
        if not self._arcs.runs:
            offset = torch.full((self.num_vertices + 1,), len(base.neighbors))
            offset[: len(base.offset)] = base.offset
            return offset, torch.tensor([*(part.begin for part in self._parts), len(base.neighbors)])
        degree, firsts = torch.zeros(self.num_vertices, dtype=torch.int64), [0]
        for part in self._parts:
            tensors, memory = self._arcs.read(part, memory, data=False)
            offset = self._arcs.merge(part, tensors, data=False).offset
            degree[part.first_row : part.end_row] += offset.diff()
            firsts.append(firsts[-1] + int(offset[-1]))
        return offset_of(degree), torch.tensor(firsts)

    # ---- blocks ----------------------------------------------------------------------------------------------------

    def _fetch(self, block: int, memory: Tensor) -> None:
        """Read the parts of a block; `_verify` merges them into `memory`, while the next block is read."""
        if self._cached.has(block):
            self._cached.read(block, memory)
        else:
            self._read[block] = self._arcs.read(self._parts[block], self._free.pop() if self._free else None)

    def _verify(self, block: int, memory: Tensor) -> None:
        if block not in self._read and self._cached.has(block):
            if not self._cached.is_whole(block, memory):
                raise self._damaged(block, "is not as it was written to a temporary file: its checksum differs")
            return
        part, views = self._parts[block], self.views(block, memory)
        tensors, room = self._read.pop(block) if block in self._read else self._arcs.read(part)
        out = [views.neighbors] if views.weights is None else [views.neighbors, views.weights]
        skipped = views.first_row - part.first_row
        views.offset.copy_(self._arcs.merge(part, tensors, out).offset[skipped : skipped + len(views.offset)])
        if len(self._free) <= AHEAD:
            self._free.append(room)
        self._check_entries(block, memory)
        self._cached.see(block, memory)
