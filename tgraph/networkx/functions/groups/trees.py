"""Trees and forests."""

from __future__ import annotations

from typing import Any

import networkx as nx

from tgraph.networkx.functions._shared import degrees, structure
from tgraph.networkx.functions.groups.components import count_weak
from tgraph.networkx.registry import implements


def _is_forest(G: Any) -> bool:
    if len(G) == 0:
        raise nx.exception.NetworkXPointlessConcept("G has no nodes.")
    return structure(G).num_edges == len(G) - count_weak(G)


def _is_tree(G: Any) -> bool:
    return _is_forest(G) and structure(G).num_edges == len(G) - 1


@implements(cost="light")
def is_tree(G):
    return _is_tree(G)


@implements(cost="light")
def is_forest(G):
    return _is_forest(G)


@implements(cost="light")
def is_arborescence(G):
    return _is_tree(G) and int(degrees(G, kind="in").max()) <= 1


@implements(cost="light")
def is_branching(G):
    return _is_forest(G) and int(degrees(G, kind="in").max()) <= 1
