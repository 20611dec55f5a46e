"""Laplacian centrality: how much the energy of the graph drops without a vertex (Qi, Fuller, Wu, Wu and Zhang 2012).

The energy is the sum of the squares of the Laplacian L = D - A. Removing v takes its row and column, and lowers the
degree of each neighbour u by the weight of their edge, so that the drop is a sum over the row of v alone:

    L[v, v]^2 + sum over u of (L[v, u]^2 + 2 L[u, u] |L[v, u]|)

O(n + m).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

import tgraph as tg


def laplacian_centrality(graph: tg.Graph, *, normalized: bool = True, weighted: bool = False) -> Tensor:
    """Drop of the Laplacian energy by removing each vertex, float64 [n], a share of the energy if `normalized`.

    `weighted`, edges count by their weights. Parallel edges add, self-loops are of no effect. Zero where there are no
    edges. Raises ArgumentError for a directed graph, and weights that are missing or not finite.

    >>> tg.algorithms.laplacian_centrality(tg.generators.path(4), normalized=False)
    tensor([ 6., 12., 12.,  6.], dtype=torch.float64)
    """
    if graph.directed:
        raise tg.errors.ArgumentError(
            "graph: Laplacian centrality is that of an undirected graph; use graph.to_undirected()"
        )
    if weighted and graph.weight_dtype is None:
        raise tg.errors.ArgumentError("weighted: the graph has no weights; leave weighted=False")
    if weighted:
        tg.primitives.weights.check(graph, "numbers", "energies")
    arcs = graph.without_self_loops()
    if weighted or arcs.num_parallel_edges:
        unit = tg.primitives.weights.unit(graph) if weighted and normalized else 1.0
        degree, squares, beside = _weighted_sums(arcs, (lambda w: w.double() / unit) if weighted else torch.ones_like)
    else:
        degree = squares = arcs.out_degree.to(torch.float64)
        beside = tg.aggregate(arcs, degree, "sum")
    drop = degree**2 + squares + 2 * beside
    energy = (degree**2 + squares).sum()
    return drop / torch.where(energy == 0, 1, energy) if normalized else drop


def _weighted_sums(arcs: tg.Graph, weight: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Of each row the sums of w, of w^2, and of the degree of each neighbour times |w|, of a function of the weights:
    parallel arcs add up first."""
    ones = torch.ones(arcs.num_vertices, dtype=torch.float64, device=arcs.device)
    reweighted = tg.primitives.weights.reweighted
    simple = reweighted(arcs, lambda weights: weight(weights).double()).to_undirected(multi="sum")
    degree = tg.aggregate(simple, ones, "sum", edge="mul")
    squares = tg.aggregate(reweighted(simple, torch.square), ones, "sum", edge="mul")
    return degree, squares, tg.aggregate(reweighted(simple, torch.abs), degree, "sum", edge="mul")
