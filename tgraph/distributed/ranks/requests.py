"""Questions about vertices of other ranks: each goes to the owner of the vertex, and its answer comes back."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from tgraph.core.rows import gather_rows, offset_of
from tgraph.distributed.ranks.channel import Channel
from tgraph.distributed.ranks.ownership import Ownership
from tgraph.distributed.ranks.transport import exchange


class Requests:
    """Requests of this rank about `vertices` int64 [j] of the whole graph, and the requests to it.

    asked : int64 [a], own vertices by local number, by requesting rank. counts : the number of requests of each rank.
    All ranks must make it, and call its methods.
    """

    def __init__(self, ownership: Ownership, vertices: Tensor):
        owner = ownership.owner(vertices)
        self._order = owner.argsort(stable=True)
        wanted = torch.bincount(owner, minlength=ownership.num_ranks)
        given = torch.empty_like(wanted)
        size = (ownership.num_ranks - 1) * wanted.element_size()
        exchange(dist.all_to_all_single, given, wanted, group=ownership.group, sent=size, received=size)
        self.counts: list[int] = given.tolist()
        self._ownership, self._there = ownership, Channel(ownership, wanted.tolist(), self.counts)
        self.asked: Tensor = self.told(vertices) - ownership.first

    def told(self, values: Tensor) -> Tensor:
        """Send `values` [j, ...] with the requests; returns those of the requests to this rank, [a, ...]."""
        return self._there.send(values.index_select(0, self._order)).wait()

    def answered(self, values: Tensor) -> Tensor:
        """The answers [j, ...], where this rank answers `values` [a, ...]."""
        received = self._there.reversed().send(values).wait()
        return torch.empty_like(received).index_copy_(0, self._order, received)

    def answered_by_lists(self, counts: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """As `answered`, where each answer is a list: (how long each is, int64 [j]; the lists one after the other), for
        lists of `counts` int64 [a] of the `values` [sum, ...]."""
        lengths = self._there.reversed().send(counts).wait()  # in the order of owners
        sent = [int(each.sum()) for each in counts.split(self.counts)]
        taken = [int(each.sum()) for each in lengths.split(self._there.sending)]
        lists = Channel(self._ownership, sent, taken).send(values).wait()
        place = torch.empty_like(self._order)
        place[self._order] = torch.arange(len(place), device=place.device)
        items = gather_rows(offset_of(lengths), place)[1]
        return lengths.index_select(0, place), lists.index_select(0, items)
