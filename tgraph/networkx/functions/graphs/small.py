"""Questions about a few nodes or edges, tournaments, partitions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, combinations, pairwise
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from tgraph.networkx.functions._arcs import edges, rows
from tgraph.networkx.functions._nodes import mask, names, node_pairs, number, numbers, slices
from tgraph.networkx.functions.centrality import degrees
from tgraph.networkx.functions.groups import components
from tgraph.networkx.functions.traversal.searches import reached
from tgraph.networkx.nodes import NoNode
from tgraph.networkx.registry import implements, made_of

ABSENT: Any = object()  # an attribute that is not there


@implements(cost="local")
def is_simple_path(G, nodes):
    if len(nodes) <= 1:
        return len(nodes) == 1 and nodes[0] in G
    if not all(node in G for node in nodes) or len(set(nodes)) != len(nodes):
        return False
    return all(G.has_edge(u, v) for u, v in pairwise(nodes))


@implements(cost="light")
def is_triad(G):
    return isinstance(G, nx.Graph) and len(G) == 3 and G.is_directed() and not G.structure.num_self_loops


@implements(cost="local")
def mutual_weight(G, u, v, weight=None):
    return _weight(G, u, v, weight) + _weight(G, v, u, weight)


def _weight(G: Any, u: Any, v: Any, weight: Any) -> Any:
    try:
        return G[u][v].get(weight, 1)
    except KeyError:
        return 0


@implements(cost="light", only={"edge": None})
def is_negatively_weighted(G, edge=None, weight="weight"):
    if weight is None or G.edge_column(weight) is None:
        return False
    weights = G.weighted(weight).decoded().weights
    return bool((weights < 0).any())


def _require_tournament(G: Any) -> None:
    if not degrees.is_tournament(G):
        raise NotImplementedError("the graph is no tournament")


@implements(cost="light", gaps="graphs that are no tournaments")
def is_reachable(G, s, t):
    _require_tournament(G)
    return bool((reached(G, number(G, s))[0] == number(G, t)).any())


@implements(cost="light", name="tournament_is_strongly_connected", gaps="graphs that are no tournaments")
def is_strongly_connected(G):
    _require_tournament(G)
    return len(G) == 0 or not bool(components.strong(G).any())


def _arrows(G: Any) -> Any:
    """(one parent, the node, another parent)"""
    offset, neighbors = rows(G, reverse=True)
    for node, parents in zip(G, slices(names(G, neighbors), offset[1:].tolist()), strict=True):
        for one, other in combinations(parents, 2):
            yield one, node, other


@implements(cost="light", multigraphs=False)
def colliders(G):
    yield from _arrows(G)


@implements(cost="light", multigraphs=False)
def v_structures(G):
    source, target, _ = edges(G)
    adjacent = set(node_pairs(G, source, target))
    for one, node, other in _arrows(G):
        if (one, other) not in adjacent and (other, one) not in adjacent:
            yield one, node, other


def labels_of(G: Any, partition: Iterable[Iterable[Any]]) -> Tensor | None:
    """The part that each vertex is in, -1 for none; None where one is in two."""
    parts = [set(part) for part in partition]
    try:
        vertices = numbers(G, chain.from_iterable(parts))
    except NoNode:  # skip objects that are no nodes
        parts = [{node for node in part if node in G} for part in parts]
        vertices = numbers(G, chain.from_iterable(parts))
    number_of = torch.from_numpy(np.repeat(np.arange(len(parts)), list(map(len, parts))))
    label = torch.full((len(G),), -1)
    label[vertices] = number_of
    return label if torch.equal(label[vertices], number_of) else None


@implements(cost="light")
def intra_community_edges(G, partition):
    partition = list(partition)
    source, target, _ = edges(G)
    label = labels_of(G, partition)
    if label is not None:
        return int(((label[source] == label[target]) & (label[source] >= 0)).sum())
    inside = [mask(G, part) for part in partition]
    return sum(int((each[source] & each[target]).sum()) for each in inside)


@implements(cost="light", multigraphs=False)
def inter_community_edges(G, partition):
    parts = list(partition.values() if isinstance(partition, dict) else partition)
    inside = {node for part in parts for node in part if node in G}
    if len(inside) != sum(map(len, parts)):
        raise nx.NetworkXException("each node must be in exactly one part of `partition`")
    label = labels_of(G, parts)
    assert label is not None
    source, target, _ = edges(G)
    return int(((label[source] != label[target]) & (label[source] >= 0) & (label[target] >= 0)).sum())


made_of("ancestors", "is_directed_acyclic_graph")("lowest_common_ancestor", "all_pairs_lowest_common_ancestor")


@implements(cost="light")
def get_node_attributes(G, name, default=None):
    return _attributes(G.nodes(data=name, default=ABSENT), default)


@implements(cost="light")
def get_edge_attributes(G, name, default=None):
    keys = {"keys": True} if G.is_multigraph() else {}
    return _attributes(((tuple(edge), value) for *edge, value in G.edges(data=name, default=ABSENT, **keys)), default)


def _attributes(values: Iterable[tuple[Any, Any]], default: Any) -> dict[Any, Any]:
    """The value of each owner, `default` if it is absent; without a default only owners with a value."""
    if default is None:
        return {owner: value for owner, value in values if value is not ABSENT}
    return {owner: default if value is ABSENT else value for owner, value in values}


@implements(cost="light")
def is_empty(G):
    return not G.number_of_edges()


@implements(cost="light")
def is_weighted(G, edge=None, weight="weight"):
    if edge is None:
        return not is_empty(G) and all(value is not ABSENT for *_, value in G.edges(data=weight, default=ABSENT))
    data = G.get_edge_data(*edge)
    if data is None:
        raise nx.NetworkXError(f"Edge {edge!r} does not exist.")
    return weight in data
