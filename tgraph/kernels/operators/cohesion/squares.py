"""Cycles of four vertices in torch operators: pairs of paths of two arcs with the same ends."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.rows import gather_rows

PATHS = 1 << 21  # paths of two arcs that are looked at together


@operator
def count_squares(offset: Tensor, neighbors: Tensor) -> Tensor:
    """The cycles of four vertices that each vertex of an undirected simple graph is in, int64 [n]."""
    n, degree = len(offset) - 1, offset.diff()
    found = torch.zeros_like(degree)
    source, target = sorting.expand_rows(offset), neighbors.to(torch.int64)
    paths = degree[target].cumsum(0)  # up to and with each arc
    begin = 0
    while begin < n:  # some rows at a time: all paths of a vertex are seen together
        before = int(paths[offset[begin] - 1]) if int(offset[begin]) else 0
        last = int(torch.searchsorted(paths, before + PATHS, right=True))
        stop = max(int(torch.searchsorted(offset, last, right=True)) - 1, begin + 1)
        arcs = slice(int(offset[begin]), int(offset[stop]))
        selected, positions = gather_rows(offset, target[arcs])
        start = torch.repeat_interleave(source[arcs], selected.diff())
        end = target[positions]
        key, count = torch.unique((start * n + end)[start != end], return_counts=True)
        found.index_add_(0, key // max(n, 1), count * (count - 1) // 2)
        begin = stop
    return found
