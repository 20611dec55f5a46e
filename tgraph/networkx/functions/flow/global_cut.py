"""The minimum cut of a whole graph (Stoer and Wagner 1997)."""

from __future__ import annotations

import networkx as nx
from networkx.utils import BinaryHeap

import tgraph as tg
from tgraph.networkx.functions._arcs import structure
from tgraph.networkx.functions._nodes import nodes_in
from tgraph.networkx.functions._weights import require_one_kind
from tgraph.networkx.functions.groups import components
from tgraph.networkx.registry import implements


@implements(cost="superlinear")
def stoer_wagner(G, weight="weight", heap=BinaryHeap):
    if len(G) < 2:
        raise nx.NetworkXError("graph has less than two nodes.")
    if not components.is_connected(G):
        raise nx.NetworkXError("graph is not connected.")
    require_one_kind(G, weight)
    graph = structure(G, weight)
    if graph.weight_dtype is not None and graph.weight_range[0] < 0:
        raise nx.NetworkXError("graph has a negative-weighted edge.")
    value, side = tg.algorithms.stoer_wagner(graph, weighted=True)
    return value, (nodes_in(G, side), nodes_in(G, ~side))
