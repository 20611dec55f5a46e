"""Random shortest paths by the kernel in `sample_paths.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_wide_graph
from tgraph.kernels.operators.centrality import sample_paths as declared


@implements(declared.paths_inside, refuses_wide_graph)
def paths_inside(graph: Graph, key: int, first: int, count: int) -> Tensor:
    inside = torch.zeros(graph.num_vertices, dtype=torch.int64, device="cpu")
    arcs = [part for side in (graph, graph.transpose()) for part in (side.offset, side.neighbors)]
    compiled().sample_paths(*arcs, key, first, count, inside)
    return inside
