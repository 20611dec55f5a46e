"""A maximal independent set by the kernel in `independent_set.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_wide_graph
from tgraph.kernels.operators.sets import independent_set as declared

_JOINED = 1


@implements(declared.independent_set, refuses_wide_graph)
def independent_set(graph: Graph, key: int) -> Tensor:
    state = torch.empty(graph.num_vertices, dtype=torch.uint8, device="cpu")
    compiled().independent_set(graph.offset, graph.neighbors, key, state)
    return state == _JOINED
