"""Monotone relaxations over the parts of all ranks, in rounds.

A push relaxes along the rows of the active vertices; what mirrors have received goes to their owners, the best message
for each vertex. A pull, of graphs whose rows lead both ways, first has the values of active vertices sent to where they
are mirrors. The arcs inside a part are relaxed while messages travel. Whether to push or to pull, and which bucket is
open, is decided by numbers that all ranks have.
"""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor

from tgraph.core.direction import DirectionPolicy, settles
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import Scratch
from tgraph.distributed.part import Part
from tgraph.distributed.sharded import Sharded
from tgraph.engine.delta_stepping import NearFar
from tgraph.kernels import choose
from tgraph.kernels.call import Call
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
        program = _relaxation(reduction, edge, weights)
        self._policy = DirectionPolicy(graph, "push" if directed else "auto")
        self._policy.settles = settles(values, active, edge != "copy" and weights is None)
        size = (part.num_local, *values.shape[1:])
        self._values = torch.full(size, reduction.identity(values.dtype), dtype=values.dtype, device=values.device)
        self._own = self._values[: part.num_own]
        self._own.copy_(values.local)
        values.local = self._own  # what is written here is seen there
        best = None if edge == "mul" else program.best_weight(graph) if edge != "copy" and graph.num_arcs else 0
        self._inside = _rounds(part.inside, self._own, reduction, edge, weights, best)
        self._outside = _rounds(part.outside, self._values, reduction, edge, weights, best)
        width = program.bucket_width(graph, values) if ordered and not active.is_everything else None
        self._order = None if width is None else NearFar(width, values.dtype, Scratch(part.num_own))
        self._frontier = self._in_order(self._first(active))
        self._total = 0
        self._done: list[Round] = []
        self._end = 0.0  # by the clock, of the present `advance`

    def _first(self, active: Frontier) -> Tensor | None:
        """The active ones of the own vertices, int64 [j]; None for all."""
        held = self._part.ownership
        if active.is_everything:
            return None
        ids = active.ids
        return ids[(ids >= held.first) & (ids < held.end)] - held.first

    def _in_order(self, changed: Tensor | None) -> Tensor | None:
        """Those of the vertices that have changed which are to be relaxed next."""
        if self._order is None:
            return changed
        return self._order.near(self._own, Frontier(self._part.inside, ids=changed)).ids

    # ---- the interface of a loop -------------------------------------------------------------------------------------

    def advance(self, limit: int, seconds: float) -> tuple[bool, int]:
        """Continue for about so many seconds, and at most `limit` rounds: (whether no vertex is active on any rank, how
        many rounds were run)."""
        self._done, self._end = [], time.perf_counter() + seconds
        while len(self._done) < limit:
            size, arcs, late = self._measure()
            if not size:
                self._total = 0
                return True, len(self._done)
            began = time.perf_counter()
            pull = self._policy.pick(size, arcs, self._frontier is None) == "pull"
            self._policy.passed(size, arcs)
            self._frontier = self._in_order(self._pull() if pull else self._push())
            self._done.append((pull, size, arcs, size, (time.perf_counter() - began) * 1e3))
            self._total = size
            if late:
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
        inside = self._part.inside
        near = inside.everything() if self._frontier is None else Frontier(inside, ids=self._frontier)
        near = near if self._order is None else self._order.with_far(near)
        return Sharded(near.mask, self._part.ownership)

    def _measure(self) -> tuple[int, int, bool]:
        """(active vertices, their arcs) on all ranks, and whether the time is over, by the clock of rank 0. Opens the
        next bucket where there are none."""
        size, arcs, late = self._sizes()
        if size or self._order is None:
            return size, arcs, late
        lowest = self._order.lowest(self._own)
        nothing = self._reduction.identity(self._values.dtype)
        held = torch.tensor(nothing, dtype=self._values.dtype) if lowest is None else lowest
        least = self._part.ownership.gather(held).min()
        if least == nothing:
            return 0, 0, late
        self._frontier = self._order.open(self._own, self._part.inside, least).ids
        return self._sizes()

    def _sizes(self) -> tuple[int, int, bool]:
        part, active = self._part, self._frontier
        if active is None:
            held = [part.num_own, part.num_arcs]
        else:
            held = [len(active), int(part.degree.index_select(0, active).sum())]
        late = part.ownership.rank == 0 and time.perf_counter() > self._end
        size, arcs, late = part.ownership.gather(torch.tensor([*held, late])).sum(0).tolist()
        return size, arcs, bool(late)

    # ---- a round -----------------------------------------------------------------------------------------------------

    def _push(self) -> Tensor:
        """A round along the rows of active vertices: the own ones that improved, int64, distinct."""
        part, active = self._part, self._frontier
        rows = torch.arange(part.num_own) if active is None else active
        mirrors = self._outside.step(rows, False).sort().values
        messages = self._values.index_select(0, mirrors)
        sending = part.requests.send_changed(mirrors - part.num_own, messages)
        improved = self._inside.step(active, False)
        slots, messages = sending.wait()
        return self._union(improved, self._received(part.copied.index_select(0, slots), messages))

    def _received(self, vertices: Tensor, messages: Tensor) -> Tensor:
        """Improve own vertices int64 [j], repeated ones too, by the messages [j, ...]; those that improved."""
        better = self._reduction.better(messages, self._own.index_select(0, vertices))
        if better.dim() > 1:
            better = better.flatten(1).any(1)
        vertices, messages = vertices[better], messages[better]
        place = column(vertices, messages).expand_as(messages)
        self._own.scatter_reduce_(0, place, messages, self._reduction.scatter)
        return vertices

    def _pull(self) -> Tensor:
        """The same by the rows of all vertices, which gather from those that are active."""
        part, active = self._part, self._frontier
        slots, vertices = part.slots_of(torch.arange(part.num_own) if active is None else active)
        sending = part.replies.send_changed(slots, self._own.index_select(0, vertices))
        improved = self._inside.step(active, True)
        arrived, messages = sending.wait()
        mirrors = arrived + part.num_own
        self._values.index_copy_(0, mirrors, messages)
        return self._union(improved, self._outside.step(mirrors, True))

    def _union(self, improved: Tensor, others: Tensor) -> Tensor:
        """Own vertices, distinct int64 [i], and further ones, which may be repeated or among them: each once."""
        if not len(others):
            return improved
        if 8 * (len(improved) + len(others)) < self._part.num_own:
            return torch.cat((improved, others)).unique()
        marked = torch.zeros(self._part.num_own, dtype=torch.bool)
        marked[improved] = True
        marked[others] = True
        return marked.nonzero().flatten()


def _rounds(
    graph: Graph,
    values: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    best: float | None,
) -> Any:
    """Rounds along the rows of a graph; `weights` None for those of its arcs."""
    held: Any = None if edge == "copy" else graph.weights if weights is None else weights
    kernels = choose("auto", Call("rounds", values, reduction, edge, held, graph))
    return kernels.run(graph, values, reduction, edge, held, best)


def _relaxation(reduction: Reduction, edge: str, weights: Any) -> Relaxation:
    """The steps of a relaxation by this semiring."""
    kind = type("Steps", (Relaxation,), {"reduce": reduction.name, "edge": edge})
    program = kind()
    program.weight = weights
    return program
