"""Betweenness of edges, and of nodes between some sources and some targets (Brandes 2001, as in
`tgraph.algorithms.betweenness`)."""

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
from tgraph.networkx.registry import implements

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


def _by_arc(graph: tg.Graph, sources: Tensor, ends: Tensor) -> Tensor:
    source, target = graph.to_edge_index()
    total = torch.zeros(graph.num_arcs, dtype=torch.float64)
    for _, depth, paths, onward in _sweeps(graph, sources, ends):
        onto = (depth[source] >= 0) & (depth[target] == depth[source] + 1)
        total += torch.where(onto, paths[source] * onward[target], 0.0)
    return total


def _by_edge(G: Any, sources: Tensor, ends: Tensor) -> dict[Any, float]:
    graph = G.structure
    total = _by_arc(graph, sources, ends)
    if not graph.directed:
        loop = torch.eq(*graph.to_edge_index())
        total = torch.where(loop, total, total + total[graph.transpose_permutation])
    u, v, arc = listed_edges(G)
    return dict(zip(zip(names(G, u), names(G, v), strict=True), total[arc].tolist(), strict=True))


def _refuses(G: Any, weight: Any) -> str | None:
    if weight is not None:
        return "paths by weight"
    return "multigraphs" if G.is_multigraph() else None


@implements(
    cost="superlinear", refuses=lambda G, k, normalized, weight, seed: _refuses(G, weight), gaps="weight; multigraphs"
)
def edge_betweenness_centrality(G, k=None, normalized=True, weight=None, seed=None):
    n = len(G)
    sources = torch.arange(n) if k is None else torch.tensor(seed.sample(list(range(n)), k), dtype=torch.int64)
    found = _by_edge(G, sources, torch.ones(n, dtype=torch.bool))
    sampled = None if k is None else names(G, sources)
    return _rescale(found, n, normalized=normalized, directed=G.is_directed(), sampled_nodes=sampled)


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
