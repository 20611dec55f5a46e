"""Greedy colourings, and two-colourings by depth, by the kernels beside this file."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import attach, compiled, implements, per_vertex, refuses_wide_graph
from tgraph.kernels.operators.coloring import coloring as coloring_operators
from tgraph.kernels.operators.coloring import two_coloring as two_coloring_operators

attach(coloring_operators.color_in_order, refuses_wide_graph, per_vertex)


@implements(two_coloring_operators.color_by_depth, refuses_wide_graph)
def color_by_depth(graph: Graph) -> tuple[Tensor, int]:
    depth = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
    return depth, compiled().color_by_depth(graph.offset, graph.neighbors, depth)


@implements(two_coloring_operators.has_odd_cycle, refuses_wide_graph)
def has_odd_cycle(graph: Graph) -> bool:
    """By a search of some arcs, and where that gives up, by all of them."""
    found = compiled().probe_odd_cycle(graph.offset, graph.neighbors, not graph.directed)
    if found >= 0:
        return bool(found)
    return color_by_depth(graph.to_undirected() if graph.directed else graph)[1] >= 0
