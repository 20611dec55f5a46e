"""Core numbers in torch operators: all vertices of least degree are removed at once, round after round."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph import csr
from tgraph.graph import Graph
from tgraph.rows import gather_rows


def peel(graph: Graph) -> Tensor:
    """The core number of each vertex, int64 [n]; in a directed graph the degree is that in both directions."""
    offset, neighbors, _ = csr.merge_parallel(graph.offset, graph.neighbors, None, "first")
    arcs = Graph(*csr.drop_self_loops(offset, neighbors, None), directed=graph.directed)
    if graph.directed:
        arcs = arcs.to_undirected(multi="keep")  # an edge twice where its arc has a reverse
    degree = arcs.out_degree.clone()
    core = torch.zeros_like(degree)
    left = torch.arange(graph.num_vertices, device=graph.device)
    level = 0
    while len(left):
        level = max(level, int(degree[left].min()))
        low = degree[left] <= level
        peeled, left = left[low], left[~low]
        core[peeled] = level
        _, positions = gather_rows(arcs.offset, peeled)
        reached = arcs.neighbors.index_select(0, positions)
        degree.index_add_(0, reached, degree.new_full((len(reached),), -1))
    return core
