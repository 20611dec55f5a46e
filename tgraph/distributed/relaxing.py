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

    def _in_order(self, changed: Tensor) -> Tensor:
        """Those of the vertices that have changed which are to be relaxed next."""
        if self._order is None:
            return changed
        return self._order.near(self._own, Frontier(self._part.inside, ids=changed)).ids

    @property
    def is_everything(self) -> bool:
        """Whether all vertices are active."""
        return self._frontier is None

    @property
    def sizes(self) -> tuple[int, int]:
        """(active own vertices, their arcs)"""
        part, active = self._part, self._frontier
        if active is None:
            return part.num_own, part.num_arcs
        return len(active), int(part.degree.index_select(0, active).sum())

    def reopen(self) -> bool:
        """Open the next bucket, when no vertex is active on any rank: whether there is one."""
        if self._order is None:
            return False
        lowest, nothing = self._order.lowest(self._own), self._reduction.identity(self._values.dtype)
        held = torch.tensor(nothing, dtype=self._values.dtype) if lowest is None else lowest
        least = self._part.ownership.gather(held).min()
        if least == nothing:
            return False
        self._frontier = self._order.open(self._own, self._part.inside, least).ids
        return True

    @property
    def mask(self) -> Tensor:
        """The active ones of the own vertices, of all buckets, bool [k]."""
        inside = self._part.inside
        near = inside.everything() if self._frontier is None else Frontier(inside, ids=self._frontier)
        return (near if self._order is None else self._order.with_far(near)).mask

    def push(self) -> None:
        """A round along the rows of active vertices."""
        part, active = self._part, self._frontier
        rows = torch.arange(part.num_own) if active is None else active
        mirrors = self._outside.step(rows, False).sort().values
        messages = self._values.index_select(0, mirrors)
        sending = part.requests.send_changed(mirrors - part.num_own, messages)
        improved = self._inside.step(active, False)
        slots, messages = sending.wait()
        self._frontier = self._in_order(
            self._union(improved, self._received(part.copied.index_select(0, slots), messages))
        )

    def _received(self, vertices: Tensor, messages: Tensor) -> Tensor:
        """Improve own vertices int64 [j], repeated ones too, by the messages [j, ...]; those that improved."""
        better = self._reduction.better(messages, self._own.index_select(0, vertices))
        if better.dim() > 1:
            better = better.flatten(1).any(1)
        vertices, messages = vertices[better], messages[better]
        place = column(vertices, messages).expand_as(messages)
        self._own.scatter_reduce_(0, place, messages, self._reduction.scatter)
        return vertices

    def pull(self, size: int) -> None:
        """The same by the rows of all vertices, which gather from those that are active, `size` on all ranks."""
        part, active = self._part, self._frontier
        slots, vertices = part.slots_of(torch.arange(part.num_own) if active is None else active)
        sending = part.replies.send_changed(slots, self._own.index_select(0, vertices))
        improved = self._inside.step(active, True)
        arrived, messages = sending.wait()
        mirrors = arrived + part.num_own
        self._values.index_copy_(0, mirrors, messages)
        self._frontier = self._in_order(self._union(improved, self._outside.step(mirrors, True)))

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
