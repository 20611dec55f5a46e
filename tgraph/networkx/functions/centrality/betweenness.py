"""Betweenness of nodes and edges, and between some sources and some targets (Brandes 2001)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from networkx.algorithms.centrality.betweenness import _rescale
from torch import Tensor

import tgraph as tg
from tgraph import algorithms
from tgraph.networkx.functions._building import listed_edges
from tgraph.networkx.functions._shared import by_node, mask, names, numbers, simple
from tgraph.networkx.registry import implements, made_of

COUNTABLE = 1e300  # beyond so many paths their number loses digits


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
    """The arcs by which shortest paths go, the shortest of parallel ones."""
    return G.structure if weight is None else G.weighted(weight, multi="min")


def by_tensors(compute: Any, *arguments: Any, **options: Any) -> Tensor:
    """What an algorithm finds; NotImplementedError where it does not take the weights."""
    try:
        return compute(*arguments, **options)
    except tg.errors.ArgumentError as fault:
        raise NotImplementedError(str(fault)) from fault


@implements(cost="superlinear", gaps="weights that are not positive")
def betweenness_centrality(G, k=None, normalized=True, weight=None, endpoints=False, seed=None):
    n = len(G)
    sources = None if k is None or k == n else seed.sample(list(range(n)), k)
    options = {"normalized": False, "weighted": weight is not None, "endpoints": endpoints}
    found = by_tensors(algorithms.betweenness, arcs_for_paths(G, weight), sources, **options)
    if not G.is_directed() and (n if endpoints else n - 1) >= 2:
        found = found * 2
    sampled = None if sources is None else names(G, sources)
    shape = {"normalized": normalized, "directed": G.is_directed(), "endpoints": endpoints}
    return _rescale(by_node(G, found), n, sampled_nodes=sampled, **shape)


made_of("betweenness_centrality", cost="superlinear")("bipartite_betweenness_centrality")


@implements(
    cost="superlinear",
    refuses=lambda G, k, normalized, weight, seed: "multigraphs" if G.is_multigraph() else None,
    gaps="multigraphs; weights that are not positive",
)
def edge_betweenness_centrality(G, k=None, normalized=True, weight=None, seed=None):
    n = len(G)
    sources = None if k is None else seed.sample(list(range(n)), k)
    graph = arcs_for_paths(G, weight)
    found = by_tensors(algorithms.edge_betweenness, graph, sources, normalized=False, weighted=weight is not None)
    if not G.is_directed() and n >= 2:
        found = found * 2
    u, v, arc = listed_edges(G)
    by_edge = dict(zip(zip(names(G, u), names(G, v), strict=True), found[arc].tolist(), strict=True))
    sampled = None if sources is None else names(G, sources)
    return _rescale(by_edge, n, normalized=normalized, directed=G.is_directed(), sampled_nodes=sampled)


@implements(
    cost="superlinear",
    refuses=lambda G, sources, targets, normalized, weight: None if weight is None else "paths by weight",
    gaps="weight",
)
def betweenness_centrality_subset(G, sources, targets, normalized=False, weight=None):
    graph, ends = simple(G), mask(G, targets)
    total = torch.zeros(len(G), dtype=torch.float64)
    for source, _, paths, onward in _sweeps(graph, numbers(G, sources), ends):
        dependency = torch.where(paths > 0, paths * onward - ends.double(), 0.0)
        dependency[source] = 0
        total += dependency
    return _rescale(by_node(G, total), len(G), normalized=normalized, directed=G.is_directed(), endpoints=False)
