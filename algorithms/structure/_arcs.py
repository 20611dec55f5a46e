"""Arcs as numbers: u -> v of n vertices is u n + v, so that sets of arcs are sorted tensors."""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


def source(graph: tg.Graph) -> Tensor:
    """The vertex that each stored arc leaves, int64 [m]."""
    vertices = torch.arange(graph.num_vertices, device=graph.device)
    return vertices.repeat_interleave(graph.out_degree, output_size=graph.num_arcs)


def keys(graph: tg.Graph, width: int, number: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """The different arcs as ascending keys u width + v, int64 [e], and the weight of the first of each, [e] or None.
    `number` : the u or v of each vertex, int64 [n], by default its index."""
    arcs = graph.to_csr()
    weights, ends = arcs.weights, (source(arcs), arcs.neighbors)
    u, v = ends if number is None else (number[end] for end in ends)
    key = u * width + v
    if number is not None and bool((key[1:] < key[:-1]).any()):
        key, order = key.sort(stable=True)
        weights = None if weights is None else weights[order]
    first = torch.ones_like(key, dtype=torch.bool)
    first[1:] = key[1:] != key[:-1]
    return key[first], None if weights is None else weights[first]


def occurs(key: Tensor, among: Tensor) -> Tensor:
    """Which keys occur among others that ascend, bool."""
    if not len(among):
        return torch.zeros_like(key, dtype=torch.bool)
    return among[torch.searchsorted(among, key).clamp(max=len(among) - 1)] == key


def with_columns(part: tg.Graph, graph: tg.Graph) -> tg.Graph:
    """A graph of some arcs of another, just built, with the columns of the first of those in parallel."""
    if not graph.arc_columns:
        return part.with_columns_of(graph)
    arcs, n = graph.decoded(), graph.num_vertices
    return part.with_columns_of(
        graph, torch.searchsorted(source(arcs) * n + arcs.neighbors, source(part) * n + part.neighbors)
    )


def graph_of(key: Tensor, weights: Tensor | None, width: int, like: tg.Graph) -> tg.Graph:
    """The graph of ascending keys, directed as another graph, whose ids its vertices have where it has as many."""
    rows = torch.arange(width + 1, device=key.device) * width
    vertices = like.vertices if like.num_vertices == width else None
    return tg.Graph(torch.searchsorted(key, rows), key % max(width, 1), weights, vertices, like.directed)
