"""Truss numbers in torch operators: all edges of a level are removed at once, with the triangles that they are in."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.kernels.operators.cohesion.triangle_edges import stored_triangles


@operator
def peel_edges(offset: Tensor, neighbors: Tensor, edge: Tensor, ends: Tensor, triangles: Tensor) -> Tensor:
    """The largest k for each edge so that it is in k triangles of edges of which this is true, too, int64 [e].

    offset, neighbors : an undirected simple graph. edge : the number of the edge of each arc, int64 [m].
    ends : the vertices that each edge joins, [2, e]. triangles : those that each edge is in, int64 [e].

    All triangles are listed here, which takes memory for each of them.
    """
    corners = [edge[torch.stack(arcs, 1)] for arcs in stored_triangles(offset, neighbors)]
    corner = torch.cat(corners) if corners else edge.new_empty((0, 3))
    support, found = triangles.clone(), torch.zeros_like(triangles)
    left = torch.ones_like(support, dtype=torch.bool)
    level = 0
    while bool(left.any()):
        level = max(level, int(support[left].min()))
        peeled = left & (support <= level)
        found[peeled] = level
        left &= ~peeled
        broken = peeled[corner].any(1)
        support -= torch.bincount(corner[broken].flatten(), minlength=len(support))
        corner = corner[~broken]
    return found
