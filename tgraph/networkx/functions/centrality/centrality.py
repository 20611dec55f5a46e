"""Centralities."""

from __future__ import annotations

from typing import Any

import networkx as nx
import torch
from torch import Tensor

import tgraph as tg
from tgraph import algorithms
from tgraph.core import sums
from tgraph.networkx.functions._shared import (
    by_node,
    degrees,
    number,
    numbers,
    of_kind,
    python_sums,
    refuse_extreme,
    structure,
)
from tgraph.networkx.functions.traversal.searches import reached
from tgraph.networkx.registry import implements, made_of


def _degree_centrality(G: Any, degree: Tensor) -> dict[Any, float]:
    if len(G) <= 1:
        return dict.fromkeys(G, 1)
    return by_node(G, degree.to(torch.float64) * (1.0 / (len(G) - 1.0)))


@implements(cost="light")
def degree_centrality(G):
    return _degree_centrality(G, degrees(G))


@implements(cost="light")
def in_degree_centrality(G):
    return _degree_centrality(G, structure(G).in_degree)


@implements(cost="light")
def out_degree_centrality(G):
    return _degree_centrality(G, structure(G).out_degree)


@implements()
def eigenvector_centrality(G, max_iter=100, tol=1.0e-6, nstart=None, weight=None):
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    x = torch.ones(n, dtype=torch.float64)
    if nstart is not None:
        if all(value == 0 for value in nstart.values()):
            raise nx.NetworkXError("initial vector cannot have all zero values")
        _check_start(G, nstart)
        x = torch.tensor([nstart[node] for node in G], dtype=torch.float64)
    x = x / x.sum()
    arcs = refuse_extreme(structure(G, weight), weight)
    for _ in range(max_iter):
        before = x
        x = before + _received(arcs, before)
        norm = float(x.norm()) or 1
        x = x / norm
        if (x - before).abs().sum() < n * tol:
            return by_node(G, x)
    raise nx.PowerIterationFailedConvergence(max_iter)


def _check_start(G: Any, nstart: Any) -> None:
    if list(nstart) != list(G):
        raise NotImplementedError("nstart has other nodes than the graph, or in another order")


def _received(arcs: tg.Graph, x: Tensor) -> Tensor:
    return tg.aggregate(arcs, x, "sum", edge="copy" if arcs.weights is None else "mul")


@implements()
def katz_centrality(G, alpha=0.1, beta=1.0, max_iter=1000, tol=1.0e-6, nstart=None, normalized=True, weight=None):
    n = len(G)
    if n == 0:
        return {}
    x = torch.zeros(n, dtype=torch.float64)
    if nstart is not None:
        _check_start(G, nstart)
        x = torch.tensor([nstart[node] for node in G], dtype=torch.float64)
    try:
        bias = torch.full((n,), float(beta), dtype=torch.float64)
    except (TypeError, ValueError, AttributeError) as fault:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from fault
        bias = torch.tensor([beta[node] for node in G], dtype=torch.float64)
    arcs = refuse_extreme(structure(G, weight), weight)
    for _ in range(max_iter):
        before = x
        x = alpha * _received(arcs, before) + bias
        if (x - before).abs().sum() < n * tol:
            if normalized and (norm := float(x.norm())):
                x = x * (1.0 / norm)
            return by_node(G, x)
    raise nx.PowerIterationFailedConvergence(max_iter)


made_of("single_source_shortest_path_length", cost="superlinear")("bipartite_closeness_centrality")


def _require(kind: str, G: Any, distance: Any) -> None:
    """Leave other distances to networkx: with negative ones a search meets a contradiction or not by the order of
    neighbours, and the inverse of an infinite one is the float zero."""
    if distance is not None:
        of_kind(kind, G.weighted(distance))


@implements(cost="superlinear", given={"u": "light"})
def closeness_centrality(G, u=None, distance=None, wf_improved=True):
    n = len(G)
    if distance is None:
        if u is not None:
            return algorithms.closeness(G.structure, [number(G, u)], wf_improved=wf_improved).item()
        return by_node(G, algorithms.closeness(G.structure, wf_improved=wf_improved))
    _require("lengths", G, distance)
    found = {}
    for node in G if u is None else [u]:
        _, far = reached(G, number(G, node), distance, reverse=True)
        total, closeness = sums.total(far), 0.0
        if total > 0.0 and n > 1:
            closeness = (len(far) - 1.0) / total
            if wf_improved:
                closeness *= (len(far) - 1.0) / (n - 1)
        found[node] = closeness
    return found if u is None else found[u]


@implements(cost="superlinear", given={"nbunch": "linear", "sources": "linear"})
def harmonic_centrality(G, nbunch=None, distance=None, sources=None):
    targets = set(G.nodes if nbunch is None else G.nbunch_iter(nbunch))
    if sources is None and distance is None:
        return dict(zip(targets, python_sums(algorithms.harmonic(G.structure, numbers(G, targets))), strict=True))
    _require("measures", G, distance)
    if sources is None:
        found = {}
        for node in targets:
            _, far = reached(G, number(G, node), distance, reverse=True)
            found[node] = (1 / far[far != 0].to(torch.float64)).sum().item() or 0
        return found
    total = torch.zeros(len(G), dtype=torch.float64)
    for node in set(G.nbunch_iter(sources)):
        order, far = reached(G, number(G, node), distance)
        total[order] += torch.where(far == 0, 0.0, 1 / far.to(torch.float64))
    return dict(zip(targets, python_sums(total[numbers(G, targets)]), strict=True))
