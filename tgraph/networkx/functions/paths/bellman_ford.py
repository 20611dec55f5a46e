"""Shortest paths by Bellman and Ford's algorithm, with weights that may be negative."""

from __future__ import annotations

from typing import Any

import networkx as nx
import torch
from torch import Tensor

from tgraph.networkx.caching import cached
from tgraph.networkx.functions._arcs import row_of_arcs, weighted_rows
from tgraph.networkx.functions._nodes import by_node, chain, names, number, numbers
from tgraph.networkx.functions._weights import require_one_kind
from tgraph.networkx.functions.paths.weighted_paths import tree_paths
from tgraph.networkx.functions.traversal.searches import dijkstra
from tgraph.networkx.registry import implements, made_of
from tgraph.primitives.paths import search

Found = tuple[list[int], list[list[int]], Tensor]


def _search(G: Any, sources: list[Any], weight: Any, early: bool = True) -> Found:
    """See `tgraph.primitives.search.bellman_ford`."""
    found = search.bellman_ford(*_finite_rows(G, weight), numbers(G, sources), early=early)
    if found is None:
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    return found


@cached
def _finite_rows(G: Any, weight: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Rows without the arcs of weight inf, which shorten no path."""
    offset, neighbors, weights = weighted_rows(G, weight)
    if not weights.is_floating_point() or not bool((infinite := weights.isinf()).any()):
        return offset, neighbors, weights
    before = torch.nn.functional.pad((~infinite).cumsum(0), (1, 0))
    return before[offset], neighbors[~infinite], weights[~infinite]


def _distances(G: Any, source: Any, found: Found, weight: Any) -> dict[Any, Any]:
    require_one_kind(G, weight)
    met, _, distance = found
    by_vertex = distance.tolist()
    far = by_node(G, [by_vertex[v] for v in met], met)
    far[source] = 0
    return far


def _paths(G: Any, found: Found, only: Any = None) -> dict[Any, list[Any]]:
    met, before, _ = found
    first = {v: above[0] if above else -1 for v, above in zip(met, before, strict=True)}
    first[met[0]] = -1  # the source ends every path
    paths = {}
    for v in met if only is None else [number(G, only)]:
        path = names(G, chain(first, v)[::-1])
        paths[path[-1]] = path
    return paths


@implements()
def single_source_bellman_ford(G, source, target=None, weight="weight"):
    ends = numbers(G, [source] if target is None else [source, target])
    if source == target:
        return 0, [source]
    if target is None:
        found = _search(G, [source], weight)
        return _distances(G, source, found, weight), _paths(G, found)
    length, found = _to(G, source, ends[1], weight, f"Target {target} cannot be reached from given sources")
    return length, _paths(G, found, target)[target]


def _to(G: Any, source: Any, end: Tensor, weight: Any, unreached: str) -> tuple[Any, Found]:
    """The distance of a vertex, and the search."""
    found = _search(G, [source], weight)
    if int(end) not in found[0]:
        raise nx.NetworkXNoPath(unreached)
    require_one_kind(G, weight)
    return found[2][end].item(), found


@implements()
def single_source_bellman_ford_path(G, source, weight="weight"):
    return _paths(G, _search(G, [source], weight))


@implements()
def single_source_bellman_ford_path_length(G, source, weight="weight"):
    return _distances(G, source, _search(G, [source], weight), weight)


@implements()
def bellman_ford_path_length(G, source, target, weight="weight"):
    ends = numbers(G, [source, target])
    if source == target:
        return 0
    return _to(G, source, ends[1], weight, f"node {target} not reachable from {source}")[0]


made_of("single_source_bellman_ford")("bellman_ford_path")
made_of("single_source_bellman_ford_path", cost="superlinear")("all_pairs_bellman_ford_path")
made_of("single_source_bellman_ford_path_length", cost="superlinear")("all_pairs_bellman_ford_path_length")


def _check_loops(G: Any, weight: Any) -> None:
    offset, neighbors, weights = weighted_rows(G, weight)
    row = row_of_arcs(offset)
    if bool((weights[row == neighbors] < 0).any()):
        raise nx.NetworkXUnbounded("Negative cycle detected.")


@implements()
def bellman_ford_predecessor_and_distance(G, source, target=None, weight="weight", heuristic=False):
    number(G, source)
    _check_loops(G, weight)
    if len(G) == 1:
        return {source: []}, {source: 0}
    met, before, _ = found = _search(G, [source], weight, heuristic)
    lists = [names(G, above) for above in before]
    return dict(zip(names(G, met), lists, strict=True)), _distances(G, source, found, weight)


@implements()
def negative_edge_cycle(G, weight="weight", heuristic=True):
    if G.number_of_edges() == 0:
        return False
    _, _, weights = arcs = _finite_rows(G, weight)
    if not bool((weights < 0).any()):
        return False
    if not G.is_directed():
        return True
    return search.bellman_ford(*arcs, torch.arange(len(G)), early=True) is None


@implements(cost="superlinear")
def johnson(G, weight="weight"):
    offset, neighbors, weights = weighted_rows(G, weight)
    found = search.bellman_ford(*_finite_rows(G, weight), torch.arange(len(G)))
    if found is None:
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    potential = found[2]
    row = row_of_arcs(offset)
    lengths = weights + potential[row] - potential[neighbors]
    paths = {}
    for source, node in enumerate(G):
        paths[node] = tree_paths(G, dijkstra(offset, neighbors, lengths, torch.tensor([source])))
    return paths
