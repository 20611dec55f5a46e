"""Subgraphs: around a node, by core number, trees of searches, and nodes renamed."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, le
from typing import Any

import torch

from tgraph.networkx.functions._arcs import row_of_arcs, rows
from tgraph.networkx.functions._building import (
    build,
    column_of,
    compact,
    first_of_each,
    induced,
    listed_edges,
    rebuilt,
    with_columns,
)
from tgraph.networkx.functions._nodes import nodes_in
from tgraph.networkx.functions._weights import comparable
from tgraph.networkx.functions.groups import clustering, components
from tgraph.networkx.functions.paths import unweighted_paths, weighted_paths
from tgraph.networkx.functions.traversal import depth_first, searches
from tgraph.networkx.nodes import NoNode
from tgraph.networkx.registry import implements


def _refuses_both_ways(G, undirected):
    return "undirected=True of a directed graph" if undirected and G.is_directed() else None


@implements(refuses=_refuses_both_ways, gaps="undirected=True of directed graphs", cost="local")
def ego_graph(G, n, radius=1, center=True, undirected=False, distance=None):
    if G._given:
        raise NoNode("the node is named as given, but not as a neighbour")
    if distance is not None:
        near = weighted_paths.multi_source_dijkstra_path_length(G, {n}, cutoff=radius, weight=distance)
    else:
        near = unweighted_paths.single_source_shortest_path_length(G, n, cutoff=radius)
    found = induced(G, near)
    return found if center else induced(found, [node for node in found if node != n])


def _by_core_number(name: str, compare: Callable[[Any, Any], bool], below: int = 0) -> None:
    """Register a function: the graph of the nodes by a comparison of their core numbers with k, by default the largest
    core number minus `below`."""

    def run(G, k=None, core_number=None):
        core = clustering.core_number(G) if core_number is None else core_number
        k = max(core.values()) - below if k is None else k
        return induced(G, (node for node, level in core.items() if compare(level, k)))

    implements(cost="superlinear", name=name)(run)


_by_core_number("k_core", ge)
_by_core_number("k_shell", eq)
_by_core_number("k_crust", le, below=1)


@implements(cost="superlinear")
def k_corona(G, k, core_number=None):
    core = clustering.core_number(G) if core_number is None else core_number
    if not core.keys() >= set(G):
        raise NotImplementedError("core_number of some nodes")
    levels = torch.tensor([core[node] for node in G])
    offset, neighbors = rows(G)
    count = row_of_arcs(offset)[levels[neighbors] >= comparable(k)].bincount(minlength=len(G))
    return induced(G, nodes_in(G, (levels == comparable(k)) & (count == comparable(k))))


def _tree(nodes: list[Any], edges: list[tuple[Any, Any]]) -> Any:
    index = {node: i for i, node in enumerate(nodes)}
    ends = torch.tensor([(index[u], index[v]) for u, v in edges], dtype=torch.int64).reshape(-1, 2)
    return build(True, compact(nodes), ends[:, 0], ends[:, 1])


@implements(only={"sort_neighbors": None})
def bfs_tree(G, source, reverse=False, depth_limit=None, sort_neighbors=None):
    edges = list(searches.tree(G, source, reverse, depth_limit))
    return _tree([source, *(child for _, child in edges)], edges)


@implements(only=depth_first.ONLY)
def dfs_tree(G, source=None, depth_limit=None, *, sort_neighbors=None):
    edges = depth_first.tree(G, source, depth_limit)
    return _tree(list(G) if source is None else [source, *(child for _, child in edges)], edges)


@implements(only={"scc": None})
def condensation(G, scc=None):
    component = components.strong(G)
    members = list(components.groups(G, component))
    source, target, _ = listed_edges(G)
    source, target = component[source], component[target]
    source, target = source[source != target], target[source != target]
    count = len(members)
    first, _ = first_of_each(source, target, count, True)
    mapping = {node: i for i, group in enumerate(members) for node in group}
    columns = {"members": column_of(members)} if members else {}
    attributes = {"mapping": mapping}
    return build(True, range(count), source[first], target[first], node_columns=columns, attributes=attributes)


def _renamed(G: Any, labels: list[Any]) -> Any:
    if len(set(labels)) < len(labels):
        raise NotImplementedError("nodes that are given one name")
    source, target, arc = listed_edges(G)
    return rebuilt(G, compact(labels), source, target, arc)


@implements(only={"copy": True}, gaps="nodes that are given one name")
def relabel_nodes(G, mapping, copy=True):
    get = mapping if callable(mapping) else lambda node: mapping.get(node, node)
    return _renamed(G, [get(node) for node in G])


@implements(only={"ordering": "default"})
def convert_node_labels_to_integers(G, first_label=0, ordering="default", label_attribute=None):
    labels = list(range(first_label, first_label + len(G)))
    found = _renamed(G, labels)
    if label_attribute is None or not len(G):
        return found
    return with_columns(found, {label_attribute: column_of(list(G))})
