"""Betweenness of nodes and edges, and between some sources and some targets (Brandes 2001)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph import algorithms
from tgraph.networkx.functions._arcs import simple, structure
from tgraph.networkx.functions._building import listed_edges
from tgraph.networkx.functions._nodes import by_node, mask, node_pairs, numbers
from tgraph.networkx.registry import implements, made_of

COUNTABLE = 1e300  # paths, beyond which their number loses digits


def _sweeps(graph: tg.Graph, sources: Tensor, ends: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """(source, depth, paths, onward) for each source: the number of shortest paths to each vertex v, and the sum of
    1 / paths[t] over the paths onward to vertices t of `ends`, v itself among them."""
    levels, sweep = tg.primitives.level_accumulate.levels, tg.primitives.level_accumulate.sweep
    for source in sources:
        depth = algorithms.bfs(graph, int(source))[None]
        order, level_offset = levels(depth)
        start = torch.zeros(depth.shape, dtype=torch.float64)
        start[0, source] = 1
        paths = sweep(graph.transpose(), order, level_offset, start)
        if float(paths.max()) > COUNTABLE:
            raise NotImplementedError("more shortest paths than float64 can count")
        share = torch.where(ends & (paths > 0), 1 / paths, 0.0)
        share[0, source] = 0
        onward = sweep(graph, order, level_offset, share, descending=True)
        yield source, depth[0], paths[0], onward[0]


def arcs_for_paths(G: Any, weight: Any) -> tg.Graph:
    """The arcs for shortest paths, the shortest of parallel ones."""
    return structure(G, weight, multi="min")


def _rescaled(
    found: Tensor, n: int, normalized: bool, directed: bool, endpoints: bool = True, sources: Any = None
) -> Tensor:
    """Sums over ordered pairs as networkx scales them: by the number of pairs, or to all pairs, unordered ones in an
    undirected graph. Without endpoints a source is in the pairs of the other sources only."""
    others = n if endpoints else n - 1
    if others < 2:
        return found
    correction = 1 if directed else 2

    def scale(sampled: int) -> float:
        return 1 / (sampled * (others - 1)) if normalized else others / (sampled * correction)

    if sources is None:
        return found * scale(others)
    scales = torch.full(found.shape, scale(len(sources)), dtype=torch.float64)
    if not endpoints:
        scales[sources] = scale(len(sources) - 1) if len(sources) > 1 else torch.nan
    return found * scales


@implements(cost="superlinear", gaps="weights that are not positive")
def betweenness_centrality(G, k=None, normalized=True, weight=None, endpoints=False, seed=None):
    n = len(G)
    sources = None if k is None or k == n else seed.sample(list(range(n)), k)
    options = {"normalized": False, "weighted": weight is not None, "endpoints": endpoints}
    found = algorithms.betweenness(arcs_for_paths(G, weight), sources, **options)
    if not G.is_directed() and (n if endpoints else n - 1) >= 2:
        found = found * 2
    return by_node(G, _rescaled(found, n, normalized, G.is_directed(), endpoints, sources))


made_of("betweenness_centrality", cost="superlinear")("bipartite_betweenness_centrality")


@implements(cost="superlinear", multigraphs=False, gaps="weights that are not positive")
def edge_betweenness_centrality(G, k=None, normalized=True, weight=None, seed=None):
    n = len(G)
    sources = None if k is None else seed.sample(list(range(n)), k)
    graph = arcs_for_paths(G, weight)
    found = algorithms.edge_betweenness(graph, sources, normalized=False, weighted=weight is not None)
    if not G.is_directed() and n >= 2:
        found = found * 2
    found = _rescaled(found, n, normalized, G.is_directed(), sources=sources)
    u, v, arc = listed_edges(G)
    return dict(zip(node_pairs(G, u, v), found[arc].tolist(), strict=True))


@implements(cost="superlinear", only={"weight": None})
def betweenness_centrality_subset(G, sources, targets, normalized=False, weight=None):
    graph, ends = simple(G), mask(G, targets)
    total = torch.zeros(len(G), dtype=torch.float64)
    for source, _, paths, onward in _sweeps(graph, numbers(G, sources), ends):
        dependency = torch.where(paths > 0, paths * onward - ends.double(), 0.0)
        dependency[source] = 0
        total += dependency
    return by_node(G, _rescaled(total, len(G), normalized, G.is_directed(), endpoints=False))
