"""Centralities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import torch
from torch import Tensor

import tgraph as tg
from tgraph import algorithms
from tgraph.core import sums
from tgraph.networkx.functions._arcs import degrees, structure
from tgraph.networkx.functions._nodes import by_node, number, numbers, python_sums
from tgraph.networkx.functions._weights import of_kind, refuse_extreme
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
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    if nstart is not None and all(value == 0 for value in nstart.values()):
        raise nx.NetworkXError("initial vector cannot have all zero values")
    x = _start(G, nstart, 1)
    arcs = refuse_extreme(structure(G, weight), weight)

    def step(x: Tensor) -> Tensor:
        x = x + received(arcs, x)
        return x / (float(x.norm()) or 1)

    return by_node(G, converged(step, x / x.sum(), max_iter, tol))


def _start(G: Any, nstart: Any, default: float) -> Tensor:
    """The first vector of an iteration."""
    if nstart is None:
        return torch.full((len(G),), default, dtype=torch.float64)
    if list(nstart) != list(G):
        raise NotImplementedError("nstart has other nodes than the graph, or in another order")
    return torch.tensor(list(nstart.values()), dtype=torch.float64)


def received(arcs: tg.Graph, x: Tensor) -> Tensor:
    """The sum of the values that the arcs bring to each vertex, times their weights."""
    return tg.aggregate(arcs, x, "sum", edge=edge_of(arcs))


def converged(step: Callable[[Tensor], Tensor], x: Tensor, max_iter: int, tol: float) -> Tensor:
    """The vector that a step changes by less than `tol` per node (L1). Raises PowerIterationFailedConvergence after
    `max_iter` steps."""
    for _ in range(max_iter):
        x, before = step(x), x
        if (x - before).abs().sum() < len(x) * tol:
            return x
    raise nx.PowerIterationFailedConvergence(max_iter)


def iterated(
    walk: tg.primitives.linear.AffineMap, arcs: tg.Graph, x: Tensor, max_iter: int, tol: float, **factors: Any
) -> Tensor:
    """As `converged`, with the steps of an affine map, whose `factors` are alpha, beta and rate; x is overwritten."""
    least, left = math.nextafter(len(x) * tol, -math.inf), max_iter
    while left > 0:
        found, taken = walk.steps(arcs, x, left, tolerance=least, **factors)
        if walk.change(x, found) <= least:
            return found
        x, left = found, left - taken
    raise nx.PowerIterationFailedConvergence(max_iter)


def edge_of(arcs: tg.Graph) -> str:
    """The edge operation of sums over a graph: weights are factors where there are some."""
    return "copy" if arcs.weights is None else "mul"


@implements()
def katz_centrality(G, alpha=0.1, beta=1.0, max_iter=1000, tol=1.0e-6, nstart=None, normalized=True, weight=None):
    if len(G) == 0:
        return {}
    x = _start(G, nstart, 0)
    bias: Any
    try:
        bias = float(beta)
    except (TypeError, ValueError, AttributeError) as fault:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from fault
        bias = torch.tensor([beta[node] for node in G], dtype=torch.float64)
    arcs = refuse_extreme(structure(G, weight), weight)
    walk = tg.primitives.linear.AffineMap(bias=bias, edge=edge_of(arcs))
    x = iterated(walk, arcs, x, max_iter, tol, alpha=alpha)
    norm = float(x.norm()) if normalized else 0
    return by_node(G, x * (1.0 / norm) if norm else x)


made_of("single_source_shortest_path_length", cost="superlinear")("bipartite_closeness_centrality")


@implements(cost="superlinear", given={"u": "light"})
def closeness_centrality(G, u=None, distance=None, wf_improved=True):
    n = len(G)
    if distance is None:
        if u is not None:
            return algorithms.closeness(G.structure, [number(G, u)], wf_improved=wf_improved).item()
        return by_node(G, algorithms.closeness(G.structure, wf_improved=wf_improved))
    of_kind("lengths", G.weighted(distance))  # with negative ones a search may meet a contradiction, or not
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
    graph = structure(G) if distance is None else of_kind("measures", G.weighted(distance))
    sources = None if sources is None else numbers(G, set(G.nbunch_iter(sources)))
    found = algorithms.harmonic(graph, numbers(G, targets), sources=sources, weighted=distance is not None)
    return dict(zip(targets, python_sums(found), strict=True))
