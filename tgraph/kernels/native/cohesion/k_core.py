"""Core numbers by the kernel in `k_core.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_graph
from tgraph.kernels.operators.cohesion import k_core as declared


@implements(declared.peel, refuses_graph)
def peel(graph: Graph) -> Tensor:
    """The core number of each vertex, int64 [n]; in a directed graph the degree is that in both directions."""
    core = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
    compiled().peel(*sides(graph), core)
    return core


def sides(graph: Graph) -> tuple[Tensor | None, ...]:
    """(offset, neighbors) of the graph, then of its transpose, or None twice where arcs are stored both ways."""
    stored = (graph.offset, graph.neighbors)
    if not graph.directed:
        return *stored, None, None
    reverse = graph.transpose()
    return *stored, reverse.offset, reverse.neighbors
