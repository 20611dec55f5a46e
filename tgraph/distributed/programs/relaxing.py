"""Rounds of a monotone relaxation over the parts of all ranks.

A push relaxes along the rows of the active vertices, and sends the best message to each mirror to its owner. A pull,
for graphs with arcs in both directions, first sends the values of active vertices to the ranks of their mirrors. The
arcs inside a part are relaxed while messages travel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import Scratch
from tgraph.distributed.data.sharded import Sharded
from tgraph.distributed.parts.part import Part
from tgraph.distributed.ranks.channel import ChangedSending
from tgraph.distributed.ranks.ownership import Active
from tgraph.distributed.streaming.rounds import rounds
from tgraph.distributed.streaming.side import Side
from tgraph.engine.delta_stepping import NearFar
from tgraph.kernels import choose
from tgraph.kernels.call import Call
from tgraph.kernels.messages import column
from tgraph.kernels.reductions import Reduction
from tgraph.model.program import Relaxation
from tgraph.primitives import bitmaps


class Relaxing:
    """The active vertices of a relaxation, and a round from them.

    part : of this rank. graph : the whole, distributed. values : [n, ...], overwritten. first : the active ones of the
    own vertices, int64 [j], or None for all. weights, any_order : as of `Fixpoint`.

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
        any_order: bool,
    ):
        self._part, self._reduction = part, reduction
        program = _relaxation(reduction, edge, weights)
        size = (part.num_local, *values.shape[1:])
        self._values = torch.full(size, reduction.identity(values.dtype), dtype=values.dtype, device=values.device)
        self._own = self._values[: part.num_own]
        self._own.copy_(values.local)
        values.local = self._own  # a view, so that the results are seen there
        best = None if edge == "mul" else program.best_weight(graph) if edge != "copy" and graph.num_arcs else 0
        how = reduction, edge, weights, best, any_order
        self._inside = _rounds(part.inside, self._own, *how, inside=True)
        self._outside = _rounds(part.outside, self._values, *how)
        self._cut: Any = None
        if part.cut is not None:
            self._by_cut = torch.full_like(self._values, reduction.identity(values.dtype))
            self._cut = _rounds(part.cut, self._by_cut, *how)
        in_buckets = any_order and first is not None and part.streamed is None  # blocks have an order of their own
        width = program.bucket_width(graph, values) if in_buckets else None
        if width is not None:
            # Half, as in the compiled loops; a round has exchanges, which take longer than narrower buckets would save.
            width = max(width, graph.mean_weight) / 2
        self._order = None if width is None else NearFar(width, values.dtype, Scratch(part.num_own))
        self._frontier = first if first is None else self._in_order(first)
        self._known: Active | None = None  # of the round before
        self._least: Any = None  # of all ranks, the smallest value of the next bucket

    def _in_order(self, changed: Tensor) -> Tensor:
        """The changed vertices that are relaxed next."""
        if self._order is None:
            return changed
        return self._order.near(self._own, Frontier(self._part.inside, ids=changed)).ids

    @property
    def is_everything(self) -> bool:
        """Whether all vertices are active."""
        return self._frontier is None

    def measure(self, late: bool) -> Active:
        """The active vertices of all ranks: at first these, then those of the round before."""
        if self._known is None:
            shared = self._part.ownership.gather(torch.tensor(self._shared(late), device="cpu"))
            self._known = Active.of_ranks(shared[:, :3])
        return self._known

    def _shared(self, late: bool) -> list[int]:
        """The numbers sent to all ranks: active vertices, their arcs, whether time is over, and, of a rank without
        active vertices, the bits of the smallest value of its next bucket."""
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
        shared = self._shared(late)
        push = self._pushed if self._cut is None else self._lent
        sending = self._pulled(shared) if pull else push(shared)
        self._known = Active.of_ranks(sending.shared[:, :3])
        if not self._known.size:
            lowest = torch.tensor(sending.shared[:, 3].tolist(), device="cpu").view(self._values.dtype)
            self._least = lowest.view(len(sending.shared), -1)[:, 0].min()
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

    def _everything(self) -> Tensor:
        """All own vertices, int64 [k]."""
        return torch.arange(self._part.num_own, device=self._own.device)

    def _lent(self, shared: list[int]) -> ChangedSending:
        """Begin to send the values of active vertices to the ranks with rows of them."""
        slots, vertices = self._part.cut_rows.slots_of(self._frontier, self._part.num_own)
        return self._part.cut_rows.lent.send_changed(slots, self._own.index_select(0, vertices), shared)

    def _along_cut(self, senders: Tensor, values: Tensor, pull: bool) -> tuple[Tensor, Tensor]:
        """Relax the arcs of mirrors from `senders`, int64 [j] local, with these values [j, ...]: (receivers of a better
        message than ever along them, local, ascending; the messages). The values are separate, so that a round sends
        those before it."""
        self._by_cut.index_copy_(0, senders, values)
        reached = self._cut.step(senders, pull).sort().values
        return reached, self._by_cut.index_select(0, reached)

    def _pushed(self, shared: Sequence[int] = (), cut: tuple[Tensor, Tensor] | None = None) -> ChangedSending:
        """Begin to send to their owners the best messages to mirrors along the rows of active vertices, and along cut
        rows, `cut` (vertices int64 [j], messages [j, ...])."""
        part, active = self._part, self._frontier
        improved = self._outside.step(self._everything() if active is None else active, False)
        if cut is not None:
            improved = torch.cat((improved, self._received(*cut)))
        improved = _ascending(improved, part.num_local)
        values = self._values.index_select(0, improved)
        return part.requests.send_changed(improved - part.num_own, values, shared)

    def _push(self, sending: ChangedSending) -> tuple[Tensor, Tensor]:
        """The own vertices that improve by messages that arrive, some perhaps repeated, and by the rows of this
        rank."""
        part, others = self._part, self._part.copied[:0]
        if self._cut is not None:
            arrived, values = sending.wait()
            reached, messages = self._along_cut(part.cut_rows.mirrors.index_select(0, arrived), values, False)
            count = int(torch.searchsorted(reached, part.num_own))
            sending = self._pushed(cut=(reached[count:], messages[count:]))
        improved = self._inside.step(self._frontier, False)
        if self._cut is not None:
            others = self._received(reached[:count], messages[:count])
        slots, messages = sending.wait()
        return torch.cat((others, self._received(part.copied.index_select(0, slots), messages))), improved

    def _received(self, vertices: Tensor, messages: Tensor) -> Tensor:
        """Improve local vertices int64 [j], repeated ones too, by the messages [j, ...]; those that improved."""
        better = self._reduction.better(messages, self._values.index_select(0, vertices))
        if better.dim() > 1:
            better = better.flatten(1).any(1)
        vertices, messages = vertices[better], messages[better]
        place = column(vertices, messages).expand_as(messages)
        self._values.scatter_reduce_(0, place, messages, self._reduction.scatter)
        return vertices

    def _pulled(self, shared: list[int]) -> ChangedSending:
        """Begin to send the values of active vertices to the ranks of their mirrors."""
        part, active = self._part, self._frontier
        slots, vertices = part.slots_of(self._everything() if active is None else active)
        return part.replies.send_changed(slots, self._own.index_select(0, vertices), shared)

    def _pull(self, sending: ChangedSending) -> tuple[Tensor, Tensor]:
        """The own vertices that improve by gathering from active vertices of other ranks, and of this one."""
        part, active = self._part, self._frontier
        if self._cut is None:
            improved = self._inside.step(active, True)
            return self._outside.step(self._arrived(sending), True), improved
        mirrors = self._arrived(sending)
        senders = torch.cat((self._everything() if active is None else active, mirrors))
        reached, messages = self._along_cut(senders, self._values.index_select(0, senders), True)
        back = part.requests.send_changed(reached - part.num_own, messages)
        improved, others = self._inside.step(active, True), self._outside.step(mirrors, True)
        slots, messages = back.wait()
        return torch.cat((others, self._received(part.copied.index_select(0, slots), messages))), improved

    def _arrived(self, sending: ChangedSending) -> Tensor:
        """The mirrors, by local number, whose values arrive."""
        arrived, values = sending.wait()
        mirrors = arrived + self._part.num_own
        self._values.index_copy_(0, mirrors, values)
        return mirrors

    def _union(self, improved: Tensor, others: Tensor) -> Tensor:
        """Own vertices, distinct int64 [i], and further ones, which may be repeated or among them: each once."""
        return _ascending(torch.cat((improved, others)), self._part.num_own) if len(others) else improved


def _ascending(vertices: Tensor, size: int) -> Tensor:
    """The distinct ones of local vertices int64 [j], less than `size`, in ascending order."""
    if 64 * len(vertices) < size:
        return vertices.unique()
    return bitmaps.members(bitmaps.of_ids(vertices, size))


def _rounds(
    graph: Graph,
    values: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    best: float | None,
    any_order: bool,
    inside: bool = False,
) -> Any:
    """Rounds along the rows of a graph of arcs `inside` or outside; `weights` None for the weights of its arcs."""
    if isinstance(graph.layout, Side):
        return rounds(graph, graph.layout, values, reduction, edge, weights, any_order, inside)
    held: Any = None if edge == "copy" else graph.weights if weights is None else weights
    kernels = choose("auto", Call("rounds", values, reduction, edge, held, graph))
    return kernels.run(graph, values, reduction, edge, held, best)


def _relaxation(reduction: Reduction, edge: str, weights: Any) -> Relaxation:
    """The steps of a relaxation by this semiring."""
    kind = type("Steps", (Relaxation,), {"reduce": reduction.name, "edge": edge})
    program = kind()
    program.weight = weights
    return program
