"""Betweenness centrality: how many shortest paths pass through each vertex (Brandes, "A faster algorithm for
betweenness centrality", 2001).

From a source s, paths[v] counts the shortest paths to v, level by level outwards. The dependency of s on v, the part of
those paths that pass through v on their way to any other vertex, is summed level by level inwards:

    paths[v]      = sum of paths[u]                                    over the in-neighbours u one level nearer
    dependency[v] = paths[v] * sum of (1 + dependency[w]) / paths[w]   over the out-neighbours w one level farther

Both are one primitive, `sweep`: x[v] = bias[v] + the sum of x over the neighbours one level before, in ascending order
of levels for the paths, with bias 1 at the source, and in descending order for g = (1 + dependency) / paths, with bias
1 / paths. So dependency = paths * (g - 1 / paths). O(n + m) for each source.

Over weights the distances come from `SSSP`, and both sums go over the vertices in the order of these, by the primitive
`path_counts.count_paths`: O(n log n + m) beside the search.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.centrality._dependencies import COUNTABLE, in_columns
from tgraph.algorithms.centrality._distances import count_shortest_paths, distances, groups, with_lengths
from tgraph.algorithms.paths.bfs import hops_from_each


def betweenness(
    graph: tg.Graph,
    sources: Any = None,
    *,
    k: int | None = None,
    normalized: bool = True,
    weighted: bool = False,
    endpoints: bool = False,
    seed: int | None = None,
    batch: int | None = None,
    **options: Any,
) -> Tensor:
    """Betweenness centrality of every vertex over shortest paths, float64 [n].

    Parameters: `sources`, vertex indices that the paths start from; None takes all. `k`, start from so many vertices
    drawn at random with the `seed` instead. `normalized`, divide by the number of pairs of vertices that a path could
    join; otherwise an undirected path counts once, not once for each of its ends. `weighted`, paths that are shortest
    over the weights instead of in hops; they are of one length where their sums, from the source on, are the same
    number: use integers where sums of fractions would round. `endpoints`, count a path for the vertices at its ends
    too. `batch`, how many sources to sweep at once; by default as many as fill 4 million
    vertices. `options` go to `tgraph.run` (mode, backend, progress) for the searches.

    The values are those of networkx: with `k`, `networkx.betweenness_centrality`, the sums scaled up to all sources
    and the same vertices drawn for the same seed; with `sources`, `networkx.betweenness_centrality_subset` with all
    vertices as targets, the sums as they are. Parallel arcs make one path, self-loops none. Paths are counted in
    float64, and where there are too many for that, as in a large grid, by their logarithms.

    Raises ArgumentError for sources that are no vertices, for `k` or `batch` out of range, and for weights that are
    missing, not above zero, or rounded away in a distance.

    >>> tg.algorithms.betweenness(tg.generators.star(3))
    tensor([1., 0., 0., 0.], dtype=torch.float64)
    >>> tg.algorithms.betweenness(tg.generators.path(5), normalized=False)
    tensor([0., 3., 4., 3., 0.], dtype=torch.float64)
    """
    n, graph = graph.num_vertices, with_lengths(graph, positive=True) if weighted else graph
    chosen = chosen_sources(graph, sources, k, seed)
    if batch is not None and batch < 1:
        raise tg.errors.ArgumentError(f"batch: must be positive, got {batch}")
    total = tg.primitives.values.full(graph, 0.0, torch.float64)
    with tg.one_torch_thread(options.get("backend", "auto")):
        for group in groups(graph, chosen, batch, "betweenness"):
            for dependency in dependencies(graph, group, endpoints, weighted, **options):
                total += dependency  # one by one, so that sums do not depend on the size of a batch
    sampled = chosen if k is not None and k != n else None
    return _scaled(total, graph.directed, normalized, endpoints, sampled)


def dependencies(
    graph: tg.Graph, sources: Tensor, endpoints: bool = False, weighted: bool = False, **options: Any
) -> Iterable[Tensor]:
    """How much each of k sources depends on each vertex, float64 [k, n]: the part of the shortest paths from that
    source that pass through it. `sources`, `endpoints`, `weighted` and `options` are those of `betweenness`. On ranks,
    these are k tensors [n]."""
    if graph.storage.is_distributed:
        return in_columns(graph, sources, endpoints, weighted, **options).unbind(1)
    place = (torch.arange(len(sources), device=graph.device), sources)
    through = _over_weights if weighted else _in_hops
    dependency, reached = through(graph, sources, place, **options)
    dependency[place] = 0
    if endpoints:
        reached[place] = False
        dependency += reached
        dependency[place] += reached.sum(1)
    return dependency


def _over_weights(graph: tg.Graph, sources: Tensor, place: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """The dependencies, and who is reached, both [k, n]."""
    distance = distances(graph, sources, True, **options)
    counts, onward = count_shortest_paths(graph, distance, True, options)
    return onward.mul_(counts).sub_(1).masked_fill_(counts == 0, 0), counts > 0


def _in_hops(graph: tg.Graph, sources: Tensor, place: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """The dependencies, and who is reached, both [k, n]."""
    backend = options.get("backend", "auto")
    levels, sweep = tg.primitives.level_accumulate.levels, tg.primitives.level_accumulate.sweep
    depth = hops_from_each(graph, sources, **options)
    order, level_offset = levels(depth, backend=backend)
    start = torch.zeros(depth.shape, dtype=torch.float64, device=graph.device)
    start[place] = 1
    paths = sweep(graph.transpose(), order, level_offset, start, backend=backend)
    if paths.numel() and float(paths.max()) > COUNTABLE:
        paths = sweep(graph.transpose(), order, level_offset, start.log_(), logarithms=True, backend=backend)
        onward = sweep(graph, order, level_offset, -paths, descending=True, logarithms=True, backend=backend)
        dependency = onward.add_(paths).expm1_().masked_fill_(depth < 0, 0)
    else:
        share = paths.reciprocal().masked_fill_(paths == 0, 0)
        onward = sweep(graph, order, level_offset, share, descending=True, backend=backend)
        dependency = onward.sub_(share).mul_(paths)
    return dependency, depth >= 0


def chosen_sources(graph: tg.Graph, sources: Any, k: int | None, seed: int | None) -> Tensor:
    """The sources, int64 [s]."""
    n = graph.num_vertices
    if k is None:
        return graph.as_vertices(range(n) if sources is None else sources, "sources")
    if sources is not None:
        raise tg.errors.ArgumentError("k: draws the sources; pass either k or sources")
    if not 1 <= k <= n:
        raise tg.errors.ArgumentError(f"k: {k} of the {n} vertices cannot be drawn; use 1..{n}, or None for all")
    return torch.tensor(random.Random(seed).sample(range(n), k), device=graph.device)


def _scaled(total: Tensor, directed: bool, normalized: bool, endpoints: bool, sampled: Tensor | None) -> Tensor:
    """The sums over the sources scaled as networkx does.

    Of n vertices N can be an end of a path through a vertex: all but itself, unless `endpoints` count. A sample of k
    sources stands for N; where endpoints do not count, a vertex of the sample is on paths from the k - 1 others only.
    """
    N = len(total) if endpoints else len(total) - 1
    if N < 2:
        return total
    unit = 1 / (N * (N - 1)) if normalized else 1.0 if directed else 0.5
    if sampled is None:
        return total * unit
    k = len(sampled)
    scaled = total * (unit * N / k)
    if not endpoints:
        scaled[sampled] = total[sampled] * (unit * N / (k - 1)) if k > 1 else math.nan
    return scaled
