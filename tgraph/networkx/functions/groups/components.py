"""Components of undirected and directed graphs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import torch
from torch import Tensor

from tgraph import algorithms
from tgraph.core import sums
from tgraph.io.adjacency import paused_collections
from tgraph.networkx.caching import cached
from tgraph.networkx.functions._arcs import edges, rows, structure
from tgraph.networkx.functions._nodes import marked, names, nodes_in, number
from tgraph.networkx.registry import implements, made_of
from tgraph.primitives.paths import search

AT_ONCE = 1 << 14  # sets that are made before the first is given


def groups(G: Any, label: Tensor) -> Iterator[set[Any]]:
    """The nodes by label, in ascending order of labels."""
    size = label.bincount()
    members = names(G, label.argsort(stable=True))
    ends = size[size > 0].cumsum(0).tolist()
    bounds = [0, *ends]
    for first in range(0, len(ends), AT_ONCE):
        with paused_collections():
            some = [set(members[begin:end]) for begin, end in pairwise(bounds[first : first + AT_ONCE + 1])]
        yield from some


def component_of(G: Any) -> Tensor:
    """For each vertex the smallest of its weak component."""
    return structure(G).kept("networkx components", lambda: algorithms.wcc(structure(G)))


def _require_nodes(G: Any) -> None:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")


@implements(cost="light")
@implements(cost="light", name="weakly_connected_components")
def connected_components(G):
    yield from groups(G, component_of(G))


@implements(cost="light", name="number_connected_components")
@implements(cost="light", name="number_weakly_connected_components")
def count_weak(G):
    """The number of weak components."""
    label = component_of(G)
    return int((label == torch.arange(len(label))).sum())


@implements(cost="light")
@implements(cost="light", name="is_weakly_connected")
def is_connected(G):
    _require_nodes(G)
    return count_weak(G) == 1


@implements(cost="light")
def node_connected_component(G, n):
    label = component_of(G)
    return set(nodes_in(G, label == label[number(G, n)]))


@cached
def strong(G: Any) -> Tensor:
    """The strong component of each vertex, numbered as networkx lists them."""
    return search.strong_components(*rows(G))


@implements()
def strongly_connected_components(G):
    yield from groups(G, strong(G))


@implements(only={"source": None})
def kosaraju_strongly_connected_components(G, source=None):
    component = strong(G)
    _, left, _ = search.depth_first(*rows(G, reverse=True), torch.arange(len(G)))
    last = torch.zeros(len(component.unique()), dtype=torch.int64)
    last.scatter_reduce_(0, component[left], torch.arange(len(left)), "amax")
    rank = torch.empty_like(last)
    rank[last.argsort(descending=True)] = torch.arange(len(last))
    yield from groups(G, rank[component])


@implements()
def number_strongly_connected_components(G):
    return len(strong(G).unique())


@implements()
def is_strongly_connected(G):
    _require_nodes(G)
    return not bool(strong(G).any())


@implements()
def attracting_components(G):
    component = strong(G)
    source, target, _ = edges(G)
    leaves = marked(G, component[source][component[source] != component[target]])
    yield from (members for i, members in enumerate(groups(G, component)) if not leaves[i])


made_of("attracting_components")("number_attracting_components", "is_attracting_component")


@implements()
def flow_hierarchy(G, weight=None):
    if not structure(G).num_edges:
        raise nx.NetworkXError("flow_hierarchy not applicable to empty graphs")
    if not G.is_directed():
        raise nx.NetworkXError("G must be a digraph in flow_hierarchy")
    component = strong(G)
    source, target, weights = edges(G, weight)
    inside = component[source] == component[target]
    within = inside.sum().item() if weights is None else sums.total(weights[inside])
    return 1.0 - within / (len(source) if weights is None else sums.total(weights))
