"""Shortest paths by a method of choice, and all of them."""

from __future__ import annotations

import math
from typing import Any

import torch

from tgraph.networkx.functions._arcs import row_entries, rows
from tgraph.networkx.functions._nodes import names, node_pairs, numbers
from tgraph.networkx.registry import implements, made_of
from tgraph.primitives.paths import search

# A path between two nodes by hops is found from both ends.
COSTS: dict[str, Any] = {
    "cost": "superlinear",
    "given": {"weight": "linear", "target": "local", "source": "light"},
}
made_of(
    *("all_pairs_shortest_path", "single_source_shortest_path", "bidirectional_shortest_path"),
    *("all_pairs_dijkstra_path", "single_source_dijkstra_path", "bidirectional_dijkstra"),
    *("all_pairs_bellman_ford_path", "single_source_bellman_ford_path", "bellman_ford_path"),
    **COSTS,
)("shortest_path")
made_of(
    *("all_pairs_shortest_path_length", "single_source_shortest_path_length", "bidirectional_shortest_path"),
    *("all_pairs_dijkstra_path_length", "single_source_dijkstra_path_length", "dijkstra_path_length"),
    *("all_pairs_bellman_ford_path_length", "single_source_bellman_ford_path_length", "bellman_ford_path_length"),
    **COSTS,
)("shortest_path_length")
made_of("predecessor", "dijkstra_predecessor_and_distance", "bellman_ford_predecessor_and_distance")(
    "all_shortest_paths", "single_source_all_shortest_paths"
)
made_of("single_source_all_shortest_paths", cost="superlinear")("all_pairs_all_shortest_paths")


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
    for u, v in node_pairs(G, above[tight], below[tight]):
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
