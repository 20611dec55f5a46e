"""Peeling by triangles: removing the edges that are in fewest, again and again."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.graph import Graph
from tgraph.kernels.operators.cohesion import truss as operators
from tgraph.primitives.cohesion.triangle_edges import edge_triangles
from tgraph.primitives.components import check_undirected


class Edges(NamedTuple):
    """The edges of an undirected simple graph in stored order, each once.

    ends : [2, e], the smaller vertex first. arc : where it is stored, int64 [e]. number : the edge of each arc,
    int64 [m].

    >>> edges = tg.primitives.k_truss.edges(tg.generators.path(3))
    >>> edges.ends, edges.arc, edges.number
    (tensor([[0, 1],
            [1, 2]], dtype=torch.int32), tensor([0, 2]), tensor([0, 0, 1, 1]))
    """

    ends: Tensor
    arc: Tensor
    number: Tensor


def edges(graph: Graph) -> Edges:
    """The edges of an undirected simple graph.

    >>> tg.primitives.k_truss.edges(tg.generators.star(3)).ends
    tensor([[0, 0, 0],
            [1, 2, 3]], dtype=torch.int32)
    """
    source = sorting.expand_rows(graph.offset, graph.neighbors.dtype)
    upwards = source < graph.neighbors
    arc = upwards.nonzero().squeeze(1)
    number = upwards.cumsum(0) - 1
    number = torch.where(upwards, number, sorting.take(number, graph.transpose_permutation))
    return Edges(torch.stack((sorting.take(source, arc), sorting.take(graph.neighbors, arc))), arc, number)


def truss_numbers(graph: Graph) -> Tensor:
    """For each arc the largest k so that its edge is in a subgraph in which every edge is in k - 2 triangles, int64
    [m]: 2 for an edge in no triangle.

    `graph` is undirected without parallel edges and self-loops, as `simple_graph.simple` returns it. O(m^1.5). Raises
    ArgumentError for a directed one.

    >>> tg.primitives.k_truss.truss_numbers(tg.generators.lollipop(3, 1))
    tensor([3, 3, 3, 3, 3, 3, 2, 2])
    """
    check_undirected(graph)
    found = edges(graph)
    triangles = sorting.take(edge_triangles(graph), found.arc)
    level = operators.peel_edges(graph.offset, graph.neighbors, found.number, found.ends, triangles)
    return sorting.take(level + 2, found.number)
