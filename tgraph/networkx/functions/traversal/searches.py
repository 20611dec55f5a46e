"""Breadth-first searches, and what can be reached."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import networkx as nx
import torch
from torch import Tensor

from tgraph.networkx.functions._arcs import rows, weighted_rows
from tgraph.networkx.functions._nodes import names, node_pairs, number, numbers, slices
from tgraph.networkx.functions._weights import comparable
from tgraph.networkx.nodes import NoNode
from tgraph.networkx.registry import implements, made_of
from tgraph.primitives.paths import search


def tree(G: Any, source: Any, reverse: bool, depth_limit: int | None) -> Iterator[tuple[Any, Any]]:
    """The arcs of the tree of a search, (parent, child), in order."""
    arcs = rows(G, reverse=reverse)
    order, parent, _ = search.breadth_first(*arcs, numbers(G, [source]), depth_limit)
    return node_pairs(G, parent[1:], order[1:])


@implements(cost="light", only={"neighbors": None})
def generic_bfs_edges(G, source, neighbors=None, depth_limit=None):
    yield from tree(G, source, False, depth_limit)


@implements(cost="light", only={"sort_neighbors": None})
def bfs_edges(G, source, reverse=False, depth_limit=None, sort_neighbors=None):
    yield from tree(G, source, reverse, depth_limit)


@implements(cost="light")
def bfs_layers(G, sources):
    first = [sources] if sources in G else list(set(sources))
    numbers(G, first)
    if not first:
        return
    order, _, depth = search.breadth_first(*rows(G), numbers(G, first))
    yield from slices(names(G, order), depth.bincount().cumsum(0).tolist())


made_of("bfs_edges", cost="light", only={"sort_neighbors": None})("bfs_predecessors", "bfs_successors")


@implements(cost="light")
def descendants_at_distance(G, source, distance):
    order, _, depth = search.breadth_first(*rows(G), numbers(G, [source]), None)
    if not isinstance(distance, Real):  # such as None, which no number of arcs equals
        distance = next((hops for hops in range(len(order)) if hops == distance), -1)
    return set(names(G, order[depth == comparable(distance)]))


@implements(cost="light")
def descendants(G, source):
    order, _, _ = search.breadth_first(*rows(G), numbers(G, [source]))
    return set(names(G, order[1:]))


@implements(cost="light")
def ancestors(G, source):
    order, _, _ = search.breadth_first(*rows(G, reverse=True), numbers(G, [source]))
    return set(names(G, order[1:]))


def reached(G: Any, source: int, distance: Any = None, *, reverse: bool = False) -> tuple[Tensor, Tensor]:
    """The vertices that one reaches, or that reach it, and their distances, by hops or by an attribute."""
    if distance is None:
        order, _, depth = search.breadth_first(*rows(G, reverse=reverse), torch.tensor([source]))
        return order, depth
    order, _, _, far = dijkstra(*weighted_rows(G, distance, reverse=reverse), torch.tensor([source]))
    return order, far[order]


def dijkstra(*arguments: Any, **options: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """See `tgraph.primitives.search.dijkstra`. Raises ValueError where a negative weight makes a path shorter."""
    found = search.dijkstra(*arguments, **options)
    if found is None:
        raise ValueError("Contradictory paths found:", "negative weights?")
    return found


def own_ends(G: Any, source: Any, target: Any) -> tuple[int, int]:
    """The vertices of two nodes. Raises NoNode for a node that is given as another object: a path met from the other
    end has the graph's own."""
    ends = number(G, source), number(G, target)
    if G._given:
        raise NoNode("an end may be met from the other one, or be as given")
    return ends


def _between(G: Any, *ends: int) -> list[int]:
    """The vertices of a path of fewest arcs, none where there is no path."""
    return search.meet(*rows(G), *rows(G, reverse=True), *ends)


@implements(cost="local")
def bidirectional_shortest_path(G, source, target):
    path = _between(G, *own_ends(G, source, target))
    if not path:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return names(G, path)


@implements(cost="local")
def has_path(G, source, target):
    return bool(_between(G, number(G, source), number(G, target)))
