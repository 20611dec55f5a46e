"""Biconnected components of an undirected graph: sets of edges any two of which lie on a cycle.

Two of them share at most one vertex, an articulation point: without it the graph falls apart. A component of one edge
is a bridge. Trees of a breadth-first search tell where the components hang on each other (FAST-BCC: Dong, Wang, Gu and
Sun, "Provably fast and space-efficient parallel biconnectivity", PPoPP 2023): each vertex but the roots is in one
component towards its root, and the vertex of that nearest to the root is its head. O(n + m).
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


def biconnected_components(graph: tg.Graph, *, backend: str = "auto") -> tuple[Tensor, Tensor]:
    """Biconnected components: (offset, vertices), where component i has vertices[offset[i]:offset[i + 1]], in ascending
    order; int64 [k + 1] and int64.

    Vertices without edges to others are in none, cut vertices are in several. Components come in a fixed order, that of
    the smallest vertex but the head. Raises ArgumentError for a directed graph.
    `backend` names the kernels.

    >>> offset, vertices = tg.algorithms.biconnected_components(tg.generators.lollipop(3, 2))
    >>> [component.tolist() for component in vertices.tensor_split(offset[1:-1])]
    [[0, 1, 2], [2, 3], [3, 4]]
    """
    number, head, count = _numbered(graph, backend)
    below = (head >= 0).nonzero().flatten()
    first = torch.full((count,), graph.num_vertices, dtype=torch.int64, device=graph.device)
    first.scatter_reduce_(0, number[below], below, "amin")
    member = torch.cat((below, head[first])), torch.cat((number[below], torch.arange(count, device=graph.device)))
    size = max(graph.num_vertices, count)
    rows = tg.Graph.from_edges(member[1], member[0], num_vertices=size)
    return rows.offset[: count + 1].clone(), rows.neighbors.to(torch.int64)


def biconnected_edges(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """The biconnected component of each arc, numbered as by `biconnected_components`, int64 [m]: both arcs of an edge
    have the same. -1 for self-loops, which are in none. Raises ArgumentError for a directed graph.
    `backend` names the kernels.

    >>> graph = tg.generators.lollipop(3, 1)
    >>> tg.algorithms.biconnected_edges(graph)
    tensor([0, 0, 0, 0, 0, 0, 1, 1])
    >>> graph.to_edge_index()
    tensor([[0, 0, 1, 1, 2, 2, 2, 3],
            [1, 2, 0, 2, 0, 1, 3, 2]])
    """
    number, head, _ = _numbered(graph, backend)
    u, v = graph.to_edge_index()
    of_u, of_v = number.index_select(0, u), number.index_select(0, v)
    component = torch.where((head.index_select(0, u) == v) | (of_u == of_v), of_u, of_v)
    return component.masked_fill_(u == v, -1)


def articulation_points(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """Vertices without which their connected component falls apart: int64 [k], in ascending order.

    Raises ArgumentError for a directed graph.
    `backend` names the kernels.

    >>> tg.algorithms.articulation_points(tg.generators.lollipop(3, 2))
    tensor([2, 3])
    """
    component, head = tg.primitives.components.biconnect(graph, backend=backend)
    vertex = torch.arange(graph.num_vertices, device=graph.device)
    names = (component == vertex) & (head >= 0)
    components = head[names].bincount(minlength=graph.num_vertices) + (head >= 0)
    return (components > 1).nonzero().flatten()


def bridges(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """Edges that lie on no cycle: (u, v) with u < v, int64 [2, k], in ascending order.

    Of parallel edges none is a bridge. Raises ArgumentError for a directed graph.
    `backend` names the kernels.

    >>> tg.algorithms.bridges(tg.generators.lollipop(3, 2))
    tensor([[2, 3],
            [3, 4]])
    """
    number, head, count = _numbered(graph, backend)
    below = (head >= 0).nonzero().flatten()
    alone = number[below].bincount(minlength=count) == 1
    lower = below[alone.index_select(0, number[below])]
    if graph.num_parallel_edges:
        u, v = graph.to_edge_index()
        upward = u[v == head.index_select(0, u)].bincount(minlength=graph.num_vertices)
        lower = lower[upward[lower] == 1]
    least, largest = torch.minimum(lower, head[lower]), torch.maximum(lower, head[lower])
    order = (least * graph.num_vertices + largest).argsort()
    return torch.stack((least[order], largest[order]))


def _numbered(graph: tg.Graph, backend: str) -> tuple[Tensor, Tensor, int]:
    """The number of the component towards the root, and its head, for each vertex, -1 at a root; and their count."""
    component, head = tg.primitives.components.biconnect(graph, backend=backend)
    names = (component == torch.arange(graph.num_vertices, device=graph.device)) & (head >= 0)
    number = (names.cumsum(0) - 1).index_select(0, component)
    return number.masked_fill_(head < 0, -1), head, int(names.sum())
