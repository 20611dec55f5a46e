"""Shortest paths in torch operators: rounds over the arcs of vertices whose distance fell (Bellman-Ford)."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows, offset_of


@operator
def hops(graph: Graph, source: int, target: int) -> int:
    """See `tgraph.primitives.shortest_paths.hops`; -1 where there is no path."""
    return len(fewest_hops(graph, source, target)) - 1


@operator
def fewest_hops(graph: Graph, source: int, target: int) -> Tensor:
    """See `tgraph.primitives.shortest_paths.fewest_hops`."""
    hops = Graph(graph.offset, graph.neighbors)
    return _vertices(graph, path_to(bellman_ford(hops, _one(graph, source))[1], target))


@operator
def shortest_path(graph: Graph, source: int, target: int, bound: Tensor | None) -> tuple[Tensor, float]:
    """See `tgraph.primitives.shortest_paths.shortest_path`; a bound changes the work alone, and is not used."""
    distance, parent, _ = bellman_ford(graph, _one(graph, source))
    return _vertices(graph, path_to(parent, target)), distance[target].item()


@operator
def k_shortest(graph: Graph, source: int, target: int, count: int, weighted: bool) -> list[tuple[list[int], float]]:
    """See `tgraph.primitives.shortest_paths.k_shortest`: Yen's algorithm, a search for each vertex of each path."""
    tail, weights = sorting.expand_rows(graph.offset), graph.weights if weighted else None

    def length(path: list[int]) -> float:
        total: float = 0
        for u, v in pairwise(path):
            row = slice(int(graph.offset[u]), int(graph.offset[u + 1]))
            total += 1 if weights is None else weights[row][graph.neighbors[row] == v].min().item()
        return total

    def without(closed: list[int], start: int, taken: list[int]) -> Graph:
        barred = torch.isin(graph.neighbors, torch.tensor(closed, device=graph.device, dtype=torch.int64))
        barred |= (tail == start) & torch.isin(graph.neighbors, torch.tensor(taken, device=graph.device))
        left = None if weights is None else weights[~barred]
        degree = torch.bincount(tail[~barred], minlength=graph.num_vertices)
        return Graph(offset_of(degree), graph.neighbors[~barred], left)

    def best(arcs: Graph, start: int) -> list[int]:
        return path_to(bellman_ford(arcs, _one(graph, start))[1], target)

    accepted: list[list[int]] = []
    first = best(without([], source, []), source)
    candidates = {tuple(first): length(first)} if first else {}
    while candidates and len(accepted) < count:
        least = min(candidates, key=lambda path: (candidates[path], path))
        candidates.pop(least)
        path = list(least)
        accepted.append(path)
        for i in range(len(path) - 1):
            root = path[: i + 1]
            taken = [other[i + 1] for other in accepted if other[: i + 1] == root and len(other) > i + 1]
            if rest := best(without(root, path[i], taken), path[i]):
                candidates[tuple(root[:-1] + rest)] = length(root[:-1] + rest)
    return [(path, length(path)) for path in accepted]


def _one(graph: Graph, vertex: int) -> Tensor:
    return torch.tensor([vertex], device=graph.device)


def _vertices(graph: Graph, path: list[int]) -> Tensor:
    return torch.tensor(path, dtype=torch.int64, device=graph.device)


def path_to(parent: Tensor, target: int) -> list[int]:
    """From the root of the tree to the target; inherently sequential."""
    above, path = parent.tolist(), [target]
    if above[target] < 0:
        return []
    while above[path[-1]] != path[-1]:
        path.append(above[path[-1]])
    return path[::-1]


@operator
def parents(graph: Graph, distance: Tensor, parent: Tensor) -> None:
    """See `tgraph.primitives.shortest_paths.parents`; written into `parent`, which holds the sources."""
    n = graph.num_vertices
    u, v = sorting.expand_rows(graph.offset), graph.neighbors.to(torch.int64)
    weight = torch.ones_like(u) if graph.weights is None else graph.weights.detach()
    reached = (distance >= 0) & (distance != torch.inf)
    tight = (distance[u] + weight.to(distance.dtype) == distance[v]) & reached[u] & reached[v] & (parent[v] < 0)
    u, v = u[tight], v[tight]

    def adopt(arc: Tensor) -> None:
        """The smallest of the sources of the arcs becomes the parent."""
        least = torch.full_like(parent, n).scatter_reduce(0, v[arc], u[arc], "amin")
        parent.copy_(torch.where(least < n, least, parent))

    adopt(distance[u] < distance[v])
    while len(v):
        waits = parent[v] < 0
        u, v = u[waits], v[waits]
        arc = parent[u] >= 0
        if not bool(arc.any()):
            return
        adopt(arc)


@operator
def bellman_ford(graph: Graph, sources: Tensor) -> tuple[Tensor, Tensor, list[int]]:
    """See `tgraph.primitives.shortest_paths.bellman_ford`; (distance, parent, the negative cycle).

    A round takes for each vertex the best of what comes along the arcs of those whose distance fell in the round
    before, from the smallest of equals. Every doubling of the rounds the parents are searched for a cycle, which has
    a negative weight: it was closed by a distance that fell.
    """
    n, device = graph.num_vertices, graph.device
    weights = graph.weights
    dtype = torch.float64 if weights is not None and weights.is_floating_point() else torch.int64
    unreached = torch.inf if dtype.is_floating_point else torch.iinfo(dtype).max
    weight = torch.ones(graph.num_arcs, dtype=dtype, device=device) if weights is None else weights.detach().to(dtype)
    distance = torch.full((n,), unreached, dtype=dtype, device=device)
    parent = torch.full((n,), -1, dtype=torch.int64, device=device)
    active = sources.unique()
    distance[active] = 0
    rounds, look_at = 0, 8
    while len(active):
        selected, position = gather_rows(graph.offset, active)
        u, v = active[sorting.expand_rows(selected)], graph.neighbors[position].to(torch.int64)
        sent = distance[u] + weight[position]
        best = distance.scatter_reduce(0, v, sent, "amin")
        fell = best < distance
        chosen = fell[v] & (sent == best[v])
        parent[fell] = torch.full_like(parent, n).scatter_reduce(0, v[chosen], u[chosen], "amin")[fell]
        distance, active = best, fell.nonzero().flatten()
        rounds += 1
        if rounds == look_at:
            look_at *= 2
            if cycle := cycle_of(parent):
                return distance, parent, cycle
    parent[sources] = torch.where(parent[sources] < 0, sources, parent[sources])
    return distance, parent, []


def cycle_of(parent: Tensor) -> list[int]:
    """A cycle of parents along the arcs, empty where there is none; -1 is no parent."""
    n = len(parent)
    outside = torch.full((1,), n, device=parent.device)
    far = torch.cat((torch.where(parent < 0, n, parent), outside))
    for _ in range(n.bit_length()):
        far = far[far]
    inside = (far[:n] < n).nonzero().flatten()
    if not len(inside):
        return []
    start = int(far[inside[0]])
    above, cycle = parent.tolist(), [start]
    while above[cycle[-1]] != start:
        cycle.append(above[cycle[-1]])
    return cycle[::-1]
