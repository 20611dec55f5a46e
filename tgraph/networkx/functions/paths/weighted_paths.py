"""Shortest paths by Dijkstra's algorithm, with networkx's choice among paths of equal length."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import networkx as nx
import torch
from torch import Tensor

from tgraph.networkx.functions._arcs import row_of_arcs, structure, weighted_rows
from tgraph.networkx.functions._nodes import chain, names, node_pairs, number, numbers
from tgraph.networkx.functions._weights import require_one_kind
from tgraph.networkx.functions.traversal.searches import dijkstra, own_ends
from tgraph.networkx.nodes import NoNode
from tgraph.networkx.registry import implements, made_of
from tgraph.primitives.paths import search


def _search(
    G: Any, sources: Tensor, weight: Any, cutoff: float | None = None, target: Any = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """See `tgraph.primitives.search.dijkstra`."""
    offset, neighbors, weights = weighted_rows(G, weight)
    if sources.shape[0] > 1 and structure(G, weight).weight_range[0] < 0:
        raise NotImplementedError(f"{weight!r}: is negative, and leads from one source to another")
    if cutoff is not None and not weights.is_floating_point():
        cutoff = None if cutoff >= 2**62 else math.floor(cutoff)
    elif cutoff is not None:
        cutoff = float(cutoff)
    end = None if target is None or target not in G else number(G, target)
    return dijkstra(offset, neighbors, weights, sources, cutoff=cutoff, target=end)


def _distances(G: Any, sources: Iterable[Any], found: tuple[Tensor, ...], weight: Any) -> dict[Any, Any]:
    order, _, parent, distance = found
    far = lengths(G, order, parent, distance, weight)
    by_node = dict(zip(names(G, order), far, strict=True))
    by_node.update(dict.fromkeys(sources, 0))
    return by_node


def lengths(G: Any, order: Tensor, parent: Tensor, distance: Tensor, weight: Any) -> list[Any]:
    """The distances of vertices, each after its parent: integers if all weights on the path are."""
    found = distance[order].tolist()
    whole = G._whole_of(weight)
    if not distance.is_floating_point() or not whole.any():
        return found
    if G.is_multigraph():
        require_one_kind(G, weight)
    row = torch.repeat_interleave(torch.arange(len(G)), G.structure.decoded().offset.diff())
    key = row * len(G) + G.structure.decoded().neighbors
    arc = torch.searchsorted(key, parent[order].clamp(min=0) * len(G) + order).clamp(max=len(key) - 1)
    exact = {-1: True}
    whole = (whole if len(whole) == len(key) else whole.expand(len(key)))[arc]
    for v, above, own in zip(order.tolist(), parent[order].tolist(), whole.tolist(), strict=True):
        exact[v] = exact[above] and (own or above < 0)
    return [int(far) if exact[v] else far for v, far in zip(order.tolist(), found, strict=True)]


def tree_paths(G: Any, found: tuple[Tensor, ...]) -> dict[Any, list[Any]]:
    order, _, parent, _ = found
    paths: dict[int, list[Any]] = {}
    labels = names(G, order)
    for v, label, above in zip(order.tolist(), labels, parent[order].tolist(), strict=True):
        paths[v] = [label] if above < 0 else [*paths[above], label]
    return dict(zip(labels, paths.values(), strict=True))


def _chain(G: Any, found: tuple[Tensor, ...], target: Any) -> list[Any]:
    """The path to one vertex."""
    return names(G, chain(found[2], number(G, target))[::-1])


def _length(G: Any, found: tuple[Tensor, ...], target: Any, weight: Any) -> Any:
    """The length of the path to one vertex."""
    order, _, parent, distance = found
    if distance.is_floating_point():
        return dict(zip(order.tolist(), lengths(G, order, parent, distance, weight), strict=True))[number(G, target)]
    return distance[number(G, target)].item()


def _vertices(G: Any, sources: Any) -> Tensor:
    if not sources:
        raise ValueError("sources must not be empty")
    if isinstance(sources, str):
        raise NoNode("a text, whose characters may be nodes")
    return numbers(G, sources)


def _reaches(G: Any, found: tuple[Tensor, ...], target: Any) -> bool:
    return target in G and bool((found[0][-1:] == number(G, target)).any())


@implements()
def multi_source_dijkstra(G, sources, target=None, cutoff=None, weight="weight"):
    vertices = _vertices(G, sources)
    if target is not None:
        number(G, target)
    if target in sources:
        return 0, [target]
    found = _search(G, vertices, weight, cutoff, target)
    if target is None:
        return _distances(G, sources, found, weight), tree_paths(G, found)
    if not _reaches(G, found, target):
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return _length(G, found, target, weight), _chain(G, found, target)


@implements()
def multi_source_dijkstra_path(G, sources, cutoff=None, weight="weight"):
    return tree_paths(G, _search(G, _vertices(G, sources), weight, cutoff))


@implements()
def multi_source_dijkstra_path_length(G, sources, cutoff=None, weight="weight"):
    return _distances(G, sources, _search(G, _vertices(G, sources), weight, cutoff), weight)


@implements()
def single_source_dijkstra(G, source, target=None, cutoff=None, weight="weight"):
    return multi_source_dijkstra(G, [source], target, cutoff, weight)


@implements()
def single_source_dijkstra_path(G, source, cutoff=None, weight="weight"):
    return multi_source_dijkstra_path(G, [source], cutoff, weight)


@implements()
def single_source_dijkstra_path_length(G, source, cutoff=None, weight="weight"):
    return multi_source_dijkstra_path_length(G, [source], cutoff, weight)


@implements()
def dijkstra_path(G, source, target, weight="weight"):
    return multi_source_dijkstra(G, [source], target, None, weight)[1]


made_of("single_source_dijkstra", cost="superlinear")("all_pairs_dijkstra")
made_of("single_source_dijkstra_path", cost="superlinear")("all_pairs_dijkstra_path")
made_of("single_source_dijkstra_path_length", cost="superlinear")("all_pairs_dijkstra_path_length")


@implements()
def dijkstra_path_length(G, source, target, weight="weight"):
    number(G, source)
    if source == target:
        return 0
    found = _search(G, numbers(G, [source]), weight, target=target)
    if not _reaches(G, found, target):
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return _length(G, found, target, weight)


@implements()
def dijkstra_predecessor_and_distance(G, source, cutoff=None, weight="weight"):
    order, met, _, distance = found = _search(G, numbers(G, [source]), weight, cutoff)
    place = torch.full((len(G),), -1)
    place[order] = torch.arange(len(order))
    offset, neighbors, weights = weighted_rows(G, weight)
    row = row_of_arcs(offset)
    tight = (place[row] >= 0) & (place[neighbors] >= 0) & (distance[row] + weights == distance[neighbors])
    before: dict[Any, list[Any]] = {node: [] for node in names(G, met)}
    row, target = row[tight], neighbors[tight]
    by_place = place[row].argsort(stable=True)
    for u, v in node_pairs(G, row[by_place], target[by_place]):
        before[v].append(u)
    return before, _distances(G, [source], found, weight)


@implements()
def bidirectional_dijkstra(G, source, target, weight="weight"):
    ends = own_ends(G, source, target)
    if source == target:
        return 0, [source]
    require_one_kind(G, weight)
    arcs, back = weighted_rows(G, weight), weighted_rows(G, weight, reverse=True)
    found = search.meet_weighted(*arcs, *back, *ends)
    if found is None:
        raise ValueError("Contradictory paths found: negative weights?")
    if not found[0]:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return found[1], names(G, found[0])
