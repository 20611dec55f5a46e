"""Numbers of nodes or edges that separate two nodes, or the graph: maximum flows of unit capacity (Menger 1927).

Nodes are separated in a graph of two vertices for each, where it is entered and where it is left, with one arc between
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, combinations, pairwise, permutations
from operator import itemgetter
from typing import Any

import networkx as nx
import torch
from torch import Tensor

import tgraph as tg
from tgraph.networkx.functions._shared import names, number, simple
from tgraph.networkx.functions.flow.flow import solver_of_networkx
from tgraph.networkx.functions.groups.components import count_weak
from tgraph.networkx.registry import implements

SOLVER = {"flow_func": solver_of_networkx}
WHOLE = {**SOLVER, "auxiliary": None, "residual": None}


def _refuses_whole(G, s):
    return "multigraphs as a whole" if G.is_multigraph() and s is None else None


def _by_nodes(G: Any) -> tg.Graph:
    """Vertex v is entered at v and left at v + n."""

    def make() -> tg.Graph:
        n, (source, target) = len(G), simple(G).to_edge_index()
        through = torch.arange(n)
        ends = torch.cat((through, source + n)), torch.cat((through + n, target))
        return tg.Graph.from_edges(*ends, num_vertices=2 * n)

    return G._keep("split nodes", make)


def require(G: Any, s: Any, t: Any) -> None:
    for node in (s, t):
        if node not in G:
            raise nx.NetworkXError(f"node {node} not in graph")


def _require_apart(G: Any, s: Any, t: Any) -> None:
    require(G, s, t)
    if s == t:
        raise nx.NetworkXError("source and sink are the same node")


def require_both(s: Any, t: Any) -> bool:
    """True where two nodes are given. Raises NetworkXError where only one is."""
    if (s is None) != (t is None):
        raise nx.NetworkXError("Both source and target must be specified.")
    return s is not None


def _cut(graph: tg.Graph, s: int, t: int) -> tuple[int, Tensor]:
    value, _, side = tg.primitives.flow.max_flow(graph, s, t, weighted=False, source_side=True)
    assert side is not None
    return int(value), side


def _value(graph: tg.Graph, s: int, t: int) -> int:
    return int(tg.primitives.flow.max_flow(graph, s, t, weighted=False)[0])


def _nodes_between(G: Any, s: Any, t: Any) -> int:
    ends = number(G, s), number(G, t)
    if s == t:
        raise NotImplementedError("a node and itself")
    return _value(_by_nodes(G), ends[0] + len(G), ends[1])


def _edges_between(G: Any, s: Any, t: Any) -> int:
    _require_apart(G, s, t)
    return _value(simple(G), G.labels.index(s), G.labels.index(t))


def pairs(G: Any, nodes: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    return permutations(nodes, 2) if G.is_directed() else combinations(nodes, 2)


def is_connected(G: Any) -> bool:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return count_weak(G) == 1


def _around(G: Any, v: Any) -> list[Any]:
    return list(chain(G.predecessors(v), G.successors(v))) if G.is_directed() else list(G.neighbors(v))


def separated(G: Any, v: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs of nodes of which some smallest cut separates one, where `v` is of least degree: those of v and what is
    not around it, and of two of its neighbours."""
    around = _around(G, v)
    for w in set(G) - set(around) - {v}:
        yield v, w
    for x, y in pairs(G, around):
        if y not in G[x]:
            yield x, y


@implements(cost="superlinear", only={**WHOLE, "cutoff": None})
def local_node_connectivity(G, s, t, flow_func=None, auxiliary=None, residual=None, cutoff=None):
    return _nodes_between(G, s, t)


@implements(cost="superlinear", only={**WHOLE, "cutoff": None})
def local_edge_connectivity(G, s, t, flow_func=None, auxiliary=None, residual=None, cutoff=None):
    return _edges_between(G, s, t)


@implements(cost="superlinear", only=SOLVER)
def node_connectivity(G, s=None, t=None, flow_func=None):
    if require_both(s, t):
        require(G, s, t)
        return _nodes_between(G, s, t)
    if not is_connected(G):
        return 0
    v, least = min(G.degree(), key=itemgetter(1))
    for one, other in separated(G, v):
        least = min(least, _nodes_between(G, one, other))
    return least


