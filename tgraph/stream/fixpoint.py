"""Monotone relaxations on blocks, without rounds: the block with the most work ahead comes next, and is worked off
until nothing inside it improves any more (GraphChi and Maiter let values travel so; Subway, EuroSys 2020, iterates
within a loaded part).

A min or max over paths has one fixpoint, whatever the order in which arcs are relaxed, so the values are exactly those
of the rounds. Each block carries its own set of active rows: a block without any is neither loaded nor computed on.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from tgraph import devices, native
from tgraph.frontier import Frontier
from tgraph.graph import Graph
from tgraph.kernels.native.arcs import number_of
from tgraph.kernels.native.relaxation import DTYPES
from tgraph.kernels.reductions import EDGE_OPERATIONS, Reduction
from tgraph.rows import Scratch
from tgraph.stream.blocks import Block
from tgraph.stream.relaxing import block_pairs, push

if TYPE_CHECKING:
    from tgraph.stream.streamed import Streamed

# Seconds after which `advance` comes back to show how far it is.
SLICE = 1.0

# What a block did: (pulled, active vertices, active arcs, changed vertices, milliseconds).
Round = tuple[bool, int, int, int, float]


class Fixpoint:
    """A relaxation under way; `advance` goes on with it. An iteration is the visit to a block.

    values : [n, ...], contiguous, overwritten. active : the first frontier. weights : a number for every arc, or None
    for those of the blocks.
    """

    def __init__(
        self,
        layout: Streamed,
        graph: Graph,
        values: Tensor,
        active: Frontier,
        reduction: Reduction,
        edge: str,
        weights: Tensor | float | None,
    ):
        self._layout, self._graph, self._values = layout, graph, values
        self._reduction, self._edge, self._weights = reduction, edge, weights
        self._scratch = Scratch(graph.num_vertices)
        extents = [layout.index[block] for block in layout.blocks]
        self._place = {block: place for place, block in enumerate(layout.blocks)}
        rows = [0]
        for extent in extents:
            rows.append(rows[-1] + extent.end_row - extent.first_row)
        self._start = rows  # where the rows of each block stand among those of all, a split one once for each block
        first = [start - extent.first_row for start, extent in zip(rows, extents, strict=False)]
        self._shift = torch.tensor(first, dtype=torch.int64, device=values.device)
        self._active = torch.zeros(rows[-1], dtype=torch.bool, device=values.device)
        self._work = torch.zeros(len(extents), dtype=torch.int64, device=values.device)
        self._local = _Compiled(self, layout) if _is_compiled(values) else None
        self._done: list[Round] = []
        self._deadline = 0.0
        self._mark(active.ids)

    def advance(self, limit: int, seconds: float) -> tuple[bool, int]:
        """Go on for about a second, and one block at least: whether no vertex is active any more, and how many blocks
        were visited. The time and `limit` of an engine's rounds do not apply."""
        self._done = []
        self._deadline = time.perf_counter() + max(seconds, SLICE)
        self._layout.pipeline.visit(self._choose, self._relax, self._value)
        return not bool(self._work.any()), len(self._done)

    def rounds(self) -> list[Round]:
        """What the visits of the last `advance` did."""
        return self._done

    @property
    def active(self) -> int:
        """How many vertices are active; that of a split row counts for each of its blocks."""
        return int(self._active.sum())

    @property
    def frontier(self) -> Tensor:
        """Which vertices are active, bool [n]: those whose row is, in any of its blocks."""
        active = torch.zeros(len(self._values), dtype=torch.bool, device=self._values.device)
        for block, start in zip(self._layout.blocks, self._start, strict=False):
            first, end = self._layout.index[block][1:3]
            active[first:end] |= self._active[start : start + end - first]
        return active

    def _choose(self, queued: Collection[int], cached: Collection[int]) -> int | None:
        """The block with the most work that is not queued: the arcs of its active rows, twice as much if it is here."""
        if self._done and time.perf_counter() > self._deadline:
            return None
        work = self._work.clone()
        for block in cached:
            if block in self._place:
                work[self._place[block]] *= 2
        for block in queued:
            work[self._place[block]] = 0
        place = int(work.argmax()) if len(work) else 0
        return self._layout.blocks[place] if len(work) and int(work[place]) else None

    def _value(self, block: int) -> float:
        return float(self._work[self._place[block]]) if block in self._place else 0.0

    def _relax(self, block: Block) -> None:
        """Relax inside a block until nothing in it is active."""
        begun, place = time.perf_counter(), self._place[block.number]
        stretch = self._active[self._start[place] : self._start[place + 1]]
        local = stretch.nonzero().flatten()
        size, arcs, changed = len(local), int(self._work[place]), 0  # changes, counted as often as a vertex does
        self._work[place] = 0
        if self._local is not None:
            improved, changed = self._local.run(block, stretch)
            self._mark(improved)
        while self._local is None and len(local):
            stretch[local] = False
            values, weights = self._values, self._weights
            improved = push(
                self._graph, block, local, values, values, self._reduction, self._edge, weights, self._scratch
            )
            changed += len(improved)
            local = self._mark(improved, place)
        self._done.append((False, size, arcs, changed, (time.perf_counter() - begun) * 1e3))

    @property
    def problem(self) -> tuple[Tensor, Reduction, str, Tensor | float | None]:
        """(values, reduction, edge, weights), as they were given."""
        return self._values, self._reduction, self._edge, self._weights

    def _mark(self, vertices: Tensor, here: int = -1) -> Tensor:
        """Make the rows of vertices active in the blocks that hold them; those in the block `here`, from its first row
        on."""
        row, place = block_pairs(self._layout, vertices)
        position = row + self._shift.index_select(0, place)
        fresh = ~self._active.index_select(0, position)
        row, place, position = row[fresh], place[fresh], position[fresh]
        self._active[position] = True
        offset = self._layout.row_offset()
        degree = offset.index_select(0, row + 1) - offset.index_select(0, row)
        inside = place == here
        self._work.index_add_(0, place, degree * ~inside)
        return position[inside] - (self._start[here] if here >= 0 else 0)


