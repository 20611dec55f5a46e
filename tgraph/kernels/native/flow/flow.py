"""Maximum flows and the minimum cut of a graph by the kernels beside this file."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_first, refuses_graph
from tgraph.kernels.native.paths.shortest_paths import rows
from tgraph.kernels.operators.flow import global_cut as global_cut_operators
from tgraph.kernels.operators.flow import max_flow as max_flow_operators


@implements(max_flow_operators.max_flow, refuses_graph)
def max_flow(
    graph: Graph, source: int, target: int, flow: Tensor | None, source_side: Tensor | None, weighted: bool
) -> float:
    """See `tgraph.primitives.flow.max_flow`; written into `flow`, which holds zeros, and `source_side`."""
    offset, neighbors, capacity = rows(graph)
    capacity = capacity if weighted else None
    if capacity is None and flow is not None and flow.is_floating_point():
        capacity = torch.ones(graph.num_arcs, dtype=flow.dtype, device="cpu")
    reverse: tuple[Tensor | None, ...] = (None, None, None)
    if graph.directed:
        reverse = (*rows(graph.transpose_detached())[:2], graph.transpose_permutation)
    find = compiled().max_flow
    return find(offset, neighbors, capacity, *reverse, source, target, flow, source_side)


@implements(global_cut_operators.global_cut, refuses_first)
def global_cut(offset: Tensor, neighbors: Tensor, weights: Tensor) -> tuple[float, Tensor]:
    side = torch.zeros(len(offset) - 1, dtype=torch.uint8, device="cpu")
    value = compiled().global_cut(offset, neighbors, weights, side)
    return value, side.view(torch.bool)
