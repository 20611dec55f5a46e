"""The undirected simple graph that many algorithms are defined on: no directions, parallel edges and self-loops."""

from __future__ import annotations

from tgraph.core import derived_graphs
from tgraph.core.building import sorting
from tgraph.core.building.inputs import Multi
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError


def simple(graph: Graph, multi: Multi = "first") -> Graph:
    """The graph in CSR without self-loops, and with parallel edges merged as `multi` says (see `Graph.from_edges`).

    Raises ArgumentError for a directed graph.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 1, 1], [1, 2, 4], directed=False)
    >>> simple = tg.primitives.simple_graph.simple(graph, "sum")
    >>> simple.to_edge_index(), simple.weights
    (tensor([[0, 1],
            [1, 0]]), tensor([3, 3]))
    """
    refuse_directed(graph)
    return graph.to_undirected(multi).without_self_loops().decoded()


def refuse_directed(graph: Graph) -> None:
    """Raise ArgumentError for a directed graph.

    >>> tg.primitives.simple_graph.refuse_directed(tg.Graph.from_edges([0], [1]))
    Traceback (most recent call last):
        ...
    tgraph.errors.ArgumentError: graph: it is directed, the algorithm takes an undirected one; use ...
    """
    if graph.directed:
        raise ArgumentError("graph: it is directed, the algorithm takes an undirected one; use graph.to_undirected()")


def merged(graph: Graph, multi: sorting.Merge = "first") -> Graph:
    """The graph in CSR with parallel arcs of equal direction merged as `multi` says in `Graph.from_edges`, as
    `simple` does for undirected graphs.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 1, 0], [1, 2, 4])
    >>> tg.primitives.simple_graph.merged(graph, "max").weights
    tensor([2, 4])
    """
    return derived_graphs.merged(graph, multi)
