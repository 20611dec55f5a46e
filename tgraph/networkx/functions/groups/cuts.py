"""Cuts and boundaries of sets of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from tgraph.networkx.functions._shared import bunch, degrees, edges, mask, names, number, rows
from tgraph.networkx.registry import implements


def _sum(weights: Tensor | None, chosen: Tensor) -> Any:
    return int(chosen.sum()) if weights is None else weights[chosen].sum().item()


def _cut(G: Any, S: Iterable[Any], T: Iterable[Any] | None, weight: Any) -> Any:
    """The weight of the edges between S and T, or the rest; of a directed graph both ways, each counted."""
    u, v, weights = edges(G, weight)
    inside = mask(G, S)
    if T is None:
        if G.is_directed():
            raise TypeError("'NoneType' object is not iterable")  # as networkx does
        return _sum(weights, inside[u] ^ inside[v])
    other = mask(G, T)
    onward, back = inside[u] & other[v], inside[v] & other[u]
    if not G.is_directed():
        return _sum(weights, onward | back)
    leaving = _sum(weights, (onward | back) & inside[u])
    return leaving + _sum(weights, (onward | back) & other[u])


def _rest(G: Any, S: Iterable[Any]) -> set[Any]:
    return set(G) - set(S)


def _volume(G: Any, S: Any, weight: Any) -> Any:
    return degrees(G, weight, "out" if G.is_directed() else "both")[bunch(G, S)].sum().item()


@implements(cost="light", given={"S": "local"})
def cut_size(G, S, T=None, weight=None):
    return _cut(G, S, T, weight)


@implements(cost="light", given={"S": "local"})
def volume(G, S, weight=None):
    return _volume(G, S, weight)


@implements(cost="light", given={"S": "local"})
def conductance(G, S, T=None, weight=None):
    T = _rest(G, S) if T is None else T
    return _cut(G, S, T, weight) / min(_volume(G, S, weight), _volume(G, T, weight))


@implements(cost="light", given={"S": "local"})
def normalized_cut_size(G, S, T=None, weight=None):
    T = _rest(G, S) if T is None else T
    return _cut(G, S, T, weight) * (1 / _volume(G, S, weight) + 1 / _volume(G, T, weight))


@implements(cost="light", given={"S": "local"})
def edge_expansion(G, S, T=None, weight=None):
    T = _rest(G, S) if T is None else T
    return _cut(G, S, T, weight) / min(len(S), len(T))


@implements(cost="light", given={"S": "local"})
def mixing_expansion(G, S, T=None, weight=None):
    return _cut(G, S, T, weight) / (2 * G.number_of_edges())


def _neighborhood(G: Any, vertices: Tensor) -> Tensor:
    """The neighbours of some vertices, bool [n]."""
    offset, neighbors = rows(G)
    found = torch.zeros(len(G), dtype=torch.bool)
    for begin, end in zip(offset[vertices].tolist(), offset[vertices + 1].tolist(), strict=True):
        found[neighbors[begin:end].to(torch.int64)] = True
    return found


@implements(cost="light", given={"nbunch1": "local"})
def node_boundary(G, nbunch1, nbunch2=None):
    inside = mask(G, nbunch1)
    found = _neighborhood(G, inside.nonzero().flatten()) & ~inside
    if nbunch2 is not None:
        found &= mask(G, nbunch2)
    return set(names(G, found.nonzero().flatten()))


@implements(cost="light", given={"S": "local"})
def node_expansion(G, S):
    reached = _neighborhood(G, torch.tensor([number(G, node) for node in S], dtype=torch.int64))
    return int(reached.sum()) / len(S)


@implements(cost="light", given={"S": "local"})
def boundary_expansion(G, S):
    inside = mask(G, S)
    return int((_neighborhood(G, inside.nonzero().flatten()) & ~inside).sum()) / len(S)


@implements(cost="light", given={"nbunch": "local"})
def is_dominating_set(G, nbunch):
    inside = mask(G, nbunch)
    return bool((inside | _neighborhood(G, inside.nonzero().flatten())).all())


def _refuses_data(G, nbunch1, nbunch2, data, keys, default):
    if data is not False or keys:
        return "edges with data or keys"
    return None


@implements(cost="light", given={"nbunch1": "local"}, refuses=_refuses_data, gaps="edges with data or keys")
def edge_boundary(G, nbunch1, nbunch2=None, data=False, keys=False, default=None):
    order = [number(G, node) for node in {node for node in nbunch1 if node in G}]
    place = torch.full((len(G),), len(G))
    place[order] = torch.arange(len(order))
    inside = place < len(G)
    offset, neighbors = rows(G)
    first = torch.tensor(order, dtype=torch.int64)
    degree = offset[first + 1] - offset[first]
    begin = degree.cumsum(0) - degree
    arc = torch.arange(int(degree.sum())) - begin.repeat_interleave(degree) + offset[first].repeat_interleave(degree)
    u, v = first.repeat_interleave(degree), neighbors[arc].to(torch.int64)
    if nbunch2 is None:
        chosen = inside[u] ^ inside[v]
    else:
        other = mask(G, nbunch2)
        chosen = (inside[u] & other[v]) | (inside[v] & other[u])
    if not G.is_directed():
        chosen &= place[v] >= place[u]  # an edge within is listed by the end that comes first
    yield from zip(names(G, u[chosen]), names(G, v[chosen]), strict=True)


@implements(cost="light")
def density(B, nodes):
    n, m, inside = len(B), B.number_of_edges(), len(nodes)
    pairs = inside * (n - inside) * (2 if B.is_directed() else 1)
    return 0.0 if m == 0 else m / pairs
