"""Strongly connected and biconnected components."""

from __future__ import annotations

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.components import biconnected, strong_components


def label_strong(graph: Graph, *, backend: str = "auto") -> Tensor:
    """For each vertex the smallest of its strongly connected component, int64 [n]: of those that it reaches and that
    reach it. `backend` names the kernels. O(n + m).

    >>> tg.primitives.components.label_strong(tg.Graph.from_edges([0, 1, 1], [1, 0, 2]))
    tensor([0, 0, 2])
    """
    graph = graph.decoded()
    return strong_components.label_strong.with_backend(backend)(graph)


def biconnect(graph: Graph, *, backend: str = "auto") -> tuple[Tensor, Tensor]:
    """(component, head), int64 [n] each: the biconnected components, as trees of them hang on cut vertices.

    Each tree is rooted at a vertex: the one of largest degree, and in other connected components the smallest. Every
    other vertex is in one component that lies towards the root, whose vertex nearest to the root is its head. component
    : the smallest vertex of that component but the head. head : its head. At a root, the vertex itself and -1. The
    component of an edge is that of the end that is not the head of the other's; of equals, that of both.

    `backend` names the kernels. O(n + m). Raises ArgumentError for a directed graph.

    >>> component, head = tg.primitives.components.biconnect(tg.generators.lollipop(3, 1))
    >>> component, head
    (tensor([0, 0, 2, 3]), tensor([ 2,  2, -1,  2]))
    """
    check_undirected(graph)
    graph = graph.decoded()
    return biconnected.biconnect.with_backend(backend)(graph)


def check_undirected(graph: Graph) -> None:
    """Raise ArgumentError for a directed graph.

    >>> tg.primitives.components.check_undirected(tg.Graph.from_edges([0], [1]))
    Traceback (most recent call last):
        ...
    tgraph.errors.ArgumentError: graph: directed, and this is for undirected graphs; use graph.to_undirected()
    """
    if graph.directed:
        raise ArgumentError("graph: directed, and this is for undirected graphs; use graph.to_undirected()")
