"""Common neighbours of adjacent vertices, counted by the kernels in `intersect.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import attach, compiled, implements, per_vertex, refuses_wide_graph
from tgraph.kernels.operators.cohesion import intersect as declared


@implements(declared.count_triangles, refuses_wide_graph)
def count_triangles(graph: Graph, per_vertex: bool, _rank: bool | None = None) -> Tensor:
    """Triangles of an undirected graph, int64 [], or those at each vertex, int64 [n].

    `_rank` forces, or forbids, that vertices are renumbered by degree, which is otherwise done where it pays.
    """
    offset, neighbors = graph.offset, graph.neighbors
    found = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu") if per_vertex else None
    total = compiled().count_triangles(offset, neighbors, found, _rank)
    return torch.tensor(total, device="cpu") if found is None else found


attach(declared.count_arcs_among, refuses_wide_graph, per_vertex)
