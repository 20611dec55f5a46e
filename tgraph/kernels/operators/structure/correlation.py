"""The correlation of values at both ends of the arcs, in torch operators."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator

_BLOCK = 1 << 24  # arcs at a time


@operator
def correlate_ends(
    offset: Tensor,
    neighbors: Tensor,
    leaving: Tensor,
    reaching: Tensor,
    first: Tensor,
    second: Tensor,
    is_symmetric: bool,
) -> tuple[float, float, float]:
    """The covariance over the arcs of `first` at their sources and `second` at their targets, and the variances, times
    the number of arcs. leaving, reaching : the degrees int64 [n]. first, second : float64 [n]. is_symmetric : the graph
    is undirected, its rows ascend, and the values are the same."""
    m = len(neighbors)
    out, into = leaving.to(first.dtype), reaching.to(first.dtype)
    first, second = first - out @ first / m, second - into @ second / m
    both = first.new_zeros(())
    for begin in range(0, m, _BLOCK):
        arc = torch.arange(begin, min(begin + _BLOCK, m), device=offset.device)
        source = torch.searchsorted(offset, arc, right=True) - 1
        both += first[source] @ second[neighbors[arc].to(torch.int64)]
    return float(both), float(out @ first.square()), float(into @ second.square())
