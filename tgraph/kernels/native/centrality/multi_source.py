"""Searches from many sources at once, by the kernel in `multi_source.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_wide_graph
from tgraph.kernels.operators.centrality import multi_source as declared


@implements(declared.count_levels, refuses_wide_graph)
def count_levels(graph: Graph, sources: Tensor) -> Tensor:
    found = compiled().count_levels(*_arcs(graph), sources.contiguous())
    counts = torch.zeros((len(sources), found.num_levels), dtype=torch.int64, device="cpu")
    found.copy_to(counts.view(-1))
    return counts


@implements(declared.count_hops, refuses_wide_graph)
def count_hops(graph: Graph, sources: Tensor) -> Tensor:
    distance = torch.empty((len(sources), graph.num_vertices), dtype=torch.int32, device="cpu")
    compiled().count_hops(*_arcs(graph), sources.contiguous(), distance.view(-1))
    return distance


def _arcs(graph: Graph) -> list[Tensor]:
    return [part.contiguous() for side in (graph, graph.transpose_detached()) for part in (side.offset, side.neighbors)]
