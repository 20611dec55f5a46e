"""Common neighbours of adjacent vertices in torch operators: arcs are turned towards the end of larger degree, and
every pair of arcs that leave a vertex is closed by a search for the third (Chiba and Nishizeki 1985)."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph
from tgraph.core.system import devices

# Pairs of arcs that are looked at together; each takes some 50 bytes.
PAIRS = 1 << 21


@operator
def count_triangles(graph: Graph, per_vertex: bool) -> Tensor:
    """Triangles of an undirected graph, int64 [], or those at each vertex, int64 [n]."""
    vertices, source, key, _ = towards_hubs(graph)
    total = torch.zeros((), dtype=torch.int64, device=graph.device)
    found = torch.zeros(graph.num_vertices if per_vertex else 0, dtype=torch.int64, device=graph.device)
    target = key % max(graph.num_vertices, 1)
    for first, second, _ in closed_pairs(graph.num_vertices, source, key):
        total += len(first)
        if per_vertex:
            for corner in (source[first], target[first], target[second]):
                found += torch.bincount(corner, minlength=graph.num_vertices)
    return torch.empty_like(found).index_copy_(0, vertices, found) if per_vertex else total


@operator
def count_arcs_among(graph: Graph) -> Tensor:
    """For each vertex of an undirected graph the edges between its neighbours, int64 [n].

    An edge that is stored more than once counts twice: it stands for an arc either way.
    """
    vertices, source, key, copies = towards_hubs(graph)
    weight = copies.clamp(max=2)
    found = torch.zeros(graph.num_vertices, dtype=torch.int64, device=graph.device)
    target = key % max(graph.num_vertices, 1)
    for first, second, third in closed_pairs(graph.num_vertices, source, key):
        for corner, opposite in ((source[first], third), (target[first], second), (target[second], first)):
            found.index_add_(0, corner, weight[opposite])
    return torch.empty_like(found).index_copy_(0, vertices, found)


def towards_hubs(graph: Graph) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The different edges as arcs from lower to higher rank by degree: (vertices [n] by rank, source [e], key [e],
    copies [e]). The key of u -> v is u n + v; keys ascend. `copies` says how often an edge is stored."""
    n = graph.num_vertices
    vertices = devices.sort(graph.out_degree)[1]
    rank = torch.empty_like(vertices).index_copy_(0, vertices, torch.arange(n, device=graph.device))
    source = rank.index_select(0, sorting.expand_rows(graph.offset))
    target = rank.index_select(0, graph.neighbors)
    upwards = source < target
    key, copies = torch.unique(source[upwards] * n + target[upwards], return_counts=True)
    return vertices, key // max(n, 1), key, copies


def closed_pairs(n: int, source: Tensor, key: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The triangles as positions [t] of their arcs u -> v, u -> w and v -> w, some at a time."""
    end = torch.searchsorted(source, source, right=True)  # where the row of each arc ends
    position = torch.arange(len(key), device=key.device)
    target = key % max(n, 1)
    later = end - position - 1
    pairs = later.cumsum(0)  # up to and with each arc
    begin = 0
    while begin < len(key):
        before = int(pairs[begin] - later[begin])
        stop = max(int(torch.searchsorted(pairs, before + PAIRS, right=True)), begin + 1)
        chosen = slice(begin, stop)
        first = position[chosen].repeat_interleave(later[chosen])
        shift = position[chosen] + 1 - (pairs[chosen] - later[chosen] - before)
        second = shift.repeat_interleave(later[chosen]) + torch.arange(len(first), device=key.device)
        wanted = target[first] * n + target[second]
        third = torch.searchsorted(key, wanted).clamp(max=len(key) - 1)
        closed = key[third] == wanted
        yield first[closed], second[closed], third[closed]
        begin = stop
