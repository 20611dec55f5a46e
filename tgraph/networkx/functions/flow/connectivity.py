"""Numbers of nodes or edges that separate two nodes, or the graph: maximum flows of unit capacity (Menger 1927).

Nodes are separated in a graph of two vertices for each, where it is entered and where it is left, with one arc between
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations, pairwise, permutations
from operator import itemgetter
from typing import Any

import networkx as nx
import torch
from torch import Tensor

import tgraph as tg
from tgraph.networkx.caching import cached
from tgraph.networkx.functions._arcs import simple
from tgraph.networkx.functions._nodes import names, node_pairs, number
from tgraph.networkx.functions.flow.flow import require_apart, require_nodes, solver_of_networkx
from tgraph.networkx.functions.groups import components
from tgraph.networkx.registry import implements

SOLVER = {"flow_func": solver_of_networkx}
WHOLE = {**SOLVER, "auxiliary": None, "residual": None}
Pairs = Iterator[tuple[Any, Any]]


def _refuses_whole(G, s):
    return "multigraphs as a whole" if G.is_multigraph() and s is None else None


@cached
def _by_nodes(G: Any) -> tg.Graph:
    """Vertex v is entered at v and left at v + n."""
    n, (source, target) = len(G), simple(G).to_edge_index()
    through = torch.arange(n)
    ends = torch.cat((through, source + n)), torch.cat((through + n, target))
    return tg.Graph.from_edges(*ends, num_vertices=2 * n)


def _value(graph: tg.Graph, s: int, t: int) -> int:
    return int(tg.primitives.flow.max_flow(graph, s, t, weighted=False)[0])


def _crossing(graph: tg.Graph, s: int, t: int) -> tuple[Tensor, Tensor]:
    """(source, target) of the arcs of a minimum cut."""
    _, _, side = tg.primitives.flow.max_flow(graph, s, t, weighted=False, source_side=True)
    assert side is not None
    source, target = graph.to_edge_index()
    chosen = side[source] & ~side[target]
    return source[chosen], target[chosen]


def _pairs(G: Any, nodes: Iterable[Any]) -> Pairs:
    return permutations(nodes, 2) if G.is_directed() else combinations(nodes, 2)


def weakest(
    G: Any,
    s: Any,
    t: Any,
    between: Callable[..., Any],
    around: Callable[[Any], Any],
    candidates: Callable[[Any, Any], Pairs],
    size: Callable[[Any], Any] | None = None,
    capped: bool = False,
) -> Any:
    """The cut `between` the nodes s and t, or the least of the graph where none are given, None where it is not
    connected.

    around : the cut around a node. candidates : pairs of nodes, one of which a smaller cut separates, given a node of
    least degree. size : of a cut. capped : `between` takes the least size so far as `cutoff`.
    """
    if (s is None) != (t is None):
        raise nx.NetworkXError("Both source and target must be specified.")
    if s is not None:
        require_nodes(G, s, t)
        return between(G, s, t)
    if not components.is_connected(G):
        return None
    v, _ = min(G.degree(), key=itemgetter(1))
    least = around(v)
    for one, other in candidates(G, v):
        least = min(between(G, one, other, **{"cutoff": least} if capped else {}), least, key=size)
    return least


def of_all_pairs(G: Any, nbunch: Any, between: Callable[..., int], **options: Any) -> dict[Any, dict[Any, int]]:
    """The number `between` each two nodes, by node and node."""
    nodes = list(G) if nbunch is None else set(nbunch)
    found: dict[Any, dict[Any, int]] = {node: {} for node in nodes}
    for u, v in _pairs(G, nodes):
        found[u][v] = between(G, u, v, **options)
        if not G.is_directed():
            found[v][u] = found[u][v]
    return found


def separated(G: Any, v: Any) -> Pairs:
    """Pairs of nodes, one of which a smallest cut separates, for a node `v` of least degree: v and a node not around
    it, and two of its neighbours."""
    around = list(chain(G.predecessors(v), G.successors(v)) if G.is_directed() else G.neighbors(v))
    for w in set(G) - set(around) - {v}:
        yield v, w
    for x, y in _pairs(G, around):
        if y not in G[x]:
            yield x, y


def _cycled(G: Any, v: Any) -> Pairs:
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


@implements(cost="superlinear", only={**WHOLE, "cutoff": None})
def local_node_connectivity(G, s, t, flow_func=None, auxiliary=None, residual=None, cutoff=None):
    ends = number(G, s), number(G, t)
    if s == t:
        raise NotImplementedError("a node and itself")
    return _value(_by_nodes(G), ends[0] + len(G), ends[1])


@implements(cost="superlinear", only={**WHOLE, "cutoff": None})
def local_edge_connectivity(G, s, t, flow_func=None, auxiliary=None, residual=None, cutoff=None):
    return _value(simple(G), *require_apart(G, s, t))


@implements(cost="superlinear", only=SOLVER)
def node_connectivity(G, s=None, t=None, flow_func=None):
    return weakest(G, s, t, local_node_connectivity, G.degree, separated) or 0


@implements(cost="superlinear", only=SOLVER)
def average_node_connectivity(G, flow_func=None):
    found = [local_node_connectivity(G, u, v) for u, v in _pairs(G, G)]
    return sum(found) / len(found) if found else 0


@implements(cost="superlinear", only=SOLVER)
def all_pairs_node_connectivity(G, nbunch=None, flow_func=None):
    return of_all_pairs(G, nbunch, local_node_connectivity)


@implements(cost="superlinear", only={**SOLVER, "cutoff": None}, refuses=_refuses_whole, gaps="multigraphs as a whole")
def edge_connectivity(G, s=None, t=None, flow_func=None, cutoff=None):
    return weakest(G, s, t, local_edge_connectivity, G.degree, _cycled) or 0


@implements(cost="superlinear", only=WHOLE)
def minimum_st_edge_cut(G, s, t, flow_func=None, auxiliary=None, residual=None):
    return set(node_pairs(G, *_crossing(simple(G), *require_apart(G, s, t))))


@implements(cost="superlinear", only=WHOLE)
def minimum_st_node_cut(G, s, t, flow_func=None, auxiliary=None, residual=None):
    if G.has_edge(s, t) or G.has_edge(t, s):
        return set()
    n = len(G)
    crossing = torch.cat(_crossing(_by_nodes(G), G.labels.index(s) + n, G.labels.index(t))) % max(n, 1)
    return set(names(G, crossing.unique())) - {s, t}


def _of_connected(cut: set[Any] | None) -> set[Any]:
    if cut is None:
        raise nx.NetworkXError("Input graph is not connected")
    return cut


@implements(cost="superlinear", only=SOLVER)
def minimum_node_cut(G, s=None, t=None, flow_func=None):
    return _of_connected(weakest(G, s, t, minimum_st_node_cut, lambda v: set(G[v]), separated, len))


@implements(cost="superlinear", only=SOLVER, refuses=_refuses_whole, gaps="multigraphs as a whole")
def minimum_edge_cut(G, s=None, t=None, flow_func=None):
    return _of_connected(weakest(G, s, t, minimum_st_edge_cut, lambda v: set(G.edges(v)), _cycled, len))
