"""Widest paths: the most that can pass from one vertex to every other along a single path.

The width of a path is its least weight, as of the narrowest pipe or the weakest link. A relaxation in another semiring
than that of distances (Pollack, "The maximum capacity through a network", 1960):

    width[v] = max over arcs u -> v of min(width[u], weight)
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg


class WidestPath(tg.Relaxation):
    """The width of the widest path from the source, [n] in the dtype of the weights; see `widest_path`.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [7.0, 2.0, 5.0])
    >>> tg.run(tg.algorithms.WidestPath(0), graph).values
    tensor([inf, 7., 5.], dtype=torch.float64)
    """

    reduce, edge = "max", "min"

    def __init__(self, source: int):
        self.source = source

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        if graph.weight_dtype is None:
            raise tg.errors.ArgumentError("graph: has no weights, which the width of a path is the least of")
        start, dtype = graph.select(self.source, "source"), graph.weight_dtype
        narrowest, widest = _extremes(dtype)
        width = tg.primitives.values.full(graph, narrowest, dtype)
        width[start.ids] = widest
        return width, start


def widest_path(graph: tg.Graph, source: int, **options: Any) -> Tensor:
    """Width of the widest path from `source` to every vertex: the largest number that no weight on a path falls below,
    [n].

    In the dtype of the weights. inf, or the largest integer, at the source; -inf, or the smallest integer, where
    unreached. `options` go to `tgraph.run`. Raises ArgumentError for a graph without weights, a weight that is NaN, or
    a source that is no vertex.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [7.0, 2.0, 5.0])
    >>> tg.algorithms.widest_path(graph, 0)
    tensor([inf, 7., 5.], dtype=torch.float64)
    """
    return tg.run(WidestPath(source), graph, **options).values


def _extremes(dtype: torch.dtype) -> tuple[float, float]:
    """The least and the largest value of a dtype."""
    if dtype.is_floating_point:
        return -torch.inf, torch.inf
    numbers = torch.iinfo(dtype)
    return numbers.min, numbers.max
