"""Eccentricity and what follows from it."""

from __future__ import annotations

import networkx as nx

from tgraph.core import sums
from tgraph.networkx.functions._shared import bunch, names, require_one_kind
from tgraph.networkx.functions.traversal.searches import reached
from tgraph.networkx.registry import implements


@implements(cost="superlinear", refuses=lambda G, v, sp, weight: None if sp is None else "sp is given")
def eccentricity(G, v=None, sp=None, weight=None):
    require_one_kind(G, weight)
    chosen = bunch(G, v)
    found = []
    for source in chosen.tolist():
        order, far = reached(G, source, weight)
        if len(order) != len(G):
            kind = "the digraph is not strongly connected" if G.is_directed() else "the graph is not connected"
            raise nx.NetworkXError(f"Found infinite path length because {kind}")
        found.append(far.max().item() or 0)
    return found[0] if v in G else dict(zip(names(G, chosen), found, strict=True))


def _refuses_given(G, e, usebounds, weight):
    return "usebounds" if usebounds else None


@implements(cost="superlinear", refuses=_refuses_given, gaps="usebounds")
def diameter(G, e=None, usebounds=False, weight=None):
    return max((eccentricity(G, weight=weight) if e is None else e).values())


@implements(cost="superlinear", refuses=_refuses_given, gaps="usebounds")
def radius(G, e=None, usebounds=False, weight=None):
    return min((eccentricity(G, weight=weight) if e is None else e).values())


@implements(cost="superlinear", refuses=_refuses_given, gaps="usebounds")
def center(G, e=None, usebounds=False, weight=None):
    if e is None and weight is None and not G.is_directed() and len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    e = eccentricity(G, weight=weight) if e is None else e
    least = min(e.values())
    return [v for v in e if e[v] == least]


@implements(cost="superlinear", refuses=_refuses_given, gaps="usebounds")
def periphery(G, e=None, usebounds=False, weight=None):
    e = eccentricity(G, weight=weight) if e is None else e
    most = max(e.values())
    return [v for v in e if e[v] == most]


@implements(cost="superlinear")
def wiener_index(G, weight=None):
    connected = nx.is_strongly_connected(G) if G.is_directed() else nx.is_connected(G)
    if not connected:
        return float("inf")
    require_one_kind(G, weight)
    if len(G) == 1:
        return 0 if G.is_directed() else 0.0
    total = sum(sums.total(reached(G, source, weight)[1]) for source in range(len(G)))
    return total if G.is_directed() else total / 2
