"""Common neighbours of adjacent vertices, counted by the kernels in `intersect.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system import native


def count_triangles(graph: Graph, per_vertex: bool, _rank: bool | None = None) -> Tensor:
    """Triangles of an undirected graph, int64 [], or those at each vertex, int64 [n].

    `_rank` forces, or forbids, that vertices are renumbered by degree, which is otherwise done where it pays.
    """
    offset, neighbors = graph.offset.contiguous(), graph.neighbors.contiguous()
    found = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu") if per_vertex else None
    total = native.load().count_triangles(offset, neighbors, found, _rank)  # type: ignore[union-attr]
    return torch.tensor(total, device="cpu") if found is None else found


def count_arcs_among(graph: Graph) -> Tensor:
    """For each vertex of an undirected graph the edges between its neighbours, int64 [n].

    An edge that is stored more than once counts twice: it stands for an arc either way.
    """
    found = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
    kernels = native.load()
    kernels.count_arcs_among(graph.offset.contiguous(), graph.neighbors.contiguous(), found)  # type: ignore[union-attr]
    return found
