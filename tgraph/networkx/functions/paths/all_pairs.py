"""Distances between all pairs by Floyd and Warshall's algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tgraph.core import sums
from tgraph.networkx.functions._shared import refuse_beyond, structure, weighted_rows
from tgraph.networkx.registry import implements, made_of

made_of("to_numpy_array", cost="superlinear")("floyd_warshall_numpy")


def _search(G: Any, weight: Any) -> tuple[np.ndarray, np.ndarray, bool]:
    """(distance, predecessor, whether distances are whole numbers): inf and -1 where there is no path."""
    n = len(G)
    offset, neighbors, weights = weighted_rows(G, weight)
    if not weights.is_floating_point():
        refuse_beyond(sums.largest(weights) * n, 2**53, weight)
    row = torch.repeat_interleave(torch.arange(n), offset.diff()).numpy()
    distance, before = np.full((n, n), np.inf), np.full((n, n), -1, dtype=np.int64)
    np.fill_diagonal(distance, 0)
    target = neighbors.numpy()
    np.minimum.at(distance, (row, target), weights.double().numpy())
    before[row, target] = row
    for w in range(n):
        onward = distance[:, w, None] + distance[w]
        nearer = distance > onward
        distance = np.where(nearer, onward, distance)
        before = np.where(nearer, before[w], before)
    if (distance.diagonal() < 0).any():
        raise NotImplementedError("a negative cycle")
    return distance, before, structure(G, weight).weight_dtype is not None and not weights.is_floating_point()


def _by_pair(G: Any, distance: np.ndarray, whole: bool) -> dict[Any, dict[Any, float]]:
    nodes = list(G)
    rows = distance.tolist()
    if whole:
        rows = [[far if far == np.inf else int(far) for far in row] for row in rows]
    return {node: dict(zip(nodes, row, strict=True)) for node, row in zip(nodes, rows, strict=True)}


@implements(cost="superlinear", gaps="negative cycles")
def floyd_warshall(G, weight="weight"):
    distance, _, whole = _search(G, weight)
    return _by_pair(G, distance, whole)


@implements(cost="superlinear", gaps="negative cycles")
def floyd_warshall_predecessor_and_distance(G, weight="weight"):
    distance, before, whole = _search(G, weight)
    nodes = list(G)
    found = {
        node: {nodes[v]: nodes[u] for v, u in enumerate(row) if u >= 0}
        for node, row in zip(nodes, before.tolist(), strict=True)
    }
    return {node: row for node, row in found.items() if row}, _by_pair(G, distance, whole)
