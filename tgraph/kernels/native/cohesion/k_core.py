"""Core numbers by the kernel in `k_core.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system import native


def peel(graph: Graph) -> Tensor:
    """The core number of each vertex, int64 [n]; in a directed graph the degree is that in both directions."""
    core = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
    native.load().peel(*sides(graph), core)  # type: ignore[union-attr]
    return core


def sides(graph: Graph) -> tuple[Tensor | None, ...]:
    """(offset, neighbors) of the graph, then of its transpose, or None twice where arcs are stored both ways."""
    stored = (graph.offset.contiguous(), graph.neighbors.contiguous())
    if not graph.directed:
        return *stored, None, None
    reverse = graph.transpose()
    return *stored, reverse.offset.contiguous(), reverse.neighbors.contiguous()
