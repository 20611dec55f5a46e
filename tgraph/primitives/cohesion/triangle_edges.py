"""Sums over the triangles of an undirected simple graph: per edge, per vertex by values of edges, and by kinds.

Each function takes a graph without parallel edges and self-loops, as `simple_graph.simple` returns it, and lists every
triangle once (Chiba and Nishizeki, SIAM J. Computing 1985): O(m^1.5).
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.cohesion import squares as squares_of
from tgraph.kernels.operators.cohesion import triangle_edges as operators


def edge_triangles(graph: Graph) -> Tensor:
    """The triangles that each arc is in, int64 [m]; both arcs of an edge have the same.

    >>> graph = tg.generators.lollipop(3, 1)
    >>> tg.primitives.triangle_edges.edge_triangles(graph)
    tensor([1, 1, 1, 1, 1, 1, 0, 0])
    >>> graph.to_edge_index()
    tensor([[0, 0, 1, 1, 2, 2, 2, 3],
            [1, 2, 0, 2, 0, 1, 3, 2]])
    """
    graph.ensure_valid()
    return operators.edge_triangles(graph.offset, graph.neighbors, graph.transpose_permutation)


def triangle_products(graph: Graph, value: Tensor | None = None) -> Tensor:
    """For each vertex the sum over its triangles of the product of the values of their three edges, float64 [n].

    `value`: numbers [m], equal for the two arcs of an edge; None for the weights, 1 without. The order of additions is
    fixed.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], [2, 3, 5], directed=False)
    >>> tg.primitives.triangle_edges.triangle_products(graph, graph.weights)
    tensor([30., 30., 30.], dtype=torch.float64)
    """
    if value is None:
        return operators.weighted_triangles(graph)
    _check_arc_data(graph, value, "value")
    value = value.to(torch.float64)
    return operators.triangle_products(graph.offset, graph.neighbors, value, graph.transpose_permutation)


def triangle_codes(graph: Graph, code: Tensor) -> Tensor:
    """How many triangles u, v, w there are by the codes of u - w, v - w and u - v, int64 [4, 4, 4].

    `code`: 0 to 3 for each arc, [m]. Which of the three corners is u, which v and which w is left open.

    >>> graph = tg.generators.complete(4)
    >>> codes = tg.primitives.triangle_edges.triangle_codes(graph, torch.ones(graph.num_arcs, dtype=torch.int64))
    >>> codes.nonzero(), codes.sum()
    (tensor([[1, 1, 1]]), tensor(4))
    """
    _check_arc_data(graph, code, "code")
    code = code.to(torch.uint8)
    return operators.triangle_codes(graph.offset, graph.neighbors, code, graph.transpose_permutation)


def squares(graph: Graph) -> Tensor:
    """The cycles of four vertices that each vertex is in, int64 [n], with chords or without. O(a m) with arboricity
    a, at most m^1.5.

    >>> tg.primitives.triangle_edges.squares(tg.generators.cycle(4))
    tensor([1, 1, 1, 1])
    """
    graph.ensure_valid()
    return squares_of.count_squares(graph.offset, graph.neighbors)


def _check_arc_data(graph: Graph, values: Tensor, name: str) -> None:
    graph.ensure_valid()
    if values.shape != (graph.num_arcs,):
        raise ArgumentError(f"{name}: expected a number for each arc, [{graph.num_arcs}], got {list(values.shape)}")
