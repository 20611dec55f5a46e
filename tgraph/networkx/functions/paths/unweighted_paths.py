"""Shortest paths by the number of hops: from a source, to a target, for all pairs."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import torch
from torch import Tensor

import tgraph as tg
from tgraph.kernels.operators.paths.search import breadth_first_each
from tgraph.networkx.functions._arcs import rows
from tgraph.networkx.functions._nodes import by_node, names, numbers
from tgraph.networkx.registry import implements, made_of
from tgraph.primitives.centrality.multi_source import level_counts
from tgraph.primitives.paths import search

SEARCHED_AT_ONCE = 1 << 12
ENTRIES_AT_ONCE = 1 << 16  # of results of searches, held until they are asked for


def _search(G: Any, source: Any, cutoff: float | None, reverse: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """The vertices in the order of the search, their parents, and their depths."""
    return search.breadth_first(*rows(G, reverse=reverse), numbers(G, [source]), _limit(cutoff))


def _limit(cutoff: float | None) -> int | None:
    """The depth that a search goes to, None for all."""
    return None if cutoff is None or cutoff == math.inf else max(math.ceil(cutoff), 0)


def tree_lengths(G: Any, source: Any, cutoff: float | None, reverse: bool = False) -> dict[Any, int]:
    order, _, depth = _search(G, source, cutoff, reverse)
    return by_node(G, depth, order)


def tree_paths(G: Any, source: Any, cutoff: float | None, reverse: bool = False) -> dict[Any, list[Any]]:
    order, parent, _ = _search(G, source, cutoff, reverse)
    found, above = names(G, order), names(G, parent[1:])
    paths = {found[0]: [found[0]]}
    for v, last in zip(found[1:], above, strict=True):
        paths[v] = [v, *paths[last]] if reverse else [*paths[last], v]
    return paths


@implements(cost="light")
def single_source_shortest_path_length(G, source, cutoff=None):
    return tree_lengths(G, source, cutoff)


@implements(cost="light")
def single_target_shortest_path_length(G, target, cutoff=None):
    return tree_lengths(G, target, cutoff, reverse=True)


@implements(cost="light")
def single_source_shortest_path(G, source, cutoff=None):
    return tree_paths(G, source, cutoff)


@implements(cost="light")
def single_target_shortest_path(G, target, cutoff=None):
    return tree_paths(G, target, cutoff, reverse=True)


made_of("single_source_shortest_path", cost="superlinear")("all_pairs_shortest_path")


@implements(cost="superlinear")
def all_pairs_shortest_path_length(G, cutoff=None):
    n, limit = len(G), _limit(cutoff)
    for sources in torch.arange(n).split(max(ENTRIES_AT_ONCE // max(n, 1), 1)):
        order, depth, ends = breadth_first_each(*rows(G), sources, n if limit is None else min(limit, n))
        nodes, hops, begin = names(G, order), depth.tolist(), 0
        for source, end in zip(names(G, sources), ends.tolist(), strict=True):
            yield source, dict(zip(nodes[begin:end], hops[begin:end], strict=True))
            begin = end


made_of("all_pairs_shortest_path_length", cost="superlinear")("global_efficiency")


def pairs_by_hops(graph: tg.Graph) -> Tensor:
    """The number of ordered pairs of vertices at each distance, int64 [longest + 1]."""
    parts = torch.arange(graph.num_vertices).split(SEARCHED_AT_ONCE)
    return torch.nn.utils.rnn.pad_sequence([level_counts(graph, part).sum(0) for part in parts]).sum(1)


def total_hops(G: Any) -> int | None:
    """The distances of all ordered pairs added, None where some have no path."""
    counts = pairs_by_hops(G.structure)
    return int((counts * torch.arange(len(counts))).sum()) if int(counts.sum()) == len(G) ** 2 else None


@implements(cost="superlinear")
def average_shortest_path_length(G, weight=None, method=None):
    n = len(G)
    by_hops = n > 1 and method in (None, "unweighted") and (method or weight is None)
    if by_hops and (total := total_hops(G)) is not None:
        return total / (n * (n - 1))
    # the errors, and the other methods, on functions that run here
    networkx_own = nx.utils.backends._registered_algorithms["average_shortest_path_length"].orig_func
    return networkx_own(G, weight=weight, method=method)


made_of("shortest_path_length", cost="local")("efficiency")
