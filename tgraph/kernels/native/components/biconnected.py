"""Biconnected components by the kernel in `biconnected.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system import native


def biconnect(graph: Graph) -> tuple[Tensor, Tensor]:
    """See `tgraph.primitives.components.biconnect`."""
    component, head = torch.empty(2, graph.num_vertices, dtype=torch.int64, device="cpu").unbind()
    stored = graph.offset.contiguous(), graph.neighbors.contiguous()
    native.load().biconnect(*stored, component, head)  # type: ignore[union-attr]
    return component, head
