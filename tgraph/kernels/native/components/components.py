"""Strongly connected and biconnected components by the kernels beside this file."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import attach, compiled, implements, per_vertex, refuses_wide_graph
from tgraph.kernels.operators.components import biconnected as biconnected_operators
from tgraph.kernels.operators.components import strong_components as strong_components_operators

# Two searches of all arcs on all threads find the largest component before one thread searches the others. That pays
# where these arcs, and the vertices, are many, and neighbours lie apart: where they lie together one thread takes less.
LARGE = 1 << 19
SAMPLES = 1024


@implements(strong_components_operators.label_strong, refuses_wide_graph)
def label_strong(graph: Graph) -> Tensor:
    """For each vertex the smallest of its strongly connected component, int64 [n]."""
    component = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
    reverse: tuple[Tensor | None, ...] = (None, None)
    if "transpose" in graph.caches and graph.num_vertices >= LARGE and _is_scattered(graph):
        transpose = graph.transpose()
        reverse = transpose.offset, transpose.neighbors
    compiled().label_strong(graph.offset, graph.neighbors, *reverse, component)
    return component


def _is_scattered(graph: Graph) -> bool:
    """Whether a sample of arcs leads far, in the median more than a hundredth of the vertices."""
    if not graph.num_arcs:
        return False
    place = torch.arange(SAMPLES, device="cpu") * 2654435761 % graph.num_arcs
    row = torch.searchsorted(graph.offset, place, right=True) - 1
    return int((graph.neighbors[place] - row).abs().median()) * 100 > graph.num_vertices


attach(biconnected_operators.biconnect, refuses_wide_graph, per_vertex, per_vertex)
