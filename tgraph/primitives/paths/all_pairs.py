"""Shortest paths between all pairs of vertices on a dense matrix of distances."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.errors import ArgumentError
from tgraph.kernels.operators.paths import floyd_warshall as operators


def shorten(distance: Tensor, predecessor: Tensor | None = None) -> int:
    """Shorten the lengths of arcs to those of shortest paths, in place: `distance` [n, n], float64, 0 on the diagonal
    and inf where there is no arc, and `predecessor` [n, n], int64, the vertex before the last on each path.

    Returns a vertex on a cycle of negative length, -1 where there is none; with such a cycle the rest is left half-way.
    O(n^3). Raises ArgumentError for tensors of another shape or dtype.

    >>> inf = torch.inf
    >>> distance = torch.tensor([[0, 1, 9], [inf, 0, 2], [inf, inf, 0]], dtype=torch.float64)
    >>> tg.primitives.all_pairs.shorten(distance)
    -1
    >>> distance
    tensor([[0., 1., 3.],
            [inf, 0., 2.],
            [inf, inf, 0.]], dtype=torch.float64)
    """
    for name, matrix, dtype in (("distance", distance, torch.float64), ("predecessor", predecessor, torch.int64)):
        if matrix is None:
            continue
        if matrix.dim() != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype != dtype:
            raise ArgumentError(f"{name}: expected {dtype} [n, n], got {matrix.dtype} {list(matrix.shape)}")
        if matrix.shape != distance.shape or not matrix.is_contiguous():
            raise ArgumentError(f"{name}: expected contiguous {list(distance.shape)}, got {list(matrix.shape)}")
    return operators.floyd_warshall(distance, predecessor)
