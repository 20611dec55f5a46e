"""Degree centrality: the share of the other vertices that a vertex is joined to (Freeman 1979). O(n)."""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg

DIRECTIONS = ("both", "in", "out")


def degree_centrality(graph: tg.Graph, *, direction: str = "both") -> Tensor:
    """Degree of every vertex divided by n - 1, float64 [n]; 1 in a graph of one vertex.

    `direction`, "both", or in a directed graph "in" or "out" for the arcs that arrive or leave alone. Parallel edges
    count each, and a self-loop twice, as in networkx. Raises ArgumentError for another direction, and for "in" and
    "out" of an undirected graph, whose edges have none.

    >>> tg.algorithms.degree_centrality(tg.generators.star(4))
    tensor([1.0000, 0.2500, 0.2500, 0.2500, 0.2500], dtype=torch.float64)
    """
    if direction not in DIRECTIONS:
        raise tg.errors.ArgumentError(f"direction: {direction!r} is not one of {', '.join(map(repr, DIRECTIONS))}")
    if direction != "both" and not graph.directed:
        raise tg.errors.ArgumentError(f"direction: an undirected graph has no {direction!r}; use 'both'")
    if graph.num_vertices < 2:
        return torch.ones(graph.num_vertices, dtype=torch.float64, device=graph.device)
    degree = graph.in_degree if direction == "in" else graph.out_degree
    if direction == "both":
        # An undirected loop is one arc in its row, and has two ends there.
        degree = degree + (graph.in_degree if graph.directed else degree - graph.without_self_loops().out_degree)
    return degree.to(torch.float64) / (graph.num_vertices - 1)
