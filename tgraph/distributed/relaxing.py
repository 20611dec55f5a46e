"""Rounds of a monotone relaxation over the parts of all ranks.

A push relaxes along the rows of the active vertices; what mirrors have received goes to their owners, the best message
for each vertex. A pull, of graphs whose rows lead both ways, first has the values of active vertices sent to where they
are mirrors. The arcs inside a part are relaxed while messages travel.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import Scratch
from tgraph.distributed.channel import ChangedSending
from tgraph.distributed.ownership import Active
from tgraph.distributed.part import Part
from tgraph.distributed.sharded import Sharded
from tgraph.engine.delta_stepping import NearFar
from tgraph.kernels import choose
from tgraph.kernels.call import Call
from tgraph.kernels.messages import column
from tgraph.kernels.reductions import Reduction
from tgraph.model.program import Relaxation


class Relaxing:
    """The active vertices of a relaxation, and a round from them.

    part : of this rank. graph : the whole, distributed. values : [n, ...], overwritten. first : the active ones of the
    own vertices, int64 [j], or None for all. weights, ordered : as of `Fixpoint`.

    Made and called by all ranks together.
    """

    def __init__(
        self,
        part: Part,
        graph: Graph,
        values: Sharded,
        first: Tensor | None,
        reduction: Reduction,
        edge: str,
        weights: Tensor | float | None,
        ordered: bool,
    ):
        self._part, self._reduction = part, reduction
        program = _relaxation(reduction, edge, weights)
        size = (part.num_local, *values.shape[1:])
        self._values = torch.full(size, reduction.identity(values.dtype), dtype=values.dtype, device=values.device)
        self._own = self._values[: part.num_own]
        self._own.copy_(values.local)
        values.local = self._own  # what is written here is seen there
        best = None if edge == "mul" else program.best_weight(graph) if edge != "copy" and graph.num_arcs else 0
        self._inside = _rounds(part.inside, self._own, reduction, edge, weights, best)
        self._outside = _rounds(part.outside, self._values, reduction, edge, weights, best)
        width = program.bucket_width(graph, values) if ordered and first is not None else None
        self._order = None if width is None else NearFar(width, values.dtype, Scratch(part.num_own))
        self._frontier = first if first is None else self._in_order(first)
        self._known: Active | None = None  # of the round before
        self._least: Any = None  # of all ranks, the smallest value of the next bucket

    def _in_order(self, changed: Tensor) -> Tensor:
        """Those of the vertices that have changed which are to be relaxed next."""
        if self._order is None:
            return changed
        return self._order.near(self._own, Frontier(self._part.inside, ids=changed)).ids

    @property
    def is_everything(self) -> bool:
        """Whether all vertices are active."""
        return self._frontier is None

    def measure(self, late: bool) -> Active:
        """The active vertices of all ranks: at first these, and from then on those of the round before."""
        if self._known is None:
            told = self._part.ownership.gather(torch.tensor(self._told(late)))
            self._known = Active.of_ranks(told[:, :3])
        return self._known

    def _told(self, late: bool) -> list[int]:
        """What all ranks are told: active vertices, their arcs, whether time is over, and, of a rank without active
        vertices, the bits of the smallest value of its next bucket."""
        part, active = self._part, self._frontier
        if active is None:
            return [part.num_own, part.num_arcs, late, self._bits(None)]
        lowest = self._order.lowest(self._own) if self._order is not None and not len(active) else None
        return [len(active), int(part.degree.index_select(0, active).sum()), late, self._bits(lowest)]

    def _bits(self, value: Tensor | None) -> int:
        """A value, None for one that is never reached, as an integer of the same bytes."""
        held = self._values.new_zeros(max(1, 8 // self._values.element_size()))
        held[0] = self._reduction.identity(held.dtype) if value is None else value
        return int(held.view(torch.int64))

    def reopen(self) -> bool:
        """Open the next bucket, when no vertex was active on any rank: whether there is one."""
        if self._order is None or self._least == self._reduction.identity(self._values.dtype):
            return False
        self._frontier = self._order.open(self._own, self._part.inside, self._least).ids
        return True

    def round(self, pull: bool, known: Active, late: bool) -> Active:
        """A round from the active vertices, if there are any, which it counts: messages travel with the numbers."""
        sending = self._pulled(late) if pull else self._pushed(late)
        self._known = Active.of_ranks(sending.told[:, :3])
        if not self._known.size:
            lowest = torch.tensor(sending.told[:, 3].tolist()).view(self._values.dtype)
            self._least = lowest.view(len(sending.told), -1)[:, 0].min()
            return self._known
        others, improved = self._pull(sending) if pull else self._push(sending)
        self._frontier = self._in_order(self._union(improved, others))
        return self._known

    @property
    def mask(self) -> Tensor:
        """The active ones of the own vertices, of all buckets, bool [k]."""
        inside = self._part.inside
        near = inside.everything() if self._frontier is None else Frontier(inside, ids=self._frontier)
        return (near if self._order is None else self._order.with_far(near)).mask

    def _pushed(self, late: bool) -> ChangedSending:
        """What mirrors receive along the rows of active vertices, on its way to their owners."""
        part, active = self._part, self._frontier
        rows = torch.arange(part.num_own) if active is None else active
        mirrors = self._outside.step(rows, False).sort().values
        messages = self._values.index_select(0, mirrors)
        return part.requests.send_changed(mirrors - part.num_own, messages, self._told(late))

    def _push(self, sending: ChangedSending) -> tuple[Tensor, Tensor]:
        """The own vertices that improve along these rows, and those by what arrives; of the latter some may be
        repeated."""
        improved = self._inside.step(self._frontier, False)
        slots, messages = sending.wait()
        return self._received(self._part.copied.index_select(0, slots), messages), improved

    def _received(self, vertices: Tensor, messages: Tensor) -> Tensor:
        """Improve own vertices int64 [j], repeated ones too, by the messages [j, ...]; those that improved."""
        better = self._reduction.better(messages, self._own.index_select(0, vertices))
        if better.dim() > 1:
            better = better.flatten(1).any(1)
        vertices, messages = vertices[better], messages[better]
        place = column(vertices, messages).expand_as(messages)
        self._own.scatter_reduce_(0, place, messages, self._reduction.scatter)
        return vertices

    def _pulled(self, late: bool) -> ChangedSending:
        """The values of active vertices, on their way to where they are mirrored."""
        part, active = self._part, self._frontier
        slots, vertices = part.slots_of(torch.arange(part.num_own) if active is None else active)
        return part.replies.send_changed(slots, self._own.index_select(0, vertices), self._told(late))

    def _pull(self, sending: ChangedSending) -> tuple[Tensor, Tensor]:
        """The own vertices that improve by gathering from active ones, by those of other ranks and by the own ones."""
        improved = self._inside.step(self._frontier, True)
        arrived, messages = sending.wait()
        mirrors = arrived + self._part.num_own
        self._values.index_copy_(0, mirrors, messages)
        return self._outside.step(mirrors, True), improved

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
