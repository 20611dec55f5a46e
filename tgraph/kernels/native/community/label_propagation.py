"""Label propagation by the kernel in `label_propagation.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_graph
from tgraph.kernels.native.cohesion.k_core import sides
from tgraph.kernels.operators.community import label_propagation as declared


@implements(declared.vote, refuses_graph)
def vote(graph: Graph, labels: Tensor, rounds: int) -> Tensor:
    """The labels int64 [n], vertex indices, after so many rounds of taking the most frequent one of the neighbours."""
    held = labels.to(graph.neighbors.dtype, copy=True)
    compiled().vote(*sides(graph), held, torch.empty_like(held), rounds)
    return held.to(torch.int64)
