"""Directed acyclic graphs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
from torch import Tensor

from tgraph.networkx.functions._shared import names, rows, structure
from tgraph.networkx.registry import implements
from tgraph.primitives import search


def _generations(G: Any) -> tuple[Tensor, Tensor]:
    return G._keep("generations", lambda: search.generations(*rows(G), structure(G).in_degree))


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
    found = names(G, order)
    ends = generation[order].bincount().cumsum(0).tolist()
    for begin, end in pairwise([0, *ends]):
        yield found[begin:end]
    if len(order) < len(G):
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


@implements(cost="light")
def topological_sort(G):
    for generation in topological_generations(G):
        yield from generation
