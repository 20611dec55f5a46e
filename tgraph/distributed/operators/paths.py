"""Trees of shortest paths and searches from many sources over the parts of all ranks."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.distributed.data.sharded import Sharded
from tgraph.distributed.operators.arcs import Arcs, on_ranks
from tgraph.kernels.operators.centrality import multi_source
from tgraph.kernels.operators.paths import shortest_paths


@on_ranks(shortest_paths.parents)
def parents(graph: Graph, distance: Sharded, parent: Sharded) -> None:
    arcs, length, own = Arcs(graph.transpose()), distance.local, parent.local
    n, weights = graph.num_vertices, arcs.weights
    start, end = arcs.at_others(length), length.index_select(0, arcs.row)
    weight = torch.ones_like(start) if weights is None else weights.to(length.dtype)
    reached = [(each >= 0) & (each != torch.inf) for each in (start, end)]
    tight = (start + weight == end) & reached[0] & reached[1] & (own.index_select(0, arcs.row) < 0)
    nearer = (start < end)[tight]
    arcs.keep(tight)

    def adopt(mask: Tensor) -> None:
        """The smallest of the sources of the arcs becomes the parent."""
        least = torch.full_like(own, n)
        least.scatter_reduce_(0, arcs.row[mask], arcs.numbers.index_select(0, arcs.other[mask]), "amin")
        own.copy_(torch.where(least < n, least, own))

    adopt(nearer)
    while True:
        arcs.keep(own.index_select(0, arcs.row) < 0)
        follows = arcs.at_others(own) >= 0
        if not arcs.is_any(follows.any()):
            return
        adopt(follows)


@on_ranks(shortest_paths.hops)
def hops(graph: Graph, source: int, target: int) -> int:
    return len(fewest_hops(graph, source, target)) - 1


@on_ranks(shortest_paths.fewest_hops)
def fewest_hops(graph: Graph, source: int, target: int) -> Tensor:
    return _path(graph, source, target, weighted=False)[0]


@on_ranks(shortest_paths.shortest_path)
def shortest_path(graph: Graph, source: int, target: int, bound: Tensor | None) -> tuple[Tensor, float]:
    return _path(graph, source, target, weighted=True)


def _path(graph: Graph, source: int, target: int, weighted: bool) -> tuple[Tensor, float]:
    """(the vertices of a shortest path, its length)"""
    start = torch.tensor([source], device=graph.device)
    distance, parent, _ = bellman_ford(graph, start, weighted)
    path = shortest_paths.path_to(parent.full_tensor(), target)  # type: ignore[attr-defined]
    return torch.tensor(path, dtype=torch.int64, device=graph.device), distance[target].item()


@on_ranks(shortest_paths.bellman_ford)
def bellman_ford(graph: Graph, sources: Tensor, weighted: bool = True) -> tuple[Tensor, Tensor, list[int]]:
    arcs, n, held = Arcs(graph.transpose()), graph.num_vertices, graph.weight_dtype if weighted else None
    dtype = torch.float64 if held is not None and held.is_floating_point else torch.int64
    unreached = torch.inf if dtype.is_floating_point else torch.iinfo(dtype).max
    numbers = arcs.numbers[: arcs.ownership.num_own]
    active = torch.isin(numbers, sources)
    distance = torch.where(active, 0, unreached).to(dtype)
    parent = torch.full_like(numbers, -1)
    ones = torch.ones_like(arcs.row, dtype=dtype)
    weight = ones if arcs.weights is None or not weighted else arcs.weights.detach().to(dtype)
    rounds, look_at = 0, 8
    while arcs.is_any(active.any()):
        along = arcs.at_others(active)
        row, other = arcs.row[along], arcs.other[along]
        sent = arcs.at_both(distance).index_select(0, other) + weight[along]
        best = distance.scatter_reduce(0, row, sent, "amin")
        active = best < distance
        chosen = active[row] & (sent == best[row])
        least = torch.full_like(parent, n).scatter_reduce(0, row[chosen], arcs.numbers[other[chosen]], "amin")
        parent, distance, rounds = torch.where(active, least, parent), best, rounds + 1
        if rounds == look_at:
            look_at *= 2
            if cycle := shortest_paths.cycle_of(arcs.ownership.concatenate(parent)[0]):
                return arcs.spread(distance), arcs.spread(parent), cycle
    parent = torch.where(torch.isin(numbers, sources) & (parent < 0), numbers, parent)
    return arcs.spread(distance), arcs.spread(parent), []


@on_ranks(multi_source.count_levels)
def count_levels(graph: Graph, sources: Tensor) -> Tensor:
    arcs, counts = Arcs(graph.transpose()), []
    own = arcs.numbers[: arcs.ownership.num_own]
    front = own[:, None] == sources
    seen = front.clone()
    while arcs.is_any(front.any()):
        counts.append(arcs.ownership.sum(front.sum(0)))
        reached = torch.zeros_like(front, dtype=torch.int32).index_add_(0, arcs.row, arcs.at_others(front).int())
        front = (reached > 0) & ~seen
        seen |= front
    return torch.stack(counts, 1) if counts else sources.new_zeros((len(sources), 0))
