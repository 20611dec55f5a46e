"""Depths and the first conflict of a two-colouring by the kernel in `two_coloring.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system import native


def color_by_depth(graph: Graph) -> tuple[Tensor, int]:
    """See `tgraph.primitives.components.color_by_depth`."""
    depth = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
    stored = graph.offset.contiguous(), graph.neighbors.contiguous()
    return depth, native.load().color_by_depth(*stored, depth)  # type: ignore[union-attr]
