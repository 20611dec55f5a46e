"""Asynchronous monotone relaxations over blocks: the block with the best pending value is visited next, and iterated
until no row inside it is active (as GraphChi and Maiter propagate values; Subway, EuroSys 2020, iterates within a
loaded partition).

A min or max over paths has a unique fixpoint, independent of the order in which arcs are relaxed, so the values are
exactly those of synchronous rounds; the number of visits may depend on which blocks are cached. Each block has its own
set of active rows: a block without any is neither loaded nor computed on.

Best value first is Dijkstra's order, applied to blocks: a value propagated early is seldom propagated again. The
alternative, most work first, takes 1.2 to 2.3 times the loads on road networks and web graphs where one block fits in
memory, and up to six times where a quarter of the blocks do. A block whose remaining active rows are worse than the
rows of other blocks is left early, as near-far search postpones the far pile (Davidson et al., IPDPS 2014).
"""

from __future__ import annotations

import time
from collections.abc import Collection
from itertools import accumulate

import torch
from torch import Tensor

from tgraph.core.system import devices
from tgraph.kernels.loops import LoopCall, Round
from tgraph.kernels.operators.relaxation.blocks import relax_block
from tgraph.stream.file.block import Block
from tgraph.stream.run.relax import Workspace
from tgraph.stream.run.section import Section
from tgraph.stream.run.sharing import Search

ENDLESS = 2**62

# Seconds after which `advance` returns to report progress.
SLICE = 1.0

# A visit continues past the best value of the other blocks until it has relaxed this share of the arcs of its block,
# and LEAST arcs, whose time equals the fixed cost of a visit. (At least one: otherwise a visit that does nothing could
# be chosen forever.)
SHARE = 1 / 4
LEAST = 2**15


