"""Label propagation by the kernel in `label_propagation.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system import native
from tgraph.kernels.native.cohesion.k_core import sides


def vote(graph: Graph, labels: Tensor, rounds: int) -> Tensor:
    """The labels int64 [n], vertex indices, after so many rounds of taking the most frequent one of the neighbours."""
    held = labels.to(graph.neighbors.dtype, copy=True).contiguous()
    native.load().vote(*sides(graph), held, torch.empty_like(held), rounds)  # type: ignore[union-attr]
    return held.to(torch.int64)