def _is_compiled(values: Tensor) -> bool:
    compiled = devices.kind(values) == "cpu" and native.load() is not None and values.dtype in DTYPES
    return compiled and values.is_contiguous()


class _Compiled:
    """The compiled loop inside a block, with its working memory."""

    def __init__(self, fixpoint: Fixpoint, layout: Streamed):
        self._values, self._reduction, self._edge, self._weights = fixpoint.problem
        weights = 0 if self._weights is None else self._weights
        self._weight = weights.item() if isinstance(weights, Tensor) else weights
        self._splits = layout.splits
        n = len(self._values)
        self._marked = torch.zeros(n, dtype=torch.bool, device="cpu")
        longest = max(
            (layout.index[block].end_arc - layout.index[block].first_arc for block in layout.blocks), default=0
        )
        self._reached = torch.empty(min(n, longest), dtype=torch.int64, device="cpu")

    def run(self, block: Block, active: Tensor) -> tuple[Tensor, int]:
        """Relax until none of the rows is active, bool [rows]: the vertices improved that have arcs in other blocks,
        and how often values improved."""
        per_arc = self._edge != "copy" and self._weights is None and block.weights is not None
        count, improved = cast(Any, native.load()).relax_block(
            block.offset,
            block.neighbors,
            block.weights.to(self._values.dtype) if per_arc else None,  # type: ignore[union-attr]
            number_of(self._weight, self._values.dtype),
            block.first_row,
            self._splits[block.number],
            self._reduction.name == "min",
            list(EDGE_OPERATIONS).index(self._edge),
            self._values.view(-1),
            self._values[:1].numel(),
            active,
            self._marked,
            self._reached,
        )
        return self._reached[:count], improved
