"""Core numbers in torch operators: all vertices of least degree are removed at once, round after round."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph
from tgraph.core.system import devices
from tgraph.kernels.operators.cohesion.onion import onion


@operator
def peel(graph: Graph) -> Tensor:
    """The core number of each vertex, int64 [n]; in a directed graph the degree is that in both directions."""
    offset, neighbors, _ = sorting.merge_parallel(graph.offset, graph.neighbors, None, "first")
    arcs = Graph(*sorting.drop_self_loops(offset, neighbors, None), directed=graph.directed)
    if graph.directed:
        arcs = arcs.to_undirected(multi="keep")  # an edge twice where its arc has a reverse
    if devices.compiles_each_shape(graph.device):
        return _peel_masked(arcs, arcs.out_degree.clone())
    return onion.portable(arcs)[0]


def _peel_masked(arcs: Graph, degree: Tensor) -> Tensor:
    """The vertices left are marked: a round costs all arcs, but is of one shape, and compiled once."""
    source, neighbors = sorting.expand_rows(arcs.offset), arcs.neighbors.to(torch.int64)
    core = torch.zeros_like(degree)
    left = torch.ones_like(degree, dtype=torch.bool)
    level = torch.zeros((), dtype=degree.dtype, device=degree.device)
    highest = torch.full_like(degree, torch.iinfo(degree.dtype).max)
    while bool(left.any()):
        devices.end_round(degree.device)
        level = torch.maximum(level, torch.where(left, degree, highest).min())
        peeled = left & (degree <= level)
        core = torch.where(peeled, level, core)
        left = left & ~peeled
        lost = peeled.index_select(0, source).to(degree.dtype)
        degree = degree - torch.zeros_like(degree).index_add_(0, neighbors, lost)
    return core
