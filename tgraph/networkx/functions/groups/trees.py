"""Trees and forests."""

from __future__ import annotations

import networkx as nx

from tgraph.networkx.functions._arcs import structure
from tgraph.networkx.functions.groups.components import count_weak
from tgraph.networkx.registry import implements, made_of


@implements(cost="light")
def is_forest(G):
    if len(G) == 0:
        raise nx.exception.NetworkXPointlessConcept("G has no nodes.")
    return structure(G).num_edges == len(G) - count_weak(G)


made_of("is_connected", "is_weakly_connected", cost="light")("is_tree")
made_of("is_tree", cost="light")("is_arborescence")
made_of("is_forest", cost="light")("is_branching")
