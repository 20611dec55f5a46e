"""Cuts and boundaries of sets of nodes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.core import sums
from tgraph.networkx.functions._arcs import row_entries, rows, structure
from tgraph.networkx.functions._nodes import bunch, chosen, known, marked, mask, number, numbers
from tgraph.networkx.functions._weights import refuse_cancelled, require_one_kind
from tgraph.networkx.registry import implements, made_of

Arcs = tuple[Tensor, Tensor, Tensor]  # source, target, place


def _leaving(graph: tg.Graph, vertices: Tensor) -> Arcs:
    """The arcs of the rows of some vertices."""
    i, arc = row_entries(graph.offset, vertices)
    return vertices[i], graph.neighbors[arc].to(torch.int64), arc


def _sum(graph: tg.Graph, arcs: Tensor) -> Any:
    """The sum of their weights as Python's `sum` gives it: without a summand the integer 0."""
    return len(arcs) if graph.weights is None or not len(arcs) else sums.total(graph.weights[arcs])


@implements(cost="light", given={"S": "local"})
def cut_size(G, S, T=None, weight=None):
    """The weight of the edges between S and T, or the rest; in a directed graph of both ways. Only the rows of S and T
    are read."""
    require_one_kind(G, weight)
    graph, left = structure(G, weight).decoded(), chosen(G, S)
    inside = marked(G, left)
    u, v, arc = _leaving(graph, left)
    if T is None:
        if G.is_directed():
            raise TypeError("'NoneType' object is not iterable")  # as networkx does
        return _sum(graph, arc[~inside[v]])
    right = chosen(G, T)
    other = marked(G, right)
    both = inside[v] & other[u]  # the arc leads from T to S as well
    if not G.is_directed():
        return _sum(graph, arc[other[v] & ~(both & (v < u))])
    leaving = _sum(graph, arc[other[v] | both])
    u, v, arc = _leaving(graph, right)
    return leaving + _sum(graph, arc[inside[v] | (inside[u] & other[v])])


@implements(cost="light", given={"S": "local"})
def volume(G, S, weight=None):
    if S in G:
        raise TypeError("a degree is not iterable")  # as networkx does
    require_one_kind(G, weight)
    graph, vertices = structure(G, weight).decoded(), bunch(G, S)
    u, v, arc = _leaving(graph, vertices)
    total = _sum(graph, arc)
    refuse_cancelled(graph, weight, torch.tensor([float(total)] * bool(len(arc))))
    return total if G.is_directed() else total + _sum(graph, arc[u == v])  # a self-loop counts twice


made_of("cut_size", "volume", cost="light", given={"S": "local"})("conductance", "normalized_cut_size")
made_of("cut_size", cost="light", given={"S": "local"})("edge_expansion", "mixing_expansion")


def _neighborhood(G: Any, vertices: Tensor) -> Tensor:
    """The neighbours of some vertices, bool [n]."""
    return marked(G, _leaving(G.structure.decoded(), vertices)[1])


@implements(cost="light", given={"nbunch1": "local"})
def node_boundary(G, nbunch1, nbunch2=None):
    inside = chosen(G, nbunch1)
    _, found, _ = _leaving(G.structure.decoded(), inside)
    boundary = set(G.labels.of(found[~marked(G, inside)[found]].unique()))
    return boundary if nbunch2 is None else boundary & set(nbunch2)  # equal objects come from the smaller set


made_of("node_boundary", cost="light", given={"S": "local"})("boundary_expansion")


@implements(cost="light", given={"S": "local"})
def node_expansion(G, S):
    reached = _neighborhood(G, torch.tensor([number(G, node) for node in S], dtype=torch.int64))
    return int(reached.sum()) / len(S)


@implements(cost="light", given={"nbunch": "local"})
def is_dominating_set(G, nbunch):
    inside = chosen(G, nbunch)
    found = _neighborhood(G, inside)
    found[inside] = True
    return bool(found.all())


@implements(cost="light", given={"nbunch1": "local"}, only={"data": False, "keys": False})
def edge_boundary(G, nbunch1, nbunch2=None, data=False, keys=False, default=None):
    first_ends = list(set(known(G, nbunch1)))  # as they are given
    first = numbers(G, first_ends)
    place = torch.full((len(G),), len(G))
    place[first] = torch.arange(len(first))
    inside = place < len(G)
    offset, neighbors = rows(G)
    i, arc = row_entries(offset, first)
    u, v = first[i], neighbors[arc].to(torch.int64)
    if nbunch2 is None:
        listed = inside[u] ^ inside[v]
    else:
        other = mask(G, nbunch2)
        listed = (inside[u] & other[v]) | (inside[v] & other[u])
    if not G.is_directed():
        listed &= place[v] >= place[u]  # an edge within is listed by the end that comes first
    given = map(first_ends.__getitem__, i[listed].tolist())
    return (edge for edge in zip(given, G.labels.of(v[listed]), strict=True))


@implements(cost="light")
def density(B, nodes):
    n, m, inside = len(B), B.number_of_edges(), len(nodes)
    pairs = inside * (n - inside) * (2 if B.is_directed() else 1)
    return 0.0 if m == 0 else m / pairs
