"""Minimum spanning forest by Boruvka's rounds on a union-find."""

from __future__ import annotations

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.operators.trees import spanning_forest as operators
from tgraph.primitives import weights as kinds
from tgraph.primitives.simple_graph import refuse_directed


def spanning_forest(graph: Graph, weights: Tensor | None) -> Tensor:
    """Where the edges of the minimum spanning forest are stored, int64 [k]: the position of one arc of each.

    `graph` is undirected, `weights` [m] or None, equal for the two arcs of an edge. Of equal weights the edge of the
    smaller ends comes first. O(m log n). Raises ArgumentError for a directed graph, and for weights that are NaN.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 2, 3], directed=False)
    >>> places = tg.primitives.spanning_forest.spanning_forest(graph, graph.weights)
    >>> graph.to_edge_index()[:, places].sort(dim=0).values
    tensor([[0, 1],
            [1, 2]])
    """
    return _chosen(graph, weights).nonzero().squeeze(1)


def spanning_rows(graph: Graph, weights: Tensor | None) -> tuple[Tensor, Tensor]:
    """The rows of the minimum spanning forest: (offset int64 [n + 1], places int64), the latter where its arcs, two for
    each edge, are stored in `graph`. `weights` and errors are those of `spanning_forest`.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 2, 3], directed=False)
    >>> offset, places = tg.primitives.spanning_forest.spanning_rows(graph, graph.weights)
    >>> offset, graph.neighbors[places]
    (tensor([0, 1, 3, 4]), tensor([1, 0, 2, 1], dtype=torch.int32))
    """
    chosen = _chosen(graph, weights)
    return operators.both_ways(graph.offset, graph.neighbors, chosen)


def _chosen(graph: Graph, weights: Tensor | None) -> Tensor:
    """One arc of each edge of the forest, bool [m]."""
    refuse_directed(graph)
    graph.ensure_valid()
    if weights is not None:
        kinds.check_values(graph, weights, "ranks", "spanning forests")
    return operators.spanning_forest(graph.offset, graph.neighbors, weights)
