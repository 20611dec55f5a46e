"""Matchings: sets of edges no two of which share a vertex, as the mate of each vertex, or -1, int64 [n].

Graphs are undirected; parallel edges and self-loops do not matter.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.matching import bipartite
from tgraph.kernels.operators.matching import suitor as operators
from tgraph.primitives import weights as kinds
from tgraph.primitives.simple_graph import refuse_directed


def maximal(graph: Graph, seed: int) -> Tensor:
    """A matching to which no edge can be added: that of a greedy pass over the edges in random order, drawn with
    the `seed`. O(m) expected.

    >>> tg.primitives.matching.maximal(tg.generators.path(2), seed=0)
    tensor([1, 0])
    """
    graph = _arcs(graph)
    return operators.random_matching(graph.offset, graph.neighbors, random.key(seed))


def heavy(graph: Graph, weights: Tensor) -> Tensor:
    """A matching of at least half of the largest weight, by a greedy pass over the edges of positive weight, the
    heaviest first, then those of smaller ends. `weights` [m] is equal for the two arcs of an edge. Raises ArgumentError
    for weights of another shape or NaN.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 5, 1], directed=False)
    >>> tg.primitives.matching.heavy(graph, graph.weights)
    tensor([-1,  2,  1, -1])
    """
    graph = _arcs(graph)
    kinds.check_values(graph, weights, "ranks", "matchings")
    return operators.heavy_matching(graph.offset, graph.neighbors, weights)


def maximum_bipartite(graph: Graph, left: Tensor) -> tuple[Tensor, Tensor]:
    """(mate, reached) of a maximum matching of a bipartite graph, and bool [n] who is on alternating paths from
    vertices of the left that are not matched. `left`, bool [n], marks one side. O(m sqrt(n)).

    Raises ArgumentError for an edge within a side.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [2, 3, 2], directed=False)
    >>> tg.primitives.matching.maximum_bipartite(graph, torch.tensor([True, True, False, False]))
    (tensor([3, 2, 1, 0]), tensor([False, False, False, False]))
    """
    graph = _arcs(graph)
    if left.shape != (graph.num_vertices,) or left.dtype != torch.bool:
        raise ArgumentError(
            f"left: expected a bool for each vertex, [{graph.num_vertices}], got {left.dtype} {list(left.shape)}"
        )
    side = left.repeat_interleave(graph.out_degree, output_size=graph.num_arcs)
    within = side == left.index_select(0, graph.neighbors)
    if bool(within.any()):
        arc = int(within.nonzero()[0])
        u, v = int(torch.searchsorted(graph.offset, arc, right=True)) - 1, int(graph.neighbors[arc])
        raise ArgumentError(f"left: the edge between {u} and {v} is within a side; the graph is not bipartite by it")
    return bipartite.bipartite_matching(graph.offset, graph.neighbors, left)


def _arcs(graph: Graph) -> Graph:
    refuse_directed(graph)
    graph = graph.decoded()
    graph.ensure_valid()
    return graph