@implements(cost="superlinear", only=SOLVER)
def average_node_connectivity(G, flow_func=None):
    found = [_nodes_between(G, u, v) for u, v in pairs(G, G)]
    return sum(found) / len(found) if found else 0


@implements(cost="superlinear", only=SOLVER)
def all_pairs_node_connectivity(G, nbunch=None, flow_func=None):
    nodes = list(G) if nbunch is None else set(nbunch)
    found: dict[Any, dict[Any, int]] = {node: {} for node in nodes}
    for u, v in pairs(G, nodes):
        found[u][v] = _nodes_between(G, u, v)
        if not G.is_directed():
            found[v][u] = found[u][v]
    return found


def _cycled(G: Any) -> Iterator[tuple[Any, Any]]:
    """Pairs of nodes such that the least cut of edges separates one of them."""
    if G.is_directed():
        nodes = list(G)
        return pairwise([*nodes, nodes[0]])
    sets = ((first, _dominating(G, first)) for first in G)
    first, others = next(((first, others) for first, others in sets if others), (None, []))
    return ((first, other) for other in others)


def _dominating(G: Any, first: Any) -> list[Any]:
    """The other nodes of a dominating set with the first node."""
    covered = {first, *G[first]}
    chosen = []
    for node in G:
        if node not in covered:
            chosen.append(node)
            covered.update((node, *G[node]))
    return chosen


@implements(cost="superlinear", only={**SOLVER, "cutoff": None}, refuses=_refuses_whole, gaps="multigraphs as a whole")
def edge_connectivity(G, s=None, t=None, flow_func=None, cutoff=None):
    if require_both(s, t):
        require(G, s, t)
        return _edges_between(G, s, t)
    if not is_connected(G):
        return 0
    least = min(degree for _, degree in G.degree())
    for one, other in _cycled(G):
        least = min(least, _edges_between(G, one, other))
    return least


def _edge_cut(G: Any, s: Any, t: Any) -> set[tuple[Any, Any]]:
    _require_apart(G, s, t)
    _, side = _cut(simple(G), G.labels.index(s), G.labels.index(t))
    source, target = simple(G).to_edge_index()
    chosen = side[source] & ~side[target]
    return set(zip(names(G, source[chosen]), names(G, target[chosen]), strict=True))


@implements(cost="superlinear", only=WHOLE)
def minimum_st_edge_cut(G, s, t, flow_func=None, auxiliary=None, residual=None):
    return _edge_cut(G, s, t)


def _node_cut(G: Any, s: Any, t: Any) -> set[Any]:
    if G.has_edge(s, t) or G.has_edge(t, s):
        return set()
    graph, n = _by_nodes(G), len(G)
    _, side = _cut(graph, G.labels.index(s) + n, G.labels.index(t))
    source, target = graph.to_edge_index()
    chosen = side[source] & ~side[target]
    vertices = torch.cat((source[chosen], target[chosen])) % max(n, 1)
    return set(names(G, vertices.unique())) - {s, t}


@implements(cost="superlinear", only=WHOLE)
def minimum_st_node_cut(G, s, t, flow_func=None, auxiliary=None, residual=None):
    return _node_cut(G, s, t)


@implements(cost="superlinear", only=SOLVER)
def minimum_node_cut(G, s=None, t=None, flow_func=None):
    if require_both(s, t):
        require(G, s, t)
        return _node_cut(G, s, t)
    if not is_connected(G):
        raise nx.NetworkXError("Input graph is not connected")
    v = min(G, key=G.degree)
    least = set(G[v])
    for one, other in separated(G, v):
        cut = _node_cut(G, one, other)
        least = cut if len(cut) <= len(least) else least
    return least


@implements(cost="superlinear", only=SOLVER, refuses=_refuses_whole, gaps="multigraphs as a whole")
def minimum_edge_cut(G, s=None, t=None, flow_func=None):
    if require_both(s, t):
        require(G, s, t)
        return _edge_cut(G, s, t)
    if not is_connected(G):
        raise nx.NetworkXError("Input graph is not connected")
    least = set(G.edges(min(G, key=G.degree)))
    for one, other in _cycled(G):
        cut = _edge_cut(G, one, other)
        least = cut if len(cut) <= len(least) else least
    return least
