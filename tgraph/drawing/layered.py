"""Layered drawings of acyclic graphs, from top to bottom (Sugiyama, Tagawa and Toda, "Methods for visual understanding
of hierarchical system structures", 1981)."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.model.operators import aggregate

SWEEPS = 12


def layered(graph: Graph, *, sweeps: int = SWEEPS) -> Tensor:
    """Positions of the vertices of a directed acyclic `graph`, float64 [n, 2]: the layer of a vertex, -y, is the length
    of the longest path to it, and within a layer vertices are near the mean of their neighbours, by `sweeps` sweeps.
    Raises ArgumentError for an undirected graph or one with a cycle.

    >>> graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    >>> tg.drawing.layered(graph)
    tensor([[ 0.0000, -0.0000],
            [-0.5000, -1.0000],
            [ 0.5000, -1.0000],
            [ 0.0000, -2.0000]], dtype=torch.float64)
    """
    if not graph.directed:
        raise ArgumentError("graph: layers follow the directions of edges, and it is undirected; use forceatlas2")
    plain = graph.decoded()
    plain = Graph(plain.offset, plain.neighbors, directed=True)
    depth = _depths(plain)
    n, both = plain.num_vertices, plain.to_undirected()
    x = torch.arange(n, dtype=torch.float64, device=graph.device)
    x = _ranked(x, depth)
    degree = both.out_degree.clamp(min=1)
    for _ in range(sweeps):
        middle = aggregate(both, x, "sum") / degree
        x = _ranked(torch.where(both.out_degree > 0, (middle + x) / 2, x), depth)
    return torch.stack((x, -depth.to(torch.float64)), 1)


def _depths(graph: Graph) -> Tensor:
    """The length of the longest path to each vertex, int64 [n]: sources are removed round by round."""
    left = graph.in_degree.clone()
    depth = torch.zeros_like(left)
    frontier, layer, removed = (left == 0).nonzero()[:, 0], 0, 0
    while len(frontier):
        depth[frontier] = layer
        removed, layer = removed + len(frontier), layer + 1
        count = graph.offset[frontier + 1] - graph.offset[frontier]
        arc = torch.repeat_interleave(graph.offset[frontier] - count.cumsum(0) + count, count)
        arc += torch.arange(len(arc), device=arc.device)
        reached, times = graph.neighbors[arc].to(torch.int64).unique(return_counts=True)
        left[reached] -= times
        frontier = reached[left[reached] == 0]
    if removed < graph.num_vertices:
        vertex = int((left > 0).nonzero()[0])
        raise ArgumentError(f"graph: vertex {vertex} is on a cycle or behind one; layers need a graph without cycles")
    return depth


def _ranked(x: Tensor, depth: Tensor) -> Tensor:
    """The position of each vertex within its layer in the order of x, with layers centred at 0."""
    order = x.argsort(stable=True)
    order = order[depth[order].argsort(stable=True)]
    size = depth.bincount()
    first = (size.cumsum(0) - size)[depth[order]]
    place = torch.arange(len(x), device=x.device) - first - (size[depth[order]] - 1) / 2
    return torch.empty_like(x).index_copy_(0, order, place.to(x.dtype))
