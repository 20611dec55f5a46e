"""The minimum cut of a graph in torch operators, on a dense matrix of weights: a vertex after the other, since each
scan goes on from those before (Stoer and Wagner, "A simple min-cut algorithm", J. ACM 1997)."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator


@operator
def global_cut(offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> tuple[float, Tensor]:
    """(value, side) of a minimum cut of an undirected graph of two vertices or more: the least weight of the edges
    between a set of vertices, neither empty nor all, and the others, and the set as a mask, bool [n].

    `weights`, float64 [m], equal for the two arcs of an edge and not negative, or None for 1. O(n^3)."""
    n, device = len(offset) - 1, offset.device
    matrix = torch.zeros((n, n), dtype=torch.float64, device=device)
    ends = (sorting.expand_rows(offset), neighbors.to(torch.int64))
    one = torch.ones(len(neighbors), dtype=torch.float64, device=device)
    matrix.index_put_(ends, one if weights is None else weights, accumulate=True).fill_diagonal_(0)
    part = torch.eye(n, dtype=torch.bool, device=device)  # the vertices that each one stands for
    alive = torch.ones(n, dtype=torch.bool, device=device)
    value, side = torch.inf, alive
    for size in range(n, 1, -1):
        before, last, cut = _scan(matrix, alive, size)
        if cut < value:
            value, side = cut, part[last].clone()
        part[before] |= part[last]
        matrix[before] += matrix[last]
        matrix[:, before] += matrix[:, last]
        matrix[before, before] = 0
        alive[last] = False
    return value, side


def _scan(matrix: Tensor, alive: Tensor, size: int) -> tuple[int, int, float]:
    """The last two vertices in the order of how much joins them to those before, and the weight of what joins the very
    last, which is the least cut between the two."""
    joined = torch.where(alive, 0.0, -torch.inf).to(matrix.dtype)
    before = last = int(alive.nonzero()[0])
    cut = 0.0
    for step in range(size):
        if step:
            before, last = last, int(joined.argmax())
            cut = float(joined[last])
        joined += matrix[last]
        joined[last] = -torch.inf
    return before, last, cut
