"""Paths without a node twice, shortest first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from tgraph.errors import ArgumentError
from tgraph.networkx.functions._arcs import structure
from tgraph.networkx.functions._nodes import names
from tgraph.networkx.functions.traversal.searches import own_ends
from tgraph.networkx.registry import implements
from tgraph.primitives.paths import shortest_paths


@implements(cost="superlinear", gaps="nothing; the order of equally long paths is another than networkx's")
def shortest_simple_paths(G, source, target, weight=None):
    if weight is not None and len(G):
        shortest_paths.check_sums(structure(G, weight))
    return _paths(G, source, target, weight)


def _paths(G: Any, source: Any, target: Any, weight: Any) -> Iterator[list[Any]]:
    ends = own_ends(G, source, target)
    graph, done, count = structure(G, weight), 0, 4
    while done < count:  # how many will be asked for is not known: each time four times as many
        try:
            found = shortest_paths.k_shortest(graph, *ends, count, weighted=weight is not None)
        except ArgumentError as fault:
            raise ValueError("Contradictory paths found:", "negative weights?") from fault
        if not found:
            raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
        for path, _ in found[done:]:
            yield names(G, path)
        done, count = count, 4 * count if len(found) == count else 0
