"""Depths and the first conflict of a two-colouring by the kernel in `two_coloring.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_wide_graph
from tgraph.kernels.operators.coloring import two_coloring as declared


@implements(declared.color_by_depth, refuses_wide_graph)
def color_by_depth(graph: Graph) -> tuple[Tensor, int]:
    depth = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
    return depth, compiled().color_by_depth(graph.offset, graph.neighbors, depth)
