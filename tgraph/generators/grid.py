"""Grids."""

from __future__ import annotations

import numpy as np

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.generators.simple import on_cpu, simple


@on_cpu
def grid2d(rows: int, columns: int, *, seed: int = 0, weighted: bool = False) -> Graph:
    """The undirected grid: vertex `row * columns + column` is joined to its up to four neighbours.

    Its diameter is `rows + columns - 2`, large unlike a random graph's. `weighted` edges have int32 weights in 1..255,
    drawn from `seed`. Raises ArgumentError for a negative number of rows or columns.

    >>> grid = tg.generators.grid2d(3, 4)
    >>> grid.num_edges, tg.algorithms.diameter(grid)
    (17, 5)
    """
    if rows < 0 or columns < 0:
        raise ArgumentError(f"rows, columns: got {rows} x {columns}; both must be 0 or more")
    vertex = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
    src = np.concatenate((vertex[:, :-1].ravel(), vertex[:-1].ravel()))
    dst = np.concatenate((vertex[:, 1:].ravel(), vertex[1:].ravel()))
    return simple(src, dst, rows * columns, seed=seed, weighted=weighted)
