"""The correlation of values at both ends of the arcs, in torch operators."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph

_BLOCK = 1 << 24  # arcs at a time


@operator
def correlate_ends(graph: Graph, first: Tensor, second: Tensor, is_symmetric: bool) -> tuple[float, float, float]:
    """The covariance over the arcs of `first` at their sources and `second` at their targets, and the variances, times
    the number of arcs. first, second : float64 [n]. is_symmetric : the graph is undirected, its rows ascend, and the
    values are the same."""
    m, offset, neighbors = graph.num_arcs, graph.offset, graph.neighbors
    out, into, first, second = centered(graph, first, second)
    both = first.new_zeros(())
    for begin in range(0, m, _BLOCK):
        arc = torch.arange(begin, min(begin + _BLOCK, m), device=offset.device)
        source = torch.searchsorted(offset, arc, right=True) - 1
        both += first[source] @ second[neighbors[arc].to(torch.int64)]
    return float(both), float(out @ first.square()), float(into @ second.square())


def centered(graph: Graph, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(out-degree, in-degree, `first` less its mean over the sources of the arcs, `second` over the targets), [n]."""
    m, out, into = graph.num_arcs, graph.out_degree.to(first.dtype), graph.in_degree.to(first.dtype)
    return out, into, first - out.dot(first) / m, second - into.dot(second) / m
