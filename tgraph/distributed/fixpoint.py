"""Monotone relaxations over the parts of all ranks, in rounds.

A push relaxes along the rows of the active vertices; what mirrors have received goes to their owners, the best message
for each vertex. A pull, of graphs whose rows lead both ways, first has the values of active vertices sent to where they
are mirrors. The arcs inside a part are relaxed while messages travel. Whether to push or to pull, and which bucket is
open, is decided by numbers that all ranks have.
"""

from __future__ import annotations

import time
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.direction import DirectionPolicy, settles
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import Scratch
from tgraph.core.subgraph import Subgraph, rows_of
from tgraph.distributed.part import Part
from tgraph.distributed.sharded import Sharded
from tgraph.engine.delta_stepping import NearFar
from tgraph.kernels.messages import column
from tgraph.kernels.reductions import Reduction
from tgraph.model.program import Relaxation

# One round: (pulled, active vertices, active arcs, changed vertices, milliseconds), of all ranks.
Round = tuple[bool, int, int, int, float]


class Fixpoint:
    """The state of a relaxation; `advance` continues it.

    part : of this rank. graph : the whole, distributed. values : [n, ...], overwritten. active : the first frontier.
    weights : a number for every arc, or None for those of the arcs. ordered : whether to relax in the order of buckets.
    """

    def __init__(
        self,
        part: Part,
        directed: bool,
        graph: Graph,
        values: Sharded,
        active: Frontier,
        reduction: Reduction,
        edge: str,
        weights: Tensor | float | None,
        ordered: bool = True,
    ):
        self._part, self._reduction = part, reduction
        self._program = _relaxation(reduction, edge, weights)
        self._policy = DirectionPolicy(graph, "push" if directed else "auto")
        self._policy.settles = settles(values, active, edge != "copy" and weights is None)
        identity = reduction.identity(values.dtype)
        self._values = torch.full(
            (part.num_local, *values.shape[1:]), identity, dtype=values.dtype, device=values.device
        )
        self._own = self._values[: part.num_own]
        self._own.copy_(values.local)
        values.local = self._own
        self._scratch, self._scratch_outside = Scratch(part.num_own), Scratch(part.num_local)
        self._order: NearFar | None = None
        self._everything = active.is_everything
        frontier = self._first(active)
        width = self._program.bucket_width(graph, values) if ordered and not self._everything else None
        if width is not None:
            self._order = NearFar(width, values.dtype, self._scratch)
            frontier = self._order.near(self._own, frontier)
        self._frontier = frontier
        self._total = 0
        self._done: list[Round] = []

    def _first(self, active: Frontier) -> Frontier:
        """The active ones of the own vertices."""
        held, inside = self._part.ownership, self._part.inside
        if active.is_everything:
            return inside.everything()
        ids = active.ids
        return inside.select(ids[(ids >= held.first) & (ids < held.end)] - held.first)

    # ---- the interface of a loop -------------------------------------------------------------------------------------

    def advance(self, limit: int, seconds: float) -> tuple[bool, int]:
        """Continue for about so many seconds, and at most `limit` rounds: (whether no vertex is active on any rank, how
        many rounds were run)."""
        self._done, start = [], time.perf_counter()
        while len(self._done) < limit:
            size, arcs = self._measure()
            if not size:
                self._total = 0
                return True, len(self._done)
            began = time.perf_counter()
            pull = self._policy.pick(size, arcs, self._everything) == "pull"
            self._policy.passed(size, arcs)
            changed = self._pull() if pull else self._push()
            self._everything = False
            self._frontier = changed if self._order is None else self._order.near(self._own, changed)
            self._done.append((pull, size, arcs, size, (time.perf_counter() - began) * 1e3))
            self._total = size
            if time.perf_counter() - start > seconds:
                break
        return False, len(self._done)

    def rounds(self) -> list[Round]:
        """The rounds of the last `advance`."""
        return self._done

    @property
    def active(self) -> int:
        """How many vertices were active in the last round; 0 at the end."""
        return self._total

    @property
    def frontier(self) -> Tensor:
        """The mask of the active vertices, bool [n]."""
        near = self._frontier if self._order is None else self._order.with_far(self._frontier)
        return Sharded(near.mask, self._part.ownership)

    def _measure(self) -> tuple[int, int]:
        """(active vertices, their arcs) on all ranks. Opens the next bucket where there are none."""
        size, arcs = self._sizes()
        if size or self._order is None:
            return size, arcs
        lowest = self._order.lowest(self._own)
        nothing = self._reduction.identity(self._values.dtype)
        held = torch.tensor(nothing, dtype=self._values.dtype) if lowest is None else lowest
        least = self._part.ownership.gather(held).min()
        if least == nothing:
            return 0, 0
        self._frontier = self._order.open(self._own, self._part.inside, least)
        return self._sizes()

    def _sizes(self) -> tuple[int, int]:
        size = len(self._frontier)
        arcs = 0
        if self._everything:
            arcs = self._part.num_arcs
        elif size:
            arcs = int(self._part.degree.index_select(0, self._frontier.ids).sum())
        total = self._part.ownership.gather(torch.tensor([size, arcs])).sum(0)
        return cast("tuple[int, int]", tuple(total.tolist()))

    # ---- a round -----------------------------------------------------------------------------------------------------

    def _push(self) -> Frontier:
        part, frontier = self._part, self._frontier
        mirrors = self._relaxed(part.outside, frontier, self._values, self._scratch_outside).ids - part.num_own
        mirrors = mirrors.sort().values
        sending = part.requests.send_changed(mirrors, self._values.index_select(0, mirrors + part.num_own))
        changed = self._relaxed(part.inside, frontier, self._own, self._scratch)
        slots, messages = sending.wait()
        return self._union(changed, self._receive(part.copied.index_select(0, slots), messages))

    def _relaxed(self, graph: Graph, frontier: Frontier, values: Tensor, scratch: Scratch) -> Frontier:
        """The vertices that improve by a push along the rows of the own active ones."""
        if not graph.num_arcs or not len(frontier):
            return graph.nothing()
        rows = torch.arange(self._part.num_own) if frontier.is_everything else frontier.ids
        sub = rows_of(graph, rows, Frontier(graph, ids=rows))
        sub.scratch = scratch
        return self._program.compute(sub, values, sub.active)[1]

    def _receive(self, vertices: Tensor, messages: Tensor) -> Tensor:
        """Improve own vertices int64 [j], repeated ones too, by the messages [j, ...]; those that improved."""
        better = self._reduction.better(messages, self._own.index_select(0, vertices))
        if better.dim() > 1:
            better = better.flatten(1).any(1)
        vertices, messages = vertices[better], messages[better]
        place = column(vertices, messages).expand_as(messages)
        self._own.scatter_reduce_(0, place, messages, self._reduction.scatter)
        return vertices

    def _union(self, changed: Frontier, others: Tensor) -> Frontier:
        """A frontier and further own vertices, repeated ones among them."""
        if not len(others):
            return changed
        if "mask" in changed.forms() or 8 * len(others) > self._part.num_own:
            mask = changed.mask.clone()
            mask[others] = True
            return Frontier(self._part.inside, mask=mask)
        return Frontier(self._part.inside, ids=torch.cat((changed.ids, others)).unique())

    def _pull(self) -> Frontier:
        part, frontier = self._part, self._frontier
        slots, vertices = part.slots_of(frontier.ids)
        sending = part.replies.send_changed(slots, self._own.index_select(0, vertices))
        changed = self._pulled(part.inside, frontier, self._own)
        arrived, messages = sending.wait()
        mirrors = arrived + part.num_own
        self._values.index_copy_(0, mirrors, messages)
        others = self._pulled(part.outside, Frontier(part.outside, ids=mirrors), self._values)
        if not len(others):
            return changed
        mask = changed.mask | others.mask[: part.num_own]
        return Frontier(part.inside, mask=mask)

    def _pulled(self, graph: Graph, frontier: Frontier, values: Tensor) -> Frontier:
        """The vertices that improve by a pull from the active ones."""
        if not graph.num_arcs or not len(frontier):
            return graph.nothing()
        sub = Subgraph(graph, frontier, "pull", None, graph.selection(), mirrored=False)
        return self._program.compute(sub, values, frontier)[1]


def _relaxation(reduction: Reduction, edge: str, weights: Any) -> Relaxation:
    """The steps of a relaxation by this semiring."""
    kind = type("Steps", (Relaxation,), {"reduce": reduction.name, "edge": edge})
    program = kind()
    program.weight = weights
    return program
