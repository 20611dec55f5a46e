"""Counts of shortest paths by the kernels in `path_counts.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_data, refuses_wide_graph
from tgraph.kernels.operators.centrality import path_counts as declared


def refuses(graph: Graph, distance: Tensor, *others: object) -> str | None:
    """Why distances are not supported, None if they are."""
    if distance.dtype not in (torch.int64, torch.float64):
        return f"it takes distances in int64 or float64, not in {distance.dtype}"
    return refuses_data(distance) or refuses_wide_graph(graph)


@implements(declared.count_paths, refuses)
def count_paths(graph: Graph, distance: Tensor, weighted: bool, even: bool) -> tuple[Tensor, Tensor]:
    counts = torch.zeros(distance.shape, dtype=torch.float64, device="cpu")
    onward = torch.zeros_like(counts)
    sides = (*_arcs(graph, distance, weighted), *_arcs(graph.transpose(), distance, weighted))
    compiled().count_paths(*sides, distance, even, counts.view(-1), onward.view(-1))
    return counts, onward


@implements(declared.add_along_arcs, refuses)
def add_along_arcs(graph: Graph, distance: Tensor, weighted: bool, left: Tensor, right: Tensor, sums: Tensor) -> Tensor:
    values = [values.contiguous().view(-1) for values in (distance, left, right)]
    compiled().add_along_arcs(*_arcs(graph, distance, weighted), *values, sums)
    return sums


def _arcs(graph: Graph, distance: Tensor, weighted: bool) -> tuple[Tensor | None, ...]:
    weights = graph.weights.to(distance.dtype) if weighted and graph.weights is not None else None
    return graph.offset, graph.neighbors, weights
