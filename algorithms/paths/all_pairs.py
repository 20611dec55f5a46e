"""Distances between all pairs of vertices, in blocks of sources, since n * n of them seldom fit.

Searches from the sources of a block run beside each other, one for each thread. Where weights are negative they are
made positive first by potentials, which changes no shortest path (Johnson, "Efficient algorithms for shortest paths in
sparse networks", 1977). O(n m) by breadth-first search, about that with weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.paths._sources import Source
from tgraph.algorithms.paths.bellman_ford import potentials
from tgraph.algorithms.paths.bfs import hops_from_each
from tgraph.algorithms.paths.sssp import lengths_from_each


def all_pairs(
    graph: tg.Graph, sources: Source | None = None, *, weighted: bool = False, block: int = 64, **options: Any
) -> Iterator[tuple[Tensor, Tensor]]:
    """Distances from all vertices, or from the `sources`, to all vertices: an iterator over blocks of `block` sources.

    Each item is (the sources of the block int64 [k], their distances [k, n]). Distances are hops, int32 with -1 where
    unreached, or with `weighted` those of `sssp`: floating with inf, or int64 with -1. Where a weight is negative they
    are float64 with inf. `options` go to `tgraph.run`.
    Raises NegativeCycleError, and ArgumentError for sources that are no vertices, a block below 1, weights that are NaN
    or -inf, and integer weights, some of them negative, whose sums float64 might round.

    >>> for sources, distance in tg.algorithms.all_pairs(tg.generators.path(4), block=2):
    ...     print(sources.tolist(), distance.tolist())
    [0, 1] [[0, 1, 2, 3], [1, 0, 1, 2]]
    [2, 3] [[2, 1, 0, 1], [3, 2, 1, 0]]
    """
    if block < 1:
        raise tg.errors.ArgumentError(f"block: expected 1 or more sources, got {block}")
    every = range(graph.num_vertices) if sources is None else sources
    chosen = graph.as_vertices(every, "sources")
    if weighted:
        tg.primitives.weights.check(graph, "signed lengths", "shortest paths")
    if weighted and graph.weight_range[0] < 0:
        return _johnson(graph, chosen, block, options)
    search = lengths_from_each if weighted else hops_from_each
    return ((some, search(graph, some, **options)) for some in _split(chosen, block))


def _split(sources: Tensor, block: int) -> tuple[Tensor, ...]:
    return sources.split(block) if len(sources) else ()


def _johnson(graph: tg.Graph, sources: Tensor, block: int, options: dict[str, Any]) -> Iterator[tuple[Tensor, Tensor]]:
    graph = graph.decoded()
    tg.primitives.shortest_paths.check_sums(graph, tg.primitives.shortest_paths.EXACT)
    height = potentials(graph, backend=options.get("backend", "auto")).to(torch.float64)
    source, target = graph.to_edge_index()
    assert graph.weights is not None
    weights = graph.weights + height[source] - height[target]
    weights = weights.clamp_(min=0)  # of rounding
    lifted = tg.Graph(graph.offset, graph.neighbors, weights, directed=graph.directed)
    for some in _split(sources, block):
        yield some, lengths_from_each(lifted, some, **options) - height[some, None] + height
