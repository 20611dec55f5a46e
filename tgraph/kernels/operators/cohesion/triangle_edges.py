"""Sums over the triangles of an undirected simple graph, in torch operators."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph
from tgraph.kernels.operators.cohesion.intersect import closed_pairs, towards_hubs


@operator
def edge_triangles(offset: Tensor, neighbors: Tensor, mirror: Tensor) -> Tensor:
    """The triangles that each arc is in, int64 [m]; `mirror` [m] is the position of the reverse of each arc."""
    found = torch.zeros(len(neighbors), dtype=torch.int64, device=offset.device)
    for arcs in stored_triangles(offset, neighbors):
        for arc in arcs:
            found += torch.bincount(arc, minlength=len(found))
    return found + found.index_select(0, mirror)


@operator
def triangle_products(offset: Tensor, neighbors: Tensor, value: Tensor, mirror: Tensor) -> Tensor:
    """For each vertex the sum over its triangles of the product of their edges' values, float64 [n].

    `value` is float64 [m], equal for the two arcs of an edge; `mirror` as in `edge_triangles`."""
    source, target = sorting.expand_rows(offset), neighbors.to(torch.int64)
    found = torch.zeros(len(offset) - 1, dtype=torch.float64, device=offset.device)
    for first, second, third in stored_triangles(offset, neighbors):
        product = value[first] * value[second] * value[third]
        for corner in (source[first], target[first], target[second]):
            found.index_add_(0, corner, product)
    return found


@operator
def weighted_triangles(graph: Graph) -> Tensor:
    """`triangle_products` of the weights of an undirected simple graph, float64 [n]; each is 1 where there are none."""
    value = torch.ones(graph.num_arcs, device=graph.device) if graph.weights is None else graph.weights
    return triangle_products(graph.offset, graph.neighbors, value.to(torch.float64), graph.transpose_permutation)


@operator
def triangle_codes(offset: Tensor, neighbors: Tensor, code: Tensor, mirror: Tensor) -> Tensor:
    """How many triangles u, v, w there are by the codes of their edges, int64 [4, 4, 4]: of u - w, of v - w, of u - v.

    `code` is uint8 [m], below 4: bit 0 says that the arc is there, bit 1 that its reverse is. In which of its six
    orders a triangle is counted is left open, so that only sums over all of them mean something."""
    found = torch.zeros(64, dtype=torch.int64, device=offset.device)
    value = code.to(torch.int64)
    for first, second, third in stored_triangles(offset, neighbors):
        found += torch.bincount(value[first] | value[second] << 2 | value[third] << 4, minlength=64)
    return found.view(4, 4, 4)


def stored_triangles(offset: Tensor, neighbors: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The triangles u, v, w, some at a time, as the stored positions [t] of their arcs u -> v, v -> w and u -> w."""
    graph = Graph(offset, neighbors, directed=False)
    n = max(graph.num_vertices, 1)
    stored = sorting.expand_rows(offset) * n + neighbors
    vertices, source, key, _ = towards_hubs(graph)
    place = torch.searchsorted(stored, vertices[source] * n + vertices[key % n])
    for first, second, third in closed_pairs(graph.num_vertices, source, key):
        yield place[first], place[third], place[second]
