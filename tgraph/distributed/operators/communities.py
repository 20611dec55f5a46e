"""Label propagation in batches over the parts of all ranks: the vertices of a batch choose at once, each by the labels
of its neighbours, which its rank has, and the owner of a vertex knows how much its label weighs."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.distributed.data.sharded import Sharded
from tgraph.distributed.operators.arcs import Arcs, on_ranks
from tgraph.distributed.ranks.requests import Requests
from tgraph.kernels.layout.spreading import layout_of
from tgraph.kernels.operators.community import communities
from tgraph.kernels.quotient import Moves, SpreadQuotient

_LEAST, _LARGEST = -(2**63), 2**63 - 1


@on_ranks(communities.move_vertices)
def move_vertices(
    graph: SpreadQuotient, community: Tensor, bound: Tensor | None, batch: Tensor | None, moves: Moves
) -> tuple[Tensor, int]:
    if moves.scale or moves.stirred_share or bound is not None:
        graph.graph.storage.to_csr()  # raises
    propagation, moved = _Propagation(graph, community, batch, moves), 0
    for sweep in range(moves.sweeps):
        before, key = moved, moves.key + sweep
        visited = propagation.stirred.nonzero().flatten()
        dealt = propagation.batch_of(key, propagation.numbers[visited], visited)
        counts = propagation.arcs.ownership.sum(torch.bincount(dealt, minlength=moves.batches))
        if not int(counts.sum()):
            break
        for number in counts.nonzero().flatten().tolist():
            moved += propagation.move(visited[dealt == number], key, number)
        if moved - before <= moves.tolerance * graph.num_vertices:
            break
    return propagation.arcs.spread(propagation.community), moved


@on_ranks(communities.number_groups)
def number_groups(label: Sharded) -> tuple[Tensor, Tensor]:
    held, names = label.ownership, label.unique()
    group = torch.searchsorted(names, label.local)
    own = torch.arange(held.first, held.end, device=names.device)
    first = held.gather(torch.full_like(names, held.num_rows).scatter_reduce_(0, group, own, "amin")).amin(0)
    first, order = first.sort()
    rank = torch.empty_like(order).index_copy_(0, order, torch.arange(len(order), device=order.device))
    return Sharded(rank[group], held), first


class _Propagation:
    """The labels of own vertices, and what their owner knows of labels: `totals`, the strengths of those who have it.

    known : the labels of own vertices and mirrors, [k + h]. stirred : arcs to vertices that moved since the last visit.
    """

    def __init__(self, graph: SpreadQuotient, community: Tensor, batch: Tensor | None, moves: Moves):
        own = layout_of(graph.graph).own
        self.arcs, self._key = Arcs(graph.graph), moves.key
        self.numbers: Tensor = self.arcs.numbers[: self.arcs.ownership.num_own]
        self.degree = torch.bincount(self.arcs.row, minlength=len(self.numbers))
        self.stirred = self.degree + 1
        self.arcs.without_self_loops()
        weights = self.arcs.weights if graph.weighted else None
        self._weight = torch.ones_like(self.arcs.row, dtype=torch.float64) if weights is None else weights
        self._batch, self._batches = None if batch is None else own(batch), moves.batches
        self.community: Tensor = own(community).clone()
        self.known = self.arcs.at_both(self.community)
        strengths = [graph.out_strength] if graph.in_strength is None else [graph.out_strength, graph.in_strength]
        self._strength = torch.stack([own(each) for each in strengths], 1)
        self._totals = torch.zeros_like(self._strength)
        owners = Requests(self.arcs.ownership, self.community)
        self._totals.index_add_(0, owners.asked, owners.told(self._strength))

    def batch_of(self, key: int, number: Tensor, own: Tensor) -> Tensor:
        """The batches of vertices of these numbers in a sweep; `own` : where their own batches are."""
        if self._batch is not None:
            return self._batch[own]
        return (((random.words(key, number) >> 32) & (2**32 - 1)) * self._batches) >> 32

    def move(self, visited: Tensor, key: int, batch: int) -> int:
        """Moves the own vertices of a batch; how many of all ranks have moved."""
        self.stirred[visited] = 0
        before, target = self.community[visited], self._preferred(visited)
        goes = target != before
        if not self.arcs.is_any(goes.any()):
            return 0
        vertex, before, target = visited[goes], before[goes], target[goes]
        strength, owners = self._strength[vertex], Requests(self.arcs.ownership, torch.cat((before, target)))
        if self._batch is None:  # else neighbours are in other batches
            swap = self._swaps(owners, before, target, strength)
            swap &= self.batch_of(key, target, vertex) == batch
            self.stirred[vertex[swap]] = self.degree[vertex[swap]] + 1
            strength = strength.masked_fill(swap[:, None], 0)
            target = torch.where(swap, before, target)
        self._totals.index_add_(0, owners.asked, owners.told(torch.cat((-strength, strength))))
        self.community[vertex] = target
        moved = int(self.arcs.ownership.sum((target != before).sum()))
        if moved:
            known, self.known = self.known, self.arcs.at_both(self.community)
            row, other = self.arcs.row, self.arcs.other
            here, there = self.known.index_select(0, row), self.known.index_select(0, other)
            self.stirred += torch.bincount(
                row[(there != known.index_select(0, other)) & (there != here)], minlength=len(self.stirred)
            )
        return moved

    def _swaps(self, owners: Requests, before: Tensor, target: Tensor, strength: Tensor) -> Tensor:
        """Whether two vertices that are alone would take each other's labels: the one of the lesser label waits."""
        asked = owners.asked
        label = owners.answered(self.community[asked])[len(before) :]
        total, own = (owners.answered(each[asked]).view(2, *strength.shape) for each in (self._totals, self._strength))
        alone = (total[0] == strength) & (total[1] == own[1])
        return (target > before) & alone.all(1) & (label == target)

    def _preferred(self, visited: Tensor) -> Tensor:
        """The label that the arcs of each vertex give most weight: of equal ones the one that all vertices draw or,
        with batches of one's own, the own one, else the largest."""
        n, own = self.arcs.ownership.num_rows, self.community[visited]
        place = torch.full_like(self.numbers, -1)
        place[visited] = number = torch.arange(len(visited), device=visited.device)
        row = place.index_select(0, self.arcs.row)
        held = row >= 0
        given = row[held] * n + self.known.index_select(0, self.arcs.other[held])
        pair, entry = torch.unique(torch.cat((given, number * n + own)), return_inverse=True)
        score = self._weight.new_zeros(len(pair)).index_add_(0, entry[: len(given)], self._weight[held])
        row, label = pair // n, pair % n
        is_best = score == score.new_full((len(visited),), -torch.inf).scatter_reduce_(0, row, score, "amax")[row]
        if self._batch is None:
            word = random.words(self._key, label) ^ _LEAST  # unsigned words by their order
        else:
            word = torch.where(label == own[row], _LEAST, -label)
        word = torch.where(is_best, word, _LARGEST)
        is_best &= word == torch.full_like(visited, _LARGEST).scatter_reduce_(0, row, word, "amin")[row]
        return own.index_copy(0, row[is_best], label[is_best])
