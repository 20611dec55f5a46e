"""Onion decomposition in torch operators: all vertices of a layer are removed at once."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows


@operator
def onion(graph: Graph) -> tuple[Tensor, Tensor]:
    """(core number, layer from 1 on) of each vertex of an undirected simple graph, int64 [n] each.

    A layer is all vertices whose degree is at most the level, which rises where there are none."""
    degree = graph.offset.diff()
    core, layer = torch.zeros_like(degree), torch.zeros_like(degree)
    left = torch.arange(len(degree), device=graph.device)
    level = number = 0
    while len(left):
        level, number = max(level, int(degree[left].min())), number + 1
        low = degree[left] <= level
        peeled, left = left[low], left[~low]
        core[peeled], layer[peeled] = level, number
        reached = graph.neighbors.index_select(0, gather_rows(graph.offset, peeled)[1])
        degree.index_add_(0, reached, degree.new_full((len(reached),), -1))
    return core, layer
