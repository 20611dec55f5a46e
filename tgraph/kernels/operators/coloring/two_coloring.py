"""Depths and the first conflict of a two-colouring in torch operators."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph
from tgraph.kernels.operators.components.biconnected import connected, search


@operator
def color_by_depth(graph: Graph) -> tuple[Tensor, int]:
    """See `tgraph.primitives.coloring.color_by_depth`."""
    source, target = sorting.expand_rows(graph.offset), graph.neighbors.to(torch.int64)
    vertex = torch.arange(graph.num_vertices, device=graph.device)
    root = connected(vertex, source, target)
    depth, _ = search(graph, vertex[root == vertex])
    conflicts = source[depth.index_select(0, source) == depth.index_select(0, target)]
    if not len(conflicts):
        return depth, -1
    for rank in (root, depth, vertex):  # the least root, of these the least depth, of these the least vertex
        of = rank.index_select(0, conflicts)
        conflicts = conflicts[of == of.min()]
    return depth, int(conflicts[0])


@operator
def has_odd_cycle(graph: Graph) -> bool:
    """See `tgraph.primitives.coloring.has_odd_cycle`."""
    return color_by_depth(graph.to_undirected() if graph.directed else graph)[1] >= 0
