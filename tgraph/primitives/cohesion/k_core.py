"""Peeling: removing the vertices of least degree, again and again."""

from __future__ import annotations

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.operators.cohesion import k_core
from tgraph.kernels.operators.cohesion import onion as operators


def core_numbers(graph: Graph, *, backend: str = "auto") -> Tensor:
    """For each vertex the largest k such that it is in a subgraph of least degree k, int64 [n].

    Parallel arcs count once, self-loops not at all. In a directed graph the degree is that in both directions, so
    that u -> v and v -> u count twice. `backend` names the kernels. O(n + m).

    >>> tg.primitives.k_core.core_numbers(tg.generators.lollipop(4, 2))
    tensor([3, 3, 3, 3, 1, 1])
    """
    graph = graph.decoded()
    return k_core.peel.with_backend(backend)(graph)


def onion_layers(graph: Graph) -> tuple[Tensor, Tensor]:
    """The core number and the layer of each vertex, int64 [n] each; layers count from 1.

    A layer is removed at once: all vertices left of degree at most the level, which rises where there are none. A
    vertex has at most as many neighbours in its own and later layers as its core number, so that the layers are a
    degeneracy order. `graph` is undirected without parallel edges and self-loops. O(n + m).

    >>> core, layer = tg.primitives.k_core.onion_layers(tg.generators.path(5))
    >>> core, layer
    (tensor([1, 1, 1, 1, 1]), tensor([1, 2, 3, 2, 1]))
    """
    return operators.onion(graph)
