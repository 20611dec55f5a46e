"""The minimum cut of a graph in torch operators, on a dense matrix of weights: a vertex after the other, since each
scan goes on from those before (Stoer and Wagner, "A simple min-cut algorithm", J. ACM 1997)."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator


@operator
def global_cut(offset: Tensor, neighbors: Tensor, weights: Tensor) -> tuple[float, Tensor]:
    """(value, side) of a minimum cut of an undirected graph of two vertices or more: the least weight of the edges
    between a set of vertices, neither empty nor all, and the others, and the set as a mask, bool [n].

    `weights`, int64 or float64 [m], equal for the two arcs of an edge and not negative; so is the value. O(n^3)."""
    n, device = len(offset) - 1, offset.device
    matrix = torch.zeros((n, n), dtype=weights.dtype, device=device)
    ends = (sorting.expand_rows(offset), neighbors.to(torch.int64))
    matrix.index_put_(ends, weights, accumulate=True).fill_diagonal_(0)
    part = torch.eye(n, dtype=torch.bool, device=device)  # the vertices that each one stands for
    alive = torch.ones(n, dtype=torch.bool, device=device)
    value: float = torch.inf
    side = alive
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
    scanned = ~alive
    joined = torch.zeros_like(matrix[0])
    before = last = int(alive.nonzero()[0])
    for step in range(size):
        if step:
            before, last = last, int(joined.masked_fill(scanned, -1).argmax())
        scanned[last] = True
        cut = joined[last].item()
        joined += matrix[last]
    return before, last, cut
