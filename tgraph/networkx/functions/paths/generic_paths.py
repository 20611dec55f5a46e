"""Shortest paths by a method of choice, and all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from networkx.algorithms.shortest_paths.generic import _build_paths_from_predecessors

from tgraph.networkx.functions._shared import names, numbers, row_entries, rows
from tgraph.networkx.functions.paths import bellman_ford, unweighted_paths, weighted_paths
from tgraph.networkx.functions.traversal import searches
from tgraph.networkx.registry import implements
from tgraph.primitives.paths import search


def _method(weight: Any, method: str) -> str:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    return "unweighted" if weight is None else method


def _refuses_target(G, source, target, weight, method):
    if source is None and target is not None and weight is not None and G.is_directed():
        return "all paths by weight to a target"
    return None


# A path between two nodes by hops is found from both ends.
COSTS = {"weight": "linear", "target": "local", "source": "light"}

PATHS: dict[str, tuple[Callable, Callable, Callable]] = {
    "dijkstra": (
        weighted_paths.all_pairs_dijkstra_path,
        weighted_paths.single_source_dijkstra_path,
        lambda G, s, t, weight: weighted_paths.bidirectional_dijkstra(G, s, t, weight)[1],
    ),
    "bellman-ford": (
        bellman_ford.all_pairs_bellman_ford_path,
        bellman_ford.single_source_bellman_ford_path,
        bellman_ford.bellman_ford_path,
    ),
}
LENGTHS: dict[str, tuple[Callable, Callable, Callable]] = {
    "dijkstra": (
        weighted_paths.all_pairs_dijkstra_path_length,
        weighted_paths.single_source_dijkstra_path_length,
        weighted_paths.dijkstra_path_length,
    ),
    "bellman-ford": (
        bellman_ford.all_pairs_bellman_ford_path_length,
        bellman_ford.single_source_bellman_ford_path_length,
        bellman_ford.bellman_ford_path_length,
    ),
}


@implements(
    refuses=_refuses_target,
    gaps="of directed graphs, all paths by weight to a target",
    cost="superlinear",
    given={"weight": "linear", "target": "local", "source": "light"},
)
def shortest_path(G, source=None, target=None, weight=None, method="dijkstra"):
    method = _method(weight, method)
    if method == "unweighted":
        if source is None:
            if target is None:
                return unweighted_paths.all_pairs_shortest_path(G)
            return unweighted_paths.tree_paths(G, target, None, reverse=True)
        if target is None:
            return unweighted_paths.single_source_shortest_path(G, source)
        return searches.shortest_between(G, source, target)
    every, single, pair = PATHS[method]
    if source is None:
        if target is None:
            return every(G, weight=weight)
        return {node: path[::-1] for node, path in single(G, target, weight=weight).items()}
    return single(G, source, weight=weight) if target is None else pair(G, source, target, weight)


@implements(
    refuses=_refuses_target,
    gaps="of directed graphs, all lengths by weight to a target",
    cost="superlinear",
    given={"weight": "linear", "target": "local", "source": "light"},
)
def shortest_path_length(G, source=None, target=None, weight=None, method="dijkstra"):
    method = _method(weight, method)
    if method == "unweighted":
        if source is None:
            if target is None:
                return unweighted_paths.all_pairs_shortest_path_length(G)
            return unweighted_paths.tree_lengths(G, target, None, reverse=True)
        if target is None:
            return unweighted_paths.single_source_shortest_path_length(G, source)
        return len(searches.shortest_between(G, source, target)) - 1
    every, single, pair = LENGTHS[method]
    if source is None:
        return every(G, weight=weight) if target is None else single(G, target, weight=weight)
    return single(G, source, weight=weight) if target is None else pair(G, source, target, weight)


def _predecessors(G: Any, source: Any, cutoff: float | None = None) -> tuple[dict[Any, list[Any]], dict[Any, int]]:
    """The vertices before each one on shortest paths from the source, and how far each is."""
    limit = None if not cutoff or cutoff == math.inf else max(-(-cutoff // 1), 1)
    offset, neighbors = rows(G)
    order, _, hops = search.breadth_first(
        offset, neighbors, numbers(G, [source]), None if limit is None else int(limit)
    )
    depth = torch.full((len(G),), -1)
    depth[order] = hops
    entry, arc = row_entries(offset, order)
    above, below = order[entry], neighbors[arc].to(torch.int64)
    tight = depth[below] == depth[above] + 1
    if G.is_multigraph():
        tight[1:] &= (above[1:] != above[:-1]) | (below[1:] != below[:-1])
    found: dict[Any, list[Any]] = {node: [] for node in names(G, order)}
    for u, v in zip(names(G, above[tight]), names(G, below[tight]), strict=True):
        found[v].append(u)
    return found, dict(zip(found, hops.tolist(), strict=True))


@implements()
def predecessor(G, source, target=None, cutoff=None, return_seen=None):
    before, seen = _predecessors(G, source, cutoff)
    if target is None:
        return (before, seen) if return_seen else before
    if target not in before:
        return ([], -1) if return_seen else []
    return (before[target], seen[target]) if return_seen else before[target]


def _before(G: Any, source: Any, weight: Any, method: str) -> dict[Any, list[Any]]:
    if weight is None or method == "unweighted":
        return predecessor(G, source)
    if method == "dijkstra":
        return weighted_paths.dijkstra_predecessor_and_distance(G, source, weight=weight)[0]
    if method == "bellman-ford":
        return bellman_ford.bellman_ford_predecessor_and_distance(G, source, weight=weight)[0]
    raise ValueError(f"method not supported: {method}")


@implements()
def all_shortest_paths(G, source, target, weight=None, method="dijkstra"):
    before = _before(G, source, weight, method)
    return _build_paths_from_predecessors({source}, target, before)


def _from(G: Any, source: Any, weight: Any, method: str) -> Iterator[tuple[Any, list[list[Any]]]]:
    before = _before(G, source, weight, method)
    for node in before:
        yield node, list(_build_paths_from_predecessors({source}, node, before))


@implements()
def single_source_all_shortest_paths(G, source, weight=None, method="dijkstra"):
    yield from _from(G, source, weight, method)


@implements(cost="superlinear")
def all_pairs_all_shortest_paths(G, weight=None, method="dijkstra"):
    for source in G:
        yield source, dict(_from(G, source, weight, method))
