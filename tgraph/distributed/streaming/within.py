"""The parts of all ranks within their memory budgets.

Parts are in memory where the budgets of all ranks hold them, with the data of their vertices; otherwise the arcs of all
parts are in blocks. Each rank knows the needs of all, so that all decide the same, or raise the same error.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.distributed.ranks.ownership import Ownership
from tgraph.distributed.streaming.blocks import PartBlocks, Writer
from tgraph.distributed.streaming.side import Side
from tgraph.errors import MemoryBudgetError
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.memory import PAGE, trim_heap
from tgraph.stream.run.budget import (
    BLOCKS_IN_MEMORY,
    COPIES,
    COPIES_IN_PLACE,
    VERTEX_BYTES,
    budget_for,
    nbytes,
    runtime_bytes,
)
from tgraph.stream.run.scheduler import Pipeline


class Counted(NamedTuple):
    """A part whose arcs are counted: offsets of own vertices, int64 [k + 1], inside and outside; and the mirrors, int64
    [h] ascending."""

    inside: Tensor
    outside: Tensor
    mirrors: Tensor


class Needs(NamedTuple):
    """Bytes that a rank needs for its parts, with those not read yet: `resident` in any case, the `whole` parts, and
    the workspace of `reading` one."""

    resident: int
    whole: int
    reading: int

    @property
    def least(self) -> int:
        """The least budget for parts in blocks: each side is written by one at a time."""
        return self.resident + self.reading + 2 * PAGE

    def block_size(self, memory: int) -> int:
        """Bytes of a block within a budget."""
        left = memory - runtime_bytes(memory) - self.resident
        size = min(left // BLOCKS_IN_MEMORY, (left - self.reading) // 2)
        return max(size // PAGE * PAGE, PAGE)


@dataclass
class _Rank:
    """The needs of a rank, known to all.

    memory : its budget. own : k. block : bytes of the largest block of the file with rows of its own. unread : for each
    section not read yet, about the number of its arcs here. taken : bytes of the parts so far, beside the blocks of
    arcs. local : the most own vertices and mirrors of a part. buffer : bytes of the largest block that parts may have.
    """

    memory: int
    own: int
    block: int
    unread: dict[str, int]
    taken: int = 0
    local: int = 0
    buffer: int = 0

    @classmethod
    def of(cls, file: BlockFile, memory: int, first: int, end: int) -> _Rank:
        found = cls(memory, end - first, 0, dict.fromkeys(file.sections, 0))
        for section in file.sections:
            for extent in (file.index[number] for number in file.blocks(section)):
                if extent.first_row < end and extent.end_row > first:
                    found.block = max(found.block, extent.nbytes)
                    found.unread[section] += extent.end_arc - extent.first_arc
        return found

    def resident(self, mirrors: int, copied: int) -> int:
        """Bytes of a part beside its arcs: offsets of both sides, degrees and derived tensors; numbers of mirrors here
        and at other ranks."""
        return 8 * (5 * (self.own + 1) + mirrors + 2 * copied)


class Within:
    """The parts of a rank within a budget.

    file : the graph. memory : the budget of this rank, in bytes. device : where blocks are computed on.
    pipeline : loads the blocks; None where all is in memory.

    Made and called by all ranks together. Raises MemoryBudgetError, on all ranks alike, where that of any is too small
    to read the file.
    """

    def __init__(self, file: BlockFile, memory: int, ownership: Ownership, device: torch.device):
        self._device, self._ownership, self._path, self._n = device, ownership, file.path, file.num_vertices
        self._dtypes = file.neighbor_dtype, file.weight_dtype
        self._arc_bytes = sum(dtype.itemsize for dtype in self._dtypes if dtype is not None)
        self._working = file.working_bytes
        self._per_vertex = VERTEX_BYTES
        self._too_large = 0, 0  # a rank, and the bytes of its parts in memory
        self._source: PartBlocks | None = None
        self.pipeline: Pipeline | None = None
        memories, starts = ownership.gather(torch.tensor(memory, device="cpu")).tolist(), ownership.starts
        self._ranks = [_Rank.of(file, *each) for each in zip(memories, starts[:-1], starts[1:], strict=True)]
        counting = [self._reading(rank) + 16 * (rank.own + 1) for rank in self._ranks]
        self._check(counting, "a block of the file beside what counts the arcs")

    def _reading(self, rank: _Rank) -> int:
        """Workspace of reading a part: a byte for each vertex, the tables of `splitting.Numbers`, and a block."""
        return self._n + self._n // 32 + PAGE + rank.block + self._working

    def _check(self, needed: list[int], what: str) -> None:
        """Raise MemoryBudgetError for the rank that lacks most of the bytes that each needs."""
        short, rank = max(
            (need + runtime_bytes(each.memory) - each.memory, number)
            for number, (need, each) in enumerate(zip(needed, self._ranks, strict=True))
        )
        if short > 0:
            raise MemoryBudgetError(
                f"{what} of rank {rank}",
                budget_for(needed[rank]),
                self._ranks[rank].memory,
                "give more, start more ranks, or write the file in more blocks",
            )

    def take(self, section: str, counted: Counted) -> tuple[Written, Written] | None:
        """The storages of the arcs inside and outside, or None where all parts are to be in memory.

        Raises MemoryBudgetError, on all ranks alike, where the budget of one does not hold the resident data.
        """
        counts = self._ownership.counts(counted.mirrors)
        arcs = counts.new_tensor([int(counted.inside[-1] + counted.outside[-1])])
        gathered = self._ownership.gather(torch.cat((counts, arcs)))
        columns = gathered[:, :-1].sum(1).tolist(), gathered[:, :-1].sum(0).tolist(), gathered[:, -1].tolist()
        shares = list(zip(self._ranks, *columns, strict=True))
        needs = [self._needs(section, *share) for share in shares]
        streams = self._source is not None or not self._all_fit(needs)
        if streams:
            self._check([need.least for need in needs], "a block beside the data of the vertices and mirrors")
        for (rank, mirrors, copied, arcs_here), need in zip(shares, needs, strict=True):
            rank.taken += rank.resident(mirrors, copied)
            rank.taken += 0 if streams else 8 * mirrors + self._arc_bytes * arcs_here
            rank.buffer = max(rank.buffer, need.block_size(rank.memory))
            rank.local = max(rank.local, rank.own + mirrors)
            rank.unread.pop(section, None)
        return self._written(section, counted, needs[self._ownership.rank]) if streams else None

    def _needs(self, section: str, rank: _Rank, mirrors: int, copied: int, arcs: int) -> Needs:
        """The needs of a rank. A section not read yet is assumed to have an eighth more mirrors."""
        held, whole, most = rank.taken + rank.resident(mirrors, copied), 8 * mirrors + self._arc_bytes * arcs, mirrors
        for other in (count for name, count in rank.unread.items() if name != section):
            most = mirrors + mirrors // 8
            held += rank.resident(most, copied + copied // 8)
            whole += 8 * most + self._arc_bytes * other
        held += self._per_vertex * max(rank.local, rank.own + most)
        return Needs(held, held + whole, self._reading(rank))

    def _all_fit(self, needs: list[Needs]) -> bool:
        """Whether parts fit the memory of all ranks; notes the rank that lacks most for that."""
        short = [
            (need.whole + runtime_bytes(rank.memory) - rank.memory, number, need.whole)
            for number, (rank, need) in enumerate(zip(self._ranks, needs, strict=True))
        ]
        excess, rank, needed = max(short)
        self._too_large = rank, needed
        return excess <= 0

    # ---- blocks ------------------------------------------------------------------------------------------------------

    def _written(self, section: str, counted: Counted, needs: Needs) -> tuple[Written, Written]:
        if self._source is None or self.pipeline is None:
            self._source = PartBlocks(self._path, *self._dtypes)
            self.pipeline = Pipeline(self._source, self._mine.memory, self._device)
            weakref.finalize(self.pipeline, self._source.close)
        self.release()
        size = needs.block_size(self._mine.memory)
        own, mirrors = self._ownership.num_own, len(counted.mirrors)
        inside = self._source.add(f"{section}, inside", counted.inside, size)
        outside = self._source.add(f"{section}, outside", counted.outside, size)
        return (
            Written(self, f"{section}, inside", inside, own),
            Written(self, f"{section}, outside", outside, own + mirrors),
        )

    def side(self, name: str, writer: Writer, num_vertices: int, directed: bool) -> Graph:
        """The graph of a side that was written."""
        assert self._source is not None and self.pipeline is not None
        self.pipeline.measure()
        self._reserve()
        side = Side(self, self._source, self.pipeline, name, num_vertices, writer.statistics)
        return Graph.of_storage(side, directed=directed)

    @property
    def _mine(self) -> _Rank:
        return self._ranks[self._ownership.rank]

    def reserve(self, values: Any, in_place: bool) -> None:
        """See `Layout.reserve`, for data of all vertices: blocks get the rest beside own vertices and mirrors. Raises
        MemoryBudgetError, on all ranks alike, where the rest of any holds no block."""
        copies = COPIES_IN_PLACE if in_place else COPIES
        trim_heap()
        self._per_vertex = max(VERTEX_BYTES, copies * nbytes(values) // max(self._n, 1))
        self._check([self._taken(rank) + rank.buffer for rank in self._ranks], "a block beside the data of the program")
        self._reserve()

    def _taken(self, rank: _Rank) -> int:
        return rank.taken + self._per_vertex * rank.local

    def _reserve(self) -> None:
        if self.pipeline is not None:
            self.pipeline.reserve(self._taken(self._mine), runtime_bytes(self._mine.memory))

    def release(self) -> None:
        """Free the buffers until blocks are read next, for an operation that needs the memory."""
        if self.pipeline is not None:
            self.pipeline.release()

    def raise_in_blocks(self, what: str) -> NoReturn:
        """Raise MemoryBudgetError for an operation that needs the arcs of a rank in memory; the same on all ranks."""
        rank, needed = self._too_large
        raise MemoryBudgetError(
            f"{what}, which takes the arcs of rank {rank} at once,",
            budget_for(needed),
            self._ranks[rank].memory,
            "give more, or start more ranks",
        )


class Written:
    """Takes the arcs of a side in their order, which become blocks."""

    def __init__(self, within: Within, name: str, writer: Writer, num_vertices: int):
        self._within, self._name, self._writer, self._num_vertices = within, name, writer, num_vertices
        self.add = writer.add

    def graph(self, directed: bool) -> Graph:
        """The graph of all arcs added."""
        return self._within.side(self._name, self._writer, self._num_vertices, directed)
