"""Arcs that longer paths replace, by the kernel in `transitive.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_wide_graph
from tgraph.kernels.operators.dag import transitive as declared


@implements(declared.replaced_arcs, refuses_wide_graph)
def replaced_arcs(graph: Graph, generation: Tensor) -> Tensor:
    reverse = graph.transpose_detached()
    replaced = torch.zeros(graph.num_arcs, dtype=torch.bool, device="cpu")
    compiled().replaced_arcs(reverse.offset, reverse.neighbors, generation.argsort(stable=True), replaced)
    return replaced
