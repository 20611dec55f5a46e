"""Directed acyclic graphs."""

from __future__ import annotations

from typing import Any

import networkx as nx
from torch import Tensor

from tgraph import algorithms
from tgraph.networkx.caching import cached
from tgraph.networkx.functions._arcs import rows, simple, structure, weighted_rows
from tgraph.networkx.functions._building import build
from tgraph.networkx.functions._nodes import names, numbers, slices
from tgraph.networkx.functions._weights import require_one_kind
from tgraph.networkx.registry import implements
from tgraph.primitives.dag import topological
from tgraph.primitives.paths import search


@cached
def _generations(G: Any) -> tuple[Tensor, Tensor]:
    return search.generations(*rows(G), structure(G).in_degree)


@implements(cost="light")
def is_directed_acyclic_graph(G):
    return G.is_directed() and len(_generations(G)[0]) == len(G)


@implements(cost="light", name="has_cycle")
def has_cycle(G):
    if not G.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    return len(_generations(G)[0]) < len(G)


@implements(cost="light")
def topological_generations(G):
    if not G.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    order, generation = _generations(G)
    yield from slices(names(G, order), generation[order].bincount().cumsum(0).tolist())
    if len(order) < len(G):
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


@implements(cost="light")
def topological_sort(G):
    for generation in topological_generations(G):
        yield from generation


def _longest(G: Any, weight: Any, default_weight: Any) -> tuple[Tensor, Tensor]:
    """The nodes in topological order, and the length of a longest path to each."""
    graph = structure(G, weight, default_weight)  # networkx looks at weights before it finds a cycle
    order, generation = _generations(G)
    if len(order) < len(G):
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")
    return order, topological.longest(graph, generation, weighted=graph.weight_dtype is not None)[0]


def _refuses_default(weight, default_weight):
    return "default_weight without weight" if weight is None and default_weight != 1 else None


@implements(cost="linear", only={"topo_order": None}, refuses=_refuses_default, gaps="default_weight without weight")
def dag_longest_path(G, weight="weight", default_weight=1, topo_order=None):
    if not len(G):
        return []
    order, length = _longest(G, weight, default_weight)
    offset, before, weights = weighted_rows(G, weight, default_weight, multi="max", reverse=True)
    length = length.to(weights.dtype)
    v = int(order[(length[order] == length.max()).nonzero()[0]])
    path = [v]
    while offset[v] < offset[v + 1]:  # of equals the first counts, as in networkx
        arcs = slice(int(offset[v]), int(offset[v + 1]))
        through = length[before[arcs]] + weights[arcs]
        if through.max() < 0:
            break
        v = int(before[arcs][(through == through.max()).nonzero()[0]])
        path.append(v)
    return names(G, path[::-1])


@implements(cost="linear", refuses=_refuses_default, gaps="default_weight without weight")
def dag_longest_path_length(G, weight="weight", default_weight=1):
    require_one_kind(G, weight, default_weight)
    return (_longest(G, weight, default_weight)[1].max().item() or 0) if len(G) else 0


@implements(cost="superlinear")
def transitive_reduction(G):
    if not is_directed_acyclic_graph(G):
        raise nx.NetworkXError("Directed Acyclic Graph required for transitive_reduction")
    kept = set(zip(*(names(G, end) for end in algorithms.transitive_reduction(simple(G)).to_edge_index()), strict=True))
    listed = [(u, v) for u, row in G._adj.items() for v in set(row) if (u, v) in kept]
    source, target = (numbers(G, (edge[i] for edge in listed)) for i in range(2))
    return build(True, G.labels.names, source, target)
