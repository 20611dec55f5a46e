"""Colourings, and the two sides of bipartite graphs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain
from typing import Any

import networkx as nx
import torch
from torch import Tensor

import tgraph as tg
from tgraph import algorithms
from tgraph.networkx.functions._arcs import degrees, lists, structure
from tgraph.networkx.functions._nodes import by_node, mask, nodes_in
from tgraph.networkx.functions.groups import components
from tgraph.networkx.functions.groups.components import component_of
from tgraph.networkx.nodes import NoNode
from tgraph.networkx.registry import implements


def _sides(G: Any) -> Tensor:
    """The side of each vertex, int64 [n]: 1 for the side of the first vertex with successors in a component, 0 for the
    other side and for isolated vertices. Raises NetworkXError for a graph that is not bipartite."""
    graph = structure(G)
    if not algorithms.is_bipartite(graph):
        raise nx.NetworkXError("Graph is not bipartite.")
    side, component = algorithms.bipartite_color(graph), component_of(G)
    leading = (graph.out_degree > 0).nonzero().flatten()
    first = torch.full((len(G),), len(G))
    first.scatter_reduce_(0, component[leading], leading, "amin")
    found = torch.zeros(len(G), dtype=torch.int64)
    joined = (degrees(G) > 0).nonzero().flatten()
    found[joined] = (side[joined] == side[first[component[joined]]]).long()
    return found


@implements(cost="light")
def is_bipartite(G):
    return algorithms.is_bipartite(structure(G))


@implements(cost="light")
def color(G):
    side = _sides(G)
    found = dict.fromkeys(_walk(G))
    order = torch.tensor([*found, *(v for v in (degrees(G) == 0).nonzero().flatten().tolist())], dtype=torch.int64)
    return by_node(G, side[order], order)


def _walk(G: Any) -> Iterator[int]:
    """The vertices in the order in which networkx colours them: from the last one that was coloured on."""
    around = [lists(G, True), lists(G)] if G.is_directed() else [lists(G)]
    seen = [False] * len(G)
    for first in range(len(G)):
        stack = [] if seen[first] or not around[-1][first] else [first]
        while stack:
            v = stack.pop()
            if not seen[v]:
                seen[v] = True
                yield v
            for w in chain.from_iterable(each[v] for each in around):
                if not seen[w]:
                    seen[w] = True
                    yield w
                    stack.append(w)


@implements(cost="light")
def sets(G, top_nodes=None):
    if top_nodes is not None:
        top = set(top_nodes)
        return top, set(G) - top
    if not components.is_connected(G):
        raise nx.AmbiguousSolution("Disconnected graph: Ambiguous solution for bipartite sets.")
    side = _sides(G).bool()
    return set(nodes_in(G, side)), set(nodes_in(G, ~side))


@implements(cost="light")
def is_bipartite_node_set(G, nodes):
    chosen = set(nodes)
    if len(chosen) < len(nodes):
        raise nx.AmbiguousSolution(
            "The input node set contains duplicates.\n"
            "This may lead to incorrect results when using it in bipartite algorithms.\n"
            "Consider using set(nodes) as the input"
        )
    if G.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    if not algorithms.is_bipartite(structure(G)):
        raise NoNode("a component is not bipartite, which may not be the first that settles it")
    agrees, component = (_sides(G).bool() == mask(G, chosen)).long(), component_of(G)
    joined = structure(G).out_degree > 0
    size = component[joined].bincount(minlength=len(G))
    agreeing = torch.zeros(len(G), dtype=torch.int64).index_add_(0, component[joined], agrees[joined])
    return bool(((agreeing == 0) | (agreeing == size)).all())


@implements(only={"strategy": ("largest_first", "random_sequential"), "interchange": False}, directed=False)
def greedy_color(G, strategy="largest_first", interchange=False):
    if strategy == "largest_first":
        order = degrees(G).argsort(descending=True, stable=True)
    else:
        order = tg.random.permutation(tg.random.key(random.getrandbits(31)), len(G))
    found = tg.primitives.coloring.color_in_order(structure(G), order)
    return by_node(G, found[order], order)
