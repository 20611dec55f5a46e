"""Greedy colourings by the kernel in `coloring.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system import native


def color_in_order(graph: Graph, order: Tensor) -> Tensor:
    """See `tgraph.primitives.coloring.color_in_order`."""
    color = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
    stored = graph.offset.contiguous(), graph.neighbors.contiguous()
    native.load().color_in_order(*stored, order.contiguous(), color)  # type: ignore[union-attr]
    return color
