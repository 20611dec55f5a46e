"""Shortest paths between all pairs in torch operators: a vertex to pass at a time, in the order of the compiled kernel
(`floyd_warshall.cpp`), so that both find the same paths."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator

BLOCK = 64


@operator
def floyd_warshall(distance: Tensor, predecessor: Tensor | None) -> int:
    """Shorten the distances, float64 [n, n], of the arcs (0 on the diagonal, inf where there is none) to those of
    shortest paths, in place, and with them the predecessors [n, n] int64. Returns a vertex on a cycle of negative
    length, -1 where there is none; where there is one, it stops half-way."""
    n = len(distance)
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        block, others = slice(first, last), [slice(0, first), slice(last, n)]
        _relax(distance, predecessor, block, block, block)
        negative = (distance.diagonal()[block] < 0).nonzero()
        if len(negative):
            return first + int(negative[0])
        for columns in others:
            _relax(distance, predecessor, block, block, columns)
        for rows in others:
            _relax(distance, predecessor, block, rows, block)
            for columns in others:
                _relax(distance, predecessor, block, rows, columns)
    return -1


def _relax(distance: Tensor, predecessor: Tensor | None, through: slice, rows: slice, columns: slice) -> None:
    """Shorten the paths from `rows` to `columns` by the vertices of `through`."""
    held = distance[rows, columns]
    for k in range(through.start, through.stop):
        length = distance[rows, k, None] + distance[k, columns]
        if predecessor is not None:
            before = predecessor[rows, columns]
            before.copy_(torch.where(length < held, predecessor[k, columns], before))
        held.copy_(torch.minimum(held, length))
