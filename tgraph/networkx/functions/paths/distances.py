"""Eccentricity and what follows from it."""

from __future__ import annotations

from typing import Any

import networkx as nx
from torch import Tensor

import tgraph as tg
from tgraph import algorithms
from tgraph.core import sums
from tgraph.networkx.functions._nodes import answer, bunch, by_node, names
from tgraph.networkx.functions._weights import require_one_kind
from tgraph.networkx.functions.paths.unweighted_paths import total_hops
from tgraph.networkx.functions.traversal.searches import reached
from tgraph.networkx.registry import implements


@implements(cost="superlinear", only={"sp": None})
def eccentricity(G, v=None, sp=None, weight=None):
    require_one_kind(G, weight)
    chosen = bunch(G, v)
    every = _in_hops(G, weight, algorithms.eccentricity) if v is None else None
    if every is not None:
        return by_node(G, every, chosen)
    found = []
    for source in chosen.tolist():
        order, far = reached(G, source, weight)
        if len(order) != len(G):
            kind = "the digraph is not strongly connected" if G.is_directed() else "the graph is not connected"
            raise nx.NetworkXError(f"Found infinite path length because {kind}")
        found.append(far.max().item() or 0)
    return answer(G, v, chosen, found)


def _in_hops(G, weight, question):
    """The answer of a function of `tg.algorithms`, which bounds the eccentricities of all by few searches; None for
    sums of an attribute, and for a missing path: the error names that of networkx's first search."""
    if weight is not None or not len(G):
        return None
    try:
        return question(G.structure)
    except tg.errors.ArgumentError:
        return None


def _extreme(G, e, weight, question, best):
    """The least or the largest eccentricity, or the nodes that have it: by the `question` to `tg.algorithms`, or as
    the `best`, min or max, of the eccentricities `e`."""
    found = _in_hops(G, weight, question) if e is None else None
    if found is not None:
        return names(G, found) if isinstance(found, Tensor) else found
    e = eccentricity(G, weight=weight) if e is None else e
    extreme = best(e.values())
    return [v for v in e if e[v] == extreme] if question in (algorithms.center, algorithms.periphery) else extreme


@implements(cost="superlinear", only={"usebounds": False})
def diameter(G, e=None, usebounds=False, weight=None):
    return _extreme(G, e, weight, algorithms.diameter, max)


@implements(cost="superlinear", only={"usebounds": False})
def radius(G, e=None, usebounds=False, weight=None):
    return _extreme(G, e, weight, algorithms.radius, min)


@implements(cost="superlinear", only={"usebounds": False})
def center(G, e=None, usebounds=False, weight=None):
    if e is None and weight is None and not G.is_directed() and len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return _extreme(G, e, weight, algorithms.center, min)


@implements(cost="superlinear", only={"usebounds": False})
def periphery(G, e=None, usebounds=False, weight=None):
    return _extreme(G, e, weight, algorithms.periphery, max)


@implements(cost="superlinear")
def wiener_index(G, weight=None):
    connected = nx.is_strongly_connected(G) if G.is_directed() else nx.is_connected(G)
    if not connected:
        return float("inf")
    require_one_kind(G, weight)
    if len(G) == 1:
        return 0 if G.is_directed() else 0.0
    if weight is None:
        total: Any = total_hops(G)
    else:
        total = sum(sums.total(reached(G, source, weight)[1]) for source in range(len(G)))
    return total if G.is_directed() else total / 2
