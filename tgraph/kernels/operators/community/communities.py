"""Communities in torch operators: the vertices of a batch choose at once, from sorted (vertex, community) pairs."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows
from tgraph.kernels.quotient import Moves, Quotient


@operator
def move_vertices(
    graph: Quotient, community: Tensor, bound: Tensor | None, batch: Tensor | None, moves: Moves
) -> tuple[Tensor, int]:
    """See `tgraph.primitives.communities.move`."""
    mover = _Mover(graph, community.clone(), bound, batch, moves)
    moved = 0
    for sweep in range(moves.sweeps):
        visited = mover.waiting()
        if not len(visited):
            break
        dealt = mover.batch_of(moves.key + sweep, visited)
        before = moved
        for number in range(moves.batches):
            moved += mover.move(visited[dealt == number], moves.key + sweep, number)
        if moved - before <= moves.tolerance * graph.num_vertices:
            break
    return mover.community, moved


@operator
def contract_groups(graph: Quotient, group: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """See `tgraph.primitives.communities.contract`."""
    src, dst = group[sorting.expand_rows(graph.offset)], group[graph.neighbors.long()]
    between = src != dst
    pair, arc = torch.unique(src[between] * count + dst[between], return_inverse=True)
    weights = torch.ones(len(src), dtype=torch.float64, device=src.device) if graph.weights is None else graph.weights
    summed = weights.new_zeros(len(pair)).index_add_(0, arc, weights[between])
    offset = src.new_zeros(count + 1)
    torch.cumsum(torch.bincount(pair // max(count, 1), minlength=count), 0, out=offset[1:])
    return offset, (pair % max(count, 1)).to(graph.neighbors.dtype), summed


@operator
def number_groups(label: Tensor) -> tuple[Tensor, Tensor]:
    """See `tgraph.primitives.communities.number`."""
    names, group = torch.unique(label, return_inverse=True)
    position = torch.arange(len(label), device=label.device)
    first = torch.full_like(names, len(label)).scatter_reduce_(0, group, position, "amin")
    first, order = first.sort()
    rank = torch.empty_like(order).scatter_(0, order, torch.arange(len(order), device=label.device))
    return rank[group], first


@operator
def sum_inside(graph: Graph, group: Tensor, weighted: bool) -> Tensor:
    """See `tgraph.primitives.communities.inside`; an undirected self-loop counts twice."""
    src, dst = sorting.expand_rows(graph.offset), graph.neighbors.long()
    ones = torch.ones(len(src), dtype=torch.float64, device=src.device)
    weight = graph.weights if weighted and graph.weights is not None else ones
    weight = torch.where((src == dst) & (not graph.directed), 2 * weight, weight) * (group[src] == group[dst])
    return weight.new_zeros(len(group)).index_add_(0, src, weight)


class _Mover:
    """The communities, their strengths, and who is to be visited."""

    def __init__(self, graph: Quotient, community: Tensor, bound: Tensor | None, batch: Tensor | None, moves: Moves):
        self.graph, self.community, self.bound, self.batch, self.moves = graph, community, bound, batch, moves
        self.strengths = [graph.out_strength] + ([] if graph.in_strength is None else [graph.in_strength])
        self.totals = [torch.zeros_like(each).index_add_(0, community, each) for each in self.strengths]
        self.degree = graph.offset.diff()
        self.stirred = self.degree + 1  # arcs to vertices that moved since the last visit
        if bound is not None:
            self.of_bound = [torch.zeros_like(each).index_add_(0, bound, each) for each in self.strengths]

    def waiting(self) -> Tensor:
        """The vertices to visit."""
        return (self.stirred > self.moves.stirred_share * self.degree.double()).nonzero().squeeze(1)

    def move(self, visited: Tensor, key: int, batch: int) -> int:
        """Moves the vertices of a batch; how many have moved."""
        self.stirred[visited] = 0
        if self.bound is not None:
            visited = visited[self._is_alone(visited, self.community[visited])]
        if not len(visited):
            return 0
        own, target = self.community[visited], self._best(visited)
        swap = (target > own) & self._is_alone(visited, own) & (self.community[target] == target)
        swap &= self._is_alone(target, target) & (self.batch_of(key, target) == batch)
        if self.bound is not None:
            chosen = self.community.clone()
            chosen[visited] = torch.where(swap, own, target)
            swap |= (target != own) & (chosen[target] != target)
        self.stirred[visited[swap]] = self.degree[visited[swap]] + 1
        goes = (target != own) & ~swap
        self._apply(visited[goes], own[goes], target[goes])
        return int(goes.sum())

    def _apply(self, vertex: Tensor, own: Tensor, target: Tensor) -> None:
        for total, strength in zip(self.totals, self.strengths, strict=True):
            total.index_add_(0, own, -strength[vertex]).index_add_(0, target, strength[vertex])
        self.community[vertex] = target
        if self.bound is None:
            offset, arcs = gather_rows(self.graph.offset, vertex)
            source = vertex.repeat_interleave(offset.diff())
            reached = self.graph.neighbors[arcs].long()
            outside = (self.community[reached] != self.community[source]) & (reached != source)
            self.stirred.index_add_(0, reached[outside], torch.ones_like(reached[outside]))

    def _best(self, visited: Tensor) -> Tensor:
        """The community that each vertex prefers: of equals its own, else one by chance; without a null model, the one
        of them that all vertices draw."""
        n, place = self.graph.num_vertices, torch.arange(len(visited), device=visited.device)
        pair, weight, total = self._neighbor_weights(visited)
        row, community = pair // n, pair % n
        vertex, own = visited[row], self.community[visited]
        is_own = community == own[row]
        score = weight - self._expected(self.totals, vertex, community, is_own)
        highest = score.new_full((len(visited),), -torch.inf).scatter_reduce_(0, row, score, "amax")
        is_best = score == highest[row]
        is_propagation = self.moves.scale == 0 and self.batch is None
        if self.batch is None:
            key = self.moves.key if is_propagation else self.moves.key + vertex
            word = random.words(key, community) ^ (-(2**63))  # unsigned words by their order
        else:
            word = -community
        if not is_propagation:
            word = torch.where(is_own, -(2**63), word)
        word = torch.where(is_best, word, 2**63 - 1)
        least = torch.full_like(visited, 2**63 - 1).scatter_reduce_(0, row, word, "amin")
        best = own.clone()
        chosen = is_best & (word == least[row])
        best[row[chosen]] = community[chosen]
        best = torch.where((highest < 0) & (self.totals[0][visited] == 0), visited, best)
        if self.bound is not None:
            bound = self.bound[visited]
            best = torch.where(total < self._expected(self.of_bound, visited, bound, place >= 0), own, best)
        return best

    def _neighbor_weights(self, visited: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(row * n + community, the weight of its arcs to that community), the own one always among them, and the
        weight of the arcs of each row that count."""
        graph, n = self.graph, self.graph.num_vertices
        place = torch.arange(len(visited), device=visited.device)
        offset, arcs = gather_rows(graph.offset, visited)
        row, reached = place.repeat_interleave(offset.diff()), graph.neighbors[arcs].long()
        weight = graph.out_strength.new_ones(len(row)) if graph.weights is None else graph.weights[arcs]
        counts = reached != visited[row]
        if self.bound is not None:
            counts &= self.bound[reached] == self.bound[visited[row]]
        row, reached, weight = row[counts], reached[counts], weight[counts]
        keys = torch.cat((row * n + self.community[reached], place * n + self.community[visited]))
        pair, entry = torch.unique(keys, return_inverse=True)
        summed = weight.new_zeros(len(pair)).index_add_(0, entry[: len(row)], weight)
        return pair, summed, weight.new_zeros(len(visited)).index_add_(0, row, weight)

    def _expected(self, totals: list[Tensor], vertex: Tensor, group: Tensor, is_member: Tensor) -> Tensor:
        """The weight expected between vertices and groups, of which they are members or not."""
        mine = [each[vertex] for each in self.strengths]
        others = [total[group] - torch.where(is_member, own, 0) for total, own in zip(totals, mine, strict=True)]
        if len(mine) == 1:
            return self.moves.scale * (mine[0] * others[0])
        return self.moves.scale * (mine[0] * others[1] + mine[1] * others[0])

    def _is_alone(self, vertex: Tensor, community: Tensor) -> Tensor:
        pairs = zip(self.totals, self.strengths, strict=True)
        return torch.stack([total[community] == strength[vertex] for total, strength in pairs]).all(0)

    def batch_of(self, key: int, vertex: Tensor) -> Tensor:
        """The batches of a sweep that vertices are in."""
        if self.batch is not None:
            return self.batch[vertex]
        return (((random.words(key, vertex) >> 32) & (2**32 - 1)) * self.moves.batches) >> 32
