"""Single-source shortest paths over weights that are not negative.

A relaxation: dist[v] = min over arcs u -> v of dist[u] + weight. Vertices are relaxed in the order of buckets of
width delta, near ones first (delta-stepping: Meyer and Sanders, J. Algorithms 2003; near-far: Davidson, Baxter,
Garland, Owens, IPDPS 2014). About O(n + m) where weights are random, as the paper on delta-stepping shows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.paths._sources import Source, are_small, is_one, minus_one_where, refuse_ranks, start_at

UNREACHED = torch.iinfo(torch.int64).max


class SSSP(tg.Relaxation):
    """Shortest distance from the source, [n], or [n, k] for k sources.

    Floating weights give distances of their dtype with inf where unreached; integer weights, or none (every arc
    weighs 1), give int64 with -1. `delta` is the bucket width; None lets the engine choose one.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0])
    >>> tg.run(tg.algorithms.SSSP(0), graph).values
    tensor([0., 1., 3.], dtype=torch.float64)
    """

    reduce, edge, first = "min", "add", 0
    finishes_each = True

    def __init__(self, source: Source, delta: float | None = None):
        if delta is not None and not delta > 0:
            raise tg.errors.ArgumentError(f"delta: must be positive, got {delta}")
        self.source, self.width = source, delta

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        self.weight = 1 if graph.weight_dtype is None else None
        self.delta = None if graph.weight_dtype is None else self.width
        tg.primitives.shortest_paths.check_weights(graph)
        if graph.weight_dtype is not None and graph.weight_dtype.is_floating_point:
            return start_at(graph, self.source, torch.inf, torch.promote_types(graph.weight_dtype, torch.float32))
        return start_at(graph, self.source, UNREACHED, torch.int64)

    def finish(self, values: Tensor) -> Tensor:
        if values.is_floating_point():
            return values
        return minus_one_where(values, UNREACHED)


def sssp(
    graph: tg.Graph, source: Source, *, delta: float | None = None, parents: bool = False, **options: Any
) -> Tensor | tuple[Tensor, Tensor]:
    """Shortest distances from `source` to every vertex along the arcs.

    Parameters: `source`, a vertex index or k of them; `delta`, the width of the buckets in which vertices are
    relaxed, which changes the speed and never the answer; `parents`, return the trees of shortest paths too;
    `options` go to `tgraph.run`.

    Returns [n], or [n, k] for k sources: floating with inf where unreached, or int64 with -1 where the weights are
    integers or missing. With `parents` also the vertex before each on a shortest path, int64 of the same shape: of
    those that are nearer the smallest, of arcs of weight 0 one that leads back to the source in the fewest; the source
    itself at the source, -1 where unreached. Raises ArgumentError for a negative or NaN weight, or a source that is no
    vertex.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0])
    >>> distance, parent = tg.algorithms.sssp(graph, 0, parents=True)
    >>> distance, parent
    (tensor([0., 1., 3.], dtype=torch.float64), tensor([0, 0, 1]))
    """
    distance = tg.run(SSSP(source, delta), graph, **options).values
    if not parents:
        return distance
    sources, backend, exact = graph.as_vertices(source, "source"), options.get("backend", "auto"), distance.detach()
    tree = partial(tg.primitives.shortest_paths.parents, graph, backend=backend)
    if is_one(source):
        return distance, tree(exact, sources)
    trees = [tree(column, start) for column, start in zip(exact.unbind(1), sources.split(1), strict=True)]
    return distance, torch.stack(trees, 1) if trees else torch.empty_like(distance, dtype=torch.int64)


def lengths_from_each(graph: tg.Graph, sources: Tensor, **options: Any) -> Tensor:
    """Distances of `sssp` from each of k sources to all vertices, [k, n]. `options` go to `tgraph.run`."""
    refuse_ranks(graph)
    if are_small(graph, sources, options):
        return tg.primitives.multi_source.lengths(graph, sources, **options)
    runs = tg.run_each([SSSP(source) for source in sources.tolist()], graph, **options)
    return torch.stack([run.values for run in runs])
