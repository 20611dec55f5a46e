"""Maximum flow and minimum cut between two vertices.

A flow gives each arc at most its capacity, and leaves as much of every vertex but the two as arrives there. The largest
that leaves the source is the least capacity of arcs that separate it from the target (Ford and Fulkerson, "Maximal flow
through a network", 1956). Found by Dinic's algorithm (1970): all shortest paths of the residual network are filled,
then all that are one arc longer, and so on. O(n^2 m), with few such phases in practice.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

import tgraph as tg


def maximum_flow(
    graph: tg.Graph, source: int, target: int, *, weighted: bool = True, backend: str = "auto"
) -> tuple[Any, Tensor]:
    """Maximum flow from `source` to `target`, weights being capacities: (value, flow), the flow on each stored arc,
    [m], int64 or float64.

    graph.weights are the capacities; without, or with `weighted=False`, every arc can carry 1. An undirected edge
    carries its flow on one of its two arcs. `backend` names the kernels. The value is an int unless weights are
    floating, and a tensor [] where they require gradients: those of the arcs of a minimum cut are 1. The first flow of
    a directed graph makes its transpose, which is kept.
    Raises ArgumentError for a capacity that is negative, NaN or rounded away in the sum of all, a path of infinite
    ones, vertices that are none, or equal ends.

    >>> graph = tg.Graph.from_edges([0, 0, 1, 2, 1], [1, 2, 3, 3, 2], [3, 2, 2, 3, 5])
    >>> value, flow = tg.algorithms.maximum_flow(graph, 0, 3)
    >>> value, flow
    (5, tensor([3, 2, 1, 2, 3]))
    """
    find = tg.primitives.flow.max_flow
    value, flow, _ = find(graph, source, target, weighted=weighted, flow=True, backend=backend)
    assert flow is not None
    return value, flow


def maximum_flow_value(
    graph: tg.Graph, source: int, target: int, *, weighted: bool = True, backend: str = "auto"
) -> Any:
    """The value of a maximum flow, without the flow, which costs memory for all arcs. `source`, `target`, `weighted`,
    `backend` and errors are those of `maximum_flow`.

    >>> graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [3, 2, 2, 4])
    >>> tg.algorithms.maximum_flow_value(graph, 0, 3)
    4
    """
    return tg.primitives.flow.max_flow(graph, source, target, weighted=weighted, backend=backend)[0]


def minimum_cut(
    graph: tg.Graph, source: int, target: int, *, weighted: bool = True, backend: str = "auto"
) -> tuple[Any, Tensor]:
    """Minimum cut between `source` and `target`, weights being capacities: (value, source_side), the capacity of the
    arcs from the source's side to the target's, and a mask of the vertices on the source's, bool [n]. Of several
    minimum cuts it is the one nearest to the target. `source`, `target`, `weighted`, `backend` and errors are those of
    `maximum_flow`.

    >>> graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [3, 2, 2, 4])
    >>> tg.algorithms.minimum_cut(graph, 0, 3)
    (4, tensor([ True,  True, False, False]))
    """
    find = tg.primitives.flow.max_flow
    value, _, side = find(graph, source, target, weighted=weighted, source_side=True, backend=backend)
    assert side is not None
    return value, side


def minimum_cut_value(
    graph: tg.Graph, source: int, target: int, *, weighted: bool = True, backend: str = "auto"
) -> Any:
    """The capacity of a minimum cut, the value of a maximum flow. `source`, `target`, `weighted`, `backend` and errors
    are those of `maximum_flow`.

    >>> graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [3, 2, 2, 4])
    >>> tg.algorithms.minimum_cut_value(graph, 0, 3)
    4
    """
    return maximum_flow_value(graph, source, target, weighted=weighted, backend=backend)
