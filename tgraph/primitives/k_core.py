"""Peeling: removing the vertices of least degree, again and again."""

from __future__ import annotations

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels import choose
from tgraph.kernels.call import Call


def core_numbers(graph: Graph, *, backend: str = "auto") -> Tensor:
    """For each vertex the largest k such that it is in a subgraph of least degree k, int64 [n].

    Parallel arcs count once, self-loops not at all. In a directed graph the degree is that in both directions, so
    that u -> v and v -> u count twice. `backend` names the kernels. O(n + m).
    """
    graph = graph.decoded()
    return choose(backend, Call("peel", graph.neighbors)).run(graph)
