"""Node connectivity from below: shortest paths found one after the other, each by other nodes (White and Newman 2001).

A path is searched from both ends in turns, on the neighbours in networkx's order, so that the counts are networkx's.
"""

from __future__ import annotations

import math

import networkx as nx

from tgraph.networkx.functions._arcs import Lists, lists
from tgraph.networkx.functions._nodes import chain, number
from tgraph.networkx.functions.flow.connectivity import of_all_pairs, separated, weakest
from tgraph.networkx.registry import implements


def _path(onward: Lists, back: Lists, s: int, t: int, used: set[int]) -> list[int]:
    """The vertices of a path from s to t past the `used` ones; empty without a path."""
    before, after = {s: -1}, {t: -1}
    found, other, arcs, others = before, after, onward, back
    fringe, other_fringe = [s], [t]
    while fringe and other_fringe:
        level, fringe = fringe, []
        for v in level:
            for w in arcs[v]:
                if w in used:
                    continue
                if w not in found:
                    found[w] = v
                    fringe.append(w)
                if w in other:
                    return chain(before, w)[::-1] + chain(after, after[w])
        found, other, arcs, others = other, found, others, arcs
        fringe, other_fringe = other_fringe, fringe
    return []


@implements(name="approximate_local_node_connectivity", cost="superlinear")
def local_node_connectivity(G, source, target, cutoff=None):
    if target == source:
        raise nx.NetworkXError("source and target have to be different nodes.")
    s, t = number(G, source), number(G, target)
    leaving, reaching = (G.out_degree, G.in_degree) if G.is_directed() else (G.degree, G.degree)
    most = min(leaving[source], reaching[target], math.inf if cutoff is None else cutoff)
    onward, back = lists(G, False), lists(G, True)
    used: set[int] = set()
    for count in range(most):
        if not (path := _path(onward, back, s, t, used)):
            return count
        used.update(path)
    return max(int(most), 0)


@implements(name="approximate_node_connectivity", cost="superlinear")
def node_connectivity(G, s=None, t=None):
    apart = lambda G, v: (ends for ends in separated(G, v) if ends[0] != ends[1])  # noqa: E731
    return weakest(G, s, t, local_node_connectivity, G.degree, apart, capped=True) or 0


@implements(name="approximate_all_pairs_node_connectivity", cost="superlinear")
def all_pairs_node_connectivity(G, nbunch=None, cutoff=None):
    return of_all_pairs(G, nbunch, local_node_connectivity, cutoff=cutoff)
