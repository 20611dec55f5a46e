"""Minimum spanning forest: the lightest edges that keep every component connected (Boruvka 1926).

Each tree takes its lightest edge to another tree, and all of these are merged at once, until none is left: at most
log n rounds, O(m log n). An edge of equal weight comes first by its smaller, then its larger end, so that the forest
is one and the same in every run.
"""

from __future__ import annotations

import torch

import tgraph as tg


def minimum_spanning_forest(graph: tg.Graph) -> tg.Graph:
    """Minimum spanning forest, the lightest edges that keep every component connected: the undirected graph on the same
    vertices with a tree for each component, of the least sum of weights; without weights all edges are equal. Its
    weights have the gradients of those chosen.

    Raises ArgumentError for a directed graph, and for weights that are NaN.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 2, 3], directed=False)
    >>> tg.algorithms.minimum_spanning_forest(graph).to_pandas()
       source  target  weight
    0       0       1       1
    1       1       2       2
    """
    return _forest(graph, 1)


def maximum_spanning_forest(graph: tg.Graph) -> tg.Graph:
    """The same of the largest sum of weights, with the same errors.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 2, 3], directed=False)
    >>> tg.algorithms.maximum_spanning_forest(graph).to_pandas()
       source  target  weight
    0       0       2       3
    1       1       2       2
    """
    return _forest(graph, -1)


def _forest(graph: tg.Graph, sign: int) -> tg.Graph:
    tg.primitives.simple_graph.refuse_directed(graph)
    arcs = graph.decoded()
    weights = arcs.weights
    if weights is not None and tg.primitives.implicit.is_wrapped(weights):
        raise tg.errors.ArgumentError(
            "weights: a forest is a graph, which cannot be made within torch.func; use torch.autograd.grad"
        )
    order = weights
    if weights is not None and sign < 0:
        order = -weights if weights.dtype.is_floating_point else ~weights.to(torch.int64)  # -w - 1, for any w
    offset, places = tg.primitives.spanning_forest.spanning_rows(arcs, order)
    kept = None if weights is None else weights.index_select(0, places)
    forest = tg.Graph(offset, arcs.neighbors.index_select(0, places), kept, vertices=graph.vertices, directed=False)
    return forest.with_columns_of(graph, places)
