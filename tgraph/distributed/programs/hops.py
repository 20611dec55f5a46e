"""Rounds of equal messages, as of a breadth-first search, over the parts of all ranks.

The first message to reach a vertex is the best, so that a vertex is active or not, and reached or not, which takes a
bit each. Ranks exchange bits alone: of mirrors reached by a push, or of active vertices at the ranks of their mirrors.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.distributed.parts.part import CutRows, Part
from tgraph.distributed.ranks.channel import MarksSending
from tgraph.distributed.ranks.ownership import Active
from tgraph.distributed.streaming.side import Side
from tgraph.kernels.messages import across
from tgraph.kernels.reductions import Reduction
from tgraph.primitives import bitmaps


def level(
    part: Part, own: Tensor, first: Tensor | None, reduction: Reduction, edge: str, weight: Tensor | float | None
) -> Tensor | None:
    """The common value of all active vertices, of no dimensions; None where they have several, or a vertex may be
    reached again: because messages improve on their way, or a vertex has a value but would take a better one.

    The arguments are those of `Hops`.
    """
    if own.dim() > 1 or own.dtype == torch.bool or edge not in ("copy", "add"):
        return None
    sent = own if first is None else own.index_select(0, first)
    nothing = torch.tensor(reduction.identity(own.dtype), dtype=own.dtype, device=own.device)
    reached = own.index_select(0, bitmaps.members(bitmaps.pack(own != nothing)))
    active = sent.aminmax() if len(sent) else (nothing, nothing)
    worst = reduction.worst(reached) if len(reached) else nothing
    has = torch.tensor([len(sent) > 0, len(reached) > 0], dtype=own.dtype, device=own.device)
    found = part.ownership.gather(torch.cat((has, torch.stack((*active, worst)))))
    low, high = found[found[:, 0] == 1][:, 2:4].unbind(1)
    worst = found[found[:, 1] == 1][:, 4]
    if not len(low) or bool(low[0] == nothing) or not bool((low == low[0]).all() and (high == low[0]).all()):
        return None
    message = across(low[0], edge, weight).to(own.dtype)
    again = reduction.better(message, worst).any() or reduction.better(message, low[0])
    return None if bool(again) else low[0]


class Hops:
    """The active vertices of a search, and a round from them.

    own : the values of the own vertices [k], overwritten. first : the active ones of these, int64 [j], or None for all.
    weight : of every arc, None for 0. level : the value that all active vertices have, of no dimensions.

    Made and called by all ranks together.
    """

    def __init__(
        self,
        part: Part,
        own: Tensor,
        first: Tensor | None,
        reduction: Reduction,
        edge: str,
        weight: Tensor | float | None,
        level: Tensor,
    ):
        self._part, self._own, self._level = part, own, level
        self._reduction, self._edge, self._weight = reduction, edge, weight
        self.is_everything: bool = first is None
        everything = torch.arange(part.num_own, device=own.device) if first is None else first
        self._front = bitmaps.of_ids(everything, part.num_own)
        self._unvisited = bitmaps.pack(own == reduction.identity(own.dtype))
        self._reported = self._empty(part.num_local)  # mirrors that their owners know to be reached
        self._size = bitmaps.measure(self._front, part.degree)

    def measure(self, late: bool) -> Active:
        """The active vertices of all ranks."""
        return Active.of_ranks(self._part.ownership.gather(torch.tensor([*self._size, late], device="cpu")))

    def round(self, pull: bool, active: Active, late: bool) -> Active:
        """A round from the `active` vertices, if there are any."""
        if active.size:
            self._pull(active.size) if pull else self._push()
        return active

    def reopen(self) -> bool:
        """Whether more vertices become active when none is: they do not."""
        return False

    @property
    def mask(self) -> Tensor:
        """The active ones of the own vertices, bool [k]."""
        return bitmaps.unpack(self._front, self._part.num_own)

    def _empty(self, size: int) -> Tensor:
        return bitmaps.empty(size, self._own.device)

    def _push(self) -> None:
        """A round along the rows of active vertices."""
        part, outside, inside = self._part, self._part.outside, self._part.inside
        marked, reached = self._empty(part.num_local), self._empty(part.num_own)
        if part.cut is not None:
            _push_along(part.cut, self._lent(part.cut_rows), marked)
            bitmaps.move(marked, 0, part.num_own, reached, 0)
        _push_along(outside, self._front, marked)
        sending = self._to_owners(marked)
        _push_along(inside, self._front, reached)
        self._receive(sending, reached)
        self._reach(reached & self._unvisited)

    def _active(self, lists: Sequence[Tensor]) -> list[Tensor]:
        """Bitmaps of the active vertices of each list of own vertices."""
        found = []
        for vertices in lists:
            found.append(bits := self._empty(len(vertices)))
            bitmaps.choose(self._front, vertices, bits)
        return found

    def _lent(self, rows: CutRows) -> Tensor:
        """The active mirrors with rows here, of all local vertices."""
        near, start = self._empty(self._part.num_local), 0
        sending = rows.lent.send_marks(self._active(rows.own))
        for size, marks in zip(rows.lent.receiving, sending.wait(), strict=True):
            if marks is not None:
                bitmaps.spread(marks, rows.mirrors[start : start + size], near)
            start += size
        return near

    def _to_owners(self, marked: Tensor) -> MarksSending:
        """Begin to send the mirrors marked for the first time, of all local vertices, to their owners."""
        part = self._part
        marked = marked & ~self._reported
        self._reported |= marked
        messages, start = [], part.num_own
        for size in part.requests.sending:
            messages.append(bits := self._empty(size))
            bitmaps.move(marked, start, size, bits, 0)
            start += size
        return part.requests.send_marks(messages)

    def _receive(self, sending: MarksSending, reached: Tensor) -> None:
        """Add own vertices that arrive to `reached`."""
        for vertices, marks in zip(self._part.copied_by_rank, sending.wait(), strict=True):
            if marks is not None:
                bitmaps.spread(marks, vertices, reached)

    def _pull(self, size: int) -> None:
        """A round along the rows of vertices that are not reached yet, from `size` active ones on all ranks."""
        part, outside, inside = self._part, self._part.outside, self._part.inside
        sending = part.replies.send_marks(self._active(part.copied_by_rank), 4 * size >= part.ownership.num_rows // 8)
        reached, others = self._empty(part.num_own), self._empty(part.num_own)
        with_inside, with_outside = part.with_arcs
        _pull_along(inside, self._front, self._unvisited & with_inside, reached)
        near, start = self._empty(part.num_local), part.num_own
        for count, marks in zip(part.replies.receiving, sending.wait(), strict=True):
            if marks is not None:
                bitmaps.move(marks, 0, count, near, start)
            start += count
        self._reported |= near
        if part.cut is not None:
            back = self._to_owners(self._pulled_by_cut(part.cut, part.cut_rows, near))
        _pull_along(outside, near, self._unvisited & ~reached & with_outside, others)
        reached |= others
        if part.cut is not None:
            self._receive(back, reached)
            reached &= self._unvisited
        self._reach(reached)

    def _pulled_by_cut(self, cut: Graph, rows: CutRows, near: Tensor) -> Tensor:
        """The mirrors reached along their rows here, from active vertices and the mirrors `near`."""
        active, found = near.clone(), self._empty(self._part.num_local)
        bitmaps.move(self._front, 0, self._part.num_own, active, 0)
        wanted = bitmaps.of_ids(rows.mirrors, self._part.num_local) & ~self._reported
        _pull_along(cut, active, wanted, found)
        return found

    def _reach(self, vertices: Tensor) -> None:
        """The vertices of this bitmap receive the message, and are active next."""
        self._level = across(self._level, self._edge, self._weight).to(self._own.dtype)
        self._front, self.is_everything = vertices, False
        self._unvisited &= ~vertices
        self._size = bitmaps.measure(vertices, self._part.degree)
        bitmaps.fill(vertices, self._own, self._level.item())


def _push_along(graph: Graph, active: Tensor, reached: Tensor) -> None:
    """Add the neighbors of the `active` vertices to `reached`; blocks without any are not read."""
    if isinstance(graph.layout, Side):
        graph.layout.push_bits(active, reached)
    else:
        bitmaps.push(graph.offset, graph.neighbors, active, reached)


def _pull_along(graph: Graph, front: Tensor, wanted: Tensor, reached: Tensor) -> None:
    """Add the vertices in `wanted` with a neighbor in `front` to `reached`, which is empty; blocks without any are not
    read."""
    if isinstance(graph.layout, Side):
        graph.layout.pull_bits(front, wanted, reached)
    else:
        bitmaps.pull(graph.offset, graph.neighbors, front, wanted, reached)
