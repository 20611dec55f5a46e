"""Pairs of vertices and their neighbours, for all similarities."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg

MOST = 100_000_000  # pairs that are made where none are given


def simple(graph: tg.Graph) -> tg.Graph:
    """The graph without parallel edges. Raises ArgumentError for a directed one."""
    if graph.directed:
        raise tg.errors.ArgumentError(
            "graph: similarity by neighbours is for undirected graphs, and this one is directed; pass "
            "graph.to_undirected()"
        )
    return graph.kept("simple", lambda: graph.decoded().to_undirected(multi="first"))


def pairs_of(graph: tg.Graph, pairs: Any) -> Tensor:
    """The given pairs, int64 [k, 2]; for None all pairs u < v that no edge joins, as networkx takes them.

    Raises ArgumentError where these would be more than MOST.
    """
    if pairs is not None:
        return tg.primitives.row_similarity.vertex_pairs(graph, pairs)
    n = graph.num_vertices
    if n * (n - 1) // 2 > MOST:
        raise tg.errors.ArgumentError(
            f"pairs: the vertices without an edge between them are about {n * (n - 1) // 2:,} pairs; give those that "
            "matter, or ask for the k best of each vertex by most_similar"
        )
    first, second = torch.triu_indices(n, n, 1, device=graph.device)
    key = torch.repeat_interleave(torch.arange(n, device=graph.device), graph.out_degree) * n + graph.neighbors
    joined = torch.isin(first * n + second, key, assume_unique=False)
    return torch.stack((first[~joined], second[~joined]), 1)
