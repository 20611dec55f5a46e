"""PageRank and HITS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

import tgraph as tg
from tgraph.networkx.caching import cached
from tgraph.networkx.functions._arcs import matrix, structure
from tgraph.networkx.functions._nodes import by_node
from tgraph.networkx.functions._weights import refuse_cancelled
from tgraph.networkx.functions.centrality.centrality import converged, edge_of, iterated, received
from tgraph.networkx.registry import implements, made_of


def _shares(G: Any, values: Mapping[Any, Any], refuse_zero: bool = False) -> Tensor:
    """The share of each node in the sum of all values."""
    found = torch.tensor([values.get(node, 0) for node in G.labels.names], dtype=torch.float64)
    total = found.sum()
    if refuse_zero and total == 0:
        raise ZeroDivisionError
    return found / total


@cached
def _sent(G: Any, weight: Any) -> tuple[Tensor, Tensor, bool]:
    """(the share of its rank that each node sends along an arc of weight 1, mask of the nodes that send nothing,
    whether there are some)"""
    arcs = structure(G, weight)
    leaving = received(arcs.transpose(), torch.ones(len(G), dtype=torch.float64))
    if G.is_multigraph() and bool in G._kinds_of(weight):
        raise NotImplementedError("bool of parallel edges, which add up to bool")
    refuse_cancelled(arcs, weight, leaving[arcs.out_degree > 0])
    ends = leaving == 0
    return torch.where(ends, 0.0, 1.0 / leaving), ends, bool(ends.any())


@implements()
def pagerank(
    G, alpha=0.85, personalization=None, max_iter=100, tol=1.0e-6, nstart=None, weight="weight", dangling=None
):
    n = len(G)
    if n == 0:
        return {}
    arcs = structure(G, weight)
    share, ends, some_end = _sent(G, weight)
    rank = torch.full((n,), 1 / n, dtype=torch.float64) if nstart is None else _shares(G, nstart)
    jump: Any = 1 / n if personalization is None else _shares(G, personalization, refuse_zero=True)
    lost = jump if dangling is None else _shares(G, dangling)
    if lost is jump or not some_end:
        walk = tg.primitives.linear.AffineMap(scale=share, bias=jump, edge=edge_of(arcs))
        factors = {"alpha": alpha, "beta": 1 - alpha, "rate": alpha if some_end else 0.0}
        return by_node(G, iterated(walk, arcs, rank, max_iter, tol, **factors))

    def step(rank: Tensor) -> Tensor:
        return alpha * (received(arcs, rank * share) + rank[ends].sum() * lost) + (1 - alpha) * jump

    return by_node(G, converged(step, rank, max_iter, tol))


def _authorities(G: Any, max_iter: int, tol: float) -> np.ndarray:
    """By power iteration from equal scores, of length 1."""
    options = {"weighted": True, "dtype": torch.float64, "tol": tol, "max_iterations": 100 * max_iter}
    try:
        _, found = tg.algorithms.hits(structure(G, "weight"), **options)
    except tg.errors.NotConvergedError as fault:
        raise nx.PowerIterationFailedConvergence(max_iter) from fault
    return (found / found.norm()).numpy()


@implements()
def hits(G, max_iter=100, tol=1.0e-8, nstart=None, normalized=True):
    import scipy.sparse.linalg

    if not len(G):
        return {}, {}
    arcs = matrix(G, "weight", dtype=float)
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    start = np.ones(len(G)) if nstart is None else np.array(list(nstart.values()))
    try:
        _, _, rows = scipy.sparse.linalg.svds(arcs, k=1, v0=start, maxiter=max_iter, tol=tol)
    except scipy.sparse.linalg.ArpackNoConvergence as fault:
        raise nx.PowerIterationFailedConvergence(max_iter) from fault
    authorities = rows.flatten().real
    lowest, highest = authorities.min(), authorities.max()
    if arcs.data.min(initial=0) >= 0 and min(-lowest, highest) > 1e-6 * max(-lowest, highest):
        authorities = _authorities(G, max_iter, tol)  # of a double singular value, any vector of two is found
    hubs = arcs @ authorities
    if normalized:
        hubs, authorities = hubs / hubs.sum(), authorities / authorities.sum()
    return tuple(dict(zip(G, each.tolist(), strict=True)) for each in (hubs, authorities))


made_of("to_numpy_array")("google_matrix")
