"""Single-source shortest paths over weights that are not negative.

A relaxation: dist[v] = min over arcs u -> v of dist[u] + weight. Vertices are relaxed in the order of buckets of
width delta, near ones first (delta-stepping: Meyer and Sanders, J. Algorithms 2003; near-far: Davidson, Baxter,
Garland, Owens, IPDPS 2014).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms._sources import start_at

UNREACHED = torch.iinfo(torch.int64).max


class SSSP(tg.Relaxation):
    """Shortest distance from the source, [n], or [n, k] for k sources.

    Floating weights give distances of their dtype with inf where unreached; integer weights, or none (every arc
    weighs 1), give int64 with -1. `delta` is the bucket width; None chooses one from the weights and degrees.
    """

    reduce, edge = "min", "add"

    def __init__(self, source: int | Tensor | list[int], delta: float | None = None):
        self.source, self.width = source, delta

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        self.weight, self.delta = (1, None) if graph.weights is None else (None, self.width)
        if graph.weights is not None:
            check_weights(graph)
            if self.delta is None:
                self.delta = bucket_width(graph)
        if graph.weights is not None and graph.weights.is_floating_point():
            return start_at(graph, self.source, torch.inf, torch.promote_types(graph.weights.dtype, torch.float32))
        return start_at(graph, self.source, UNREACHED, torch.int64)

    def finish(self, values: Tensor) -> Tensor:
        if values.is_floating_point():
            return values
        return values.masked_fill_(values == UNREACHED, -1)


def sssp(graph: tg.Graph, source: int | Tensor | list[int], *, delta: float | None = None, **options: Any) -> Tensor:
    """Shortest distances from `source` along the arcs.

    Parameters: `source`, a vertex index or k of them; `delta`, the width of the buckets in which vertices are
    relaxed, which changes the speed and never the answer; `options` go to `tgraph.run`.

    Returns [n], or [n, k] for k sources: floating with inf where unreached, or int64 with -1 where the weights are
    integers or missing. Raises ArgumentError for a negative or NaN weight, or a source that is no vertex.
    """
    return tg.run(SSSP(source, delta), graph, **options).values


def check_weights(graph: tg.Graph) -> None:
    """Raise ArgumentError for the first weight that is negative or NaN, and for sums that int64 cannot hold."""
    assert graph.weights is not None
    smallest, largest = graph.weight_range
    if not smallest >= 0:
        position = int((~(graph.weights >= 0)).nonzero()[0])
        u, v = graph.arc(position)
        raise tg.errors.ArgumentError(
            f"weights: {graph.weights[position].item()} at position {position}, arc {u!r} -> {v!r}; shortest paths "
            "need weights that are not negative: shift or replace them"
        )
    if not graph.weights.is_floating_point() and largest * graph.num_vertices >= UNREACHED:
        raise tg.errors.ArgumentError(
            f"weights: the largest is {largest}, and a path of such arcs does not fit int64; use float64 weights"
        )


def bucket_width(graph: tg.Graph) -> float | None:
    """A width at which a bucket holds enough work for one pass: the mean weight, wider where degrees are small."""
    if not graph.num_arcs or not graph.mean_weight > 0:
        return None
    return graph.mean_weight * max(1.0, 32 * graph.num_vertices / graph.num_arcs)