class Fixpoint:
    """A `Loop` whose iteration is the visit to a block, in any order.

    The weights of the call are a number for every arc, or None for the weights of the blocks. The rows of each block
    have positions of their own in `_active`, one for a split row in each of its blocks.
    """

    def __init__(self, section: Section, call: LoopCall):
        graph, values, active = call.graph, call.values, call.active
        self._section, self._graph, self._values = section, graph, values
        self._reduction, self._edge, self._weights = call.reduction, call.edge, call.weights
        self._workspace = Workspace(section, graph.num_vertices)
        extents = [section.index[block] for block in section.blocks]
        self._place = {block: place for place, block in enumerate(section.blocks)}
        rows = [*accumulate((extent.end_row - extent.first_row for extent in extents), initial=0)]
        self._start = rows  # the position of the first row of each block in _active
        first = [start - extent.first_row for start, extent in zip(rows, extents, strict=False)]
        self._shift = torch.tensor(first, dtype=torch.int64, device=values.device)
        blocks, device = len(extents), values.device
        self._active = torch.zeros(rows[-1], dtype=torch.bool, device=device)
        self._work = torch.zeros(blocks, dtype=torch.int64, device=device)  # arcs of the active rows
        self._best = torch.full((blocks,), torch.inf, dtype=devices.widest_float(values), device=device)
        self._front = torch.zeros(blocks, dtype=torch.int64, device=device)  # arcs of the rows with the best value
        self._done: list[Round] = []
        self._deadline = 0.0
        self._mark(active.ids)

    def advance(self, limit: int, seconds: float) -> tuple[bool, int]:
        """Continue for `seconds`, or SLICE if that is longer, and for one block at least: (whether no vertex is active
        any more, how many blocks were visited). `limit`, a number of synchronous rounds, does not apply."""
        self._done = []
        self._deadline = time.perf_counter() + max(seconds, SLICE)
        section = self._section
        Search(section.name, self._choose, self._relax, self._value, self._needs).make(section.pipeline)
        return not bool(self._work.any()), len(self._done)

    def rounds(self) -> list[Round]:
        """The visits of the last `advance`."""
        return self._done

    @property
    def active(self) -> int:
        """Number of active vertices; one with a split row counts once for each of its blocks."""
        return int(self._active.sum())

    @property
    def frontier(self) -> Tensor:
        """The mask of the active vertices, bool [n], whose row is active in any of its blocks."""
        active = torch.zeros(len(self._values), dtype=torch.bool, device=self._values.device)
        for block, start in zip(self._section.blocks, self._start, strict=False):
            first, end = self._section.index[block][1:3]
            active[first:end] |= self._active[start : start + end - first]
        return active

    def _choose(self, queued: Collection[int], cached: Collection[int]) -> int | None:
        """The active block to request next, among as many with the best values as there are buffers: cached ones first,
        then the best value, then the most arcs of rows that have it."""
        if self._done and time.perf_counter() > self._deadline:
            return None
        pending = self._work > 0
        pending[self._places(queued)] = False
        count = int(pending.sum())
        if not count:
            return None
        best = self._best.masked_fill(~pending, torch.inf)
        near = pending & (best <= best.kthvalue(min(count, self._section.pipeline.capacity)).values)
        in_memory = torch.zeros_like(near)
        in_memory[self._places(cached)] = True
        in_memory &= near
        if bool(in_memory.any()):
            near = in_memory
        near &= best == best[near].min()
        return self._section.blocks[int(self._front.masked_fill(~near, -1).argmax())]

    def _places(self, blocks: Collection[int]) -> list[int]:
        return [self._place[block] for block in blocks if block in self._place]

    def _needs(self, block: int) -> bool:
        return block in self._place and bool(self._work[self._place[block]])

    def _value(self, block: int) -> float:
        """The cache priority of a block: the sooner it will be visited again, the higher."""
        place = self._place.get(block)
        return -torch.inf if place is None or not int(self._work[place]) else -float(self._best[place])

    def _relax(self, block: Block) -> None:
        """Relax inside a block until its active rows are none, or can be postponed."""
        begun, place = time.perf_counter(), self._place[block.number]
        active = self._active[self._start[place] : self._start[place + 1]]
        size, arcs = int(active.sum()), int(self._work[place])
        self._work[place] = self._front[place] = 0
        self._best[place] = torch.inf
        improved, changed, left, best = relax_block(
            self._graph,
            block,
            self._values,
            active,
            self._reduction,
            self._edge,
            self._weights,
            self._limit(block),
            self._section.splits[block.number],
            self._workspace,
        )
        active[self._mark(improved, place)] = False
        if left:
            self._work[place] = self._front[place] = left
            self._best[place] = best * self._sign
        self._done.append(Round(False, size, arcs, changed, (time.perf_counter() - begun) * 1e3))

    def _limit(self, block: Block) -> tuple[float, int]:
        """When to leave a block: (the best value of the other blocks, how many arcs it may relax in any case)."""
        best = float(self._best.min())
        if best == torch.inf:
            return 0, ENDLESS
        if not self._values.dtype.is_floating_point:  # the float may have been rounded up beyond the largest integer
            limits = torch.iinfo(self._values.dtype)
            best = min(max(int(best), -limits.max), limits.max)
        return best * self._sign, max(int(SHARE * len(block.neighbors)), LEAST)

    @property
    def _sign(self) -> int:
        """The factor that makes the best value the smallest one."""
        return 1 if self._reduction.name == "min" else -1

    def _mark(self, vertices: Tensor, here: int = -1) -> Tensor:
        """Activate the rows of vertices in all blocks that hold them. Returns the newly active rows of the block at
        place `here`, numbered from its first row."""
        row, place = self._section.locate(vertices)
        position, inside = row + self._shift.index_select(0, place), place == here
        self._update_best(row, place, ~inside)
        fresh = ~self._active.index_select(0, position)
        row, place, position, inside = (part[fresh] for part in (row, place, position, inside))
        self._active[position] = True
        self._work.index_add_(0, place, self._section.degree(row) * ~inside)
        return position[inside] - (self._start[here] if here >= 0 else 0)

    def _update_best(self, row: Tensor, place: Tensor, counts: Tensor) -> None:
        """Update the best pending value of each block from rows [k] and their blocks, where `counts` [k] is True."""
        value = self._values.index_select(0, row).to(self._best.dtype) * self._sign
        if value.dim() > 1:
            value = value.flatten(1).amin(1)
        value = value.masked_fill(~counts, torch.inf)
        before = self._best.clone()
        self._best.scatter_reduce_(0, place, value, "amin")
        self._front.masked_fill_(self._best < before, 0)
        counts = counts & (value == self._best.index_select(0, place))
        self._front.index_add_(0, place, self._section.degree(row) * counts)
