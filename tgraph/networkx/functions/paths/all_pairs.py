"""Distances between all pairs by Floyd and Warshall's algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

import tgraph as tg
from tgraph.core import sums
from tgraph.networkx.functions._arcs import weighted_rows
from tgraph.networkx.functions._building import listed_edges
from tgraph.networkx.functions._weights import refuse_beyond, require_one_kind
from tgraph.networkx.registry import implements, made_of

made_of("to_numpy_array", cost="superlinear")("floyd_warshall_numpy")

BLOCK = 64  # vertices up to which the compiled kernel tries one after the other, as networkx does


def _arcs(G: Any, weight: Any) -> tuple[Tensor, Tensor, np.ndarray]:
    """(distance, predecessor, when each pair was found), [n, n], by the edges alone: inf and -1 without one. Edges are
    found in the order of `G.edges`, before all else."""
    if bool in G._kinds_of(weight):
        raise NotImplementedError("bool as weights")
    n = len(G)
    source, target, _ = (each.numpy() for each in listed_edges(G))
    if not G.is_directed():
        source, target = (np.stack(ends, 1).ravel() for ends in ((source, target), (target, source)))
    since = np.full((n, n), n)
    np.minimum.at(since, (source, target), np.arange(len(source)) - len(source))
    offset, neighbors, weights = weighted_rows(G, weight, 1.0)
    if not weights.is_floating_point():
        refuse_beyond(sums.largest(weights) * n, 2**53, weight)
    row = torch.repeat_interleave(torch.arange(n), offset.diff())
    if weights.is_floating_point() and bool((row == neighbors)[weights == 0].any()):
        raise NotImplementedError("self-loops of weight 0.0, in networkx the distance of a node to itself")
    distance, before = torch.full((n, n), torch.inf, dtype=torch.float64), torch.full((n, n), -1)
    distance[row, neighbors] = weights.double()
    distance.diagonal().clamp_(max=0)
    before[row, neighbors] = row
    return distance, before, since


def _find(distance: Tensor, since: np.ndarray) -> None:
    """Set `since` of each pair without an edge to the least vertex at which a path is found; inner vertices are tried
    in ascending order."""
    reached = (distance < torch.inf).numpy()
    for w in range(len(reached)):
        rows = reached[:, w].nonzero()[0]
        row, column = (reached[w] & ~reached[rows]).nonzero()
        reached[rows[row], column] = True
        since[rows[row], column] = np.minimum(since[rows[row], column], w)


def _shorten(distance: Tensor, before: Tensor | None = None) -> None:
    """Replace the lengths of edges by distances, and predecessors by those on the first of equally long paths."""
    if before is None or len(distance) <= BLOCK:
        if tg.primitives.all_pairs.shorten(distance, before) >= 0:
            raise NotImplementedError("a negative cycle")
        return
    far, last = distance.numpy(), before.numpy()
    for w in range(len(far)):
        onward = far[:, w, None] + far[w]
        nearer = far > onward
        np.copyto(far, onward, where=nearer)
        np.copyto(last, last[w], where=nearer)
    if bool((distance.diagonal() < 0).any()):
        raise NotImplementedError("a negative cycle")


def _distances(G: Any, weight: Any, distance: Tensor, since: np.ndarray) -> dict[Any, dict[Any, float]]:
    """Distances by node and node: a node itself first, then its neighbours, then all others."""
    whole = G.edge_column(weight) is not None and require_one_kind(G, weight, 1.0)
    rank = np.minimum(since, 0)
    np.fill_diagonal(rank, rank.min(initial=0) - 1)
    order = rank.argsort(axis=1, kind="stable")
    lengths = np.take_along_axis(distance.numpy(), order, 1).tolist()
    if whole:
        lengths = [[far if far == np.inf else int(far) for far in row] for row in lengths]
    nodes = list(G)
    found = {}
    for u, places, row in zip(nodes, order.tolist(), lengths, strict=True):
        found[u] = dict(zip([nodes[v] for v in places], row, strict=True))
        found[u][u] = 0
    if not whole and G.edge_column(weight) is not None:
        for v, length in _loops_of_none(G, weight):
            found[nodes[v]][nodes[v]] = length
    return found


def _loops_of_none(G: Any, weight: Any) -> Iterator[tuple[int, float]]:
    """The vertices with a self-loop of length zero, and that zero, which takes the place of the integer 0."""
    source, target, arc = listed_edges(G)
    loop = source == target
    lengths = G.weighted(weight, 1.0).decoded().weights[arc[loop]]
    return zip(source[loop][lengths == 0].tolist(), lengths[lengths == 0].tolist(), strict=True)


@implements(cost="superlinear", gaps="negative cycles")
def floyd_warshall(G, weight="weight"):
    distance, _, since = _arcs(G, weight)
    _find(distance, since)
    _shorten(distance)
    return _distances(G, weight, distance, since)


@implements(cost="superlinear", gaps="negative cycles")
def floyd_warshall_predecessor_and_distance(G, weight="weight"):
    distance, before, since = _arcs(G, weight)
    _find(distance, since)
    _shorten(distance, before)
    nodes, n = list(G), len(G)
    reached = since < n
    found = {}
    for u in since.min(axis=1, initial=n).argsort(kind="stable").tolist():
        order = since[u].argsort(kind="stable")[: reached[u].sum()]
        if len(order):
            ends = zip(order.tolist(), before[u, order].tolist(), strict=True)
            found[nodes[u]] = {nodes[v]: nodes[w] for v, w in ends}
    return found, _distances(G, weight, distance, since)
