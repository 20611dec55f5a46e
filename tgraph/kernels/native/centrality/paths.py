"""Searches from many sources, counts and samples of shortest paths by the kernels beside this file."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import both_sides, compiled, implements, refuses_data, refuses_wide_graph
from tgraph.kernels.operators.centrality import multi_source as multi_source_operators
from tgraph.kernels.operators.centrality import path_counts as path_counts_operators
from tgraph.kernels.operators.centrality import sample_paths as sample_paths_operators


@implements(multi_source_operators.count_levels, refuses_wide_graph)
def count_levels(graph: Graph, sources: Tensor) -> Tensor:
    found = compiled().count_levels(*both_sides(graph), sources)
    counts = torch.zeros((len(sources), found.num_levels), dtype=torch.int64, device="cpu")
    found.copy_to(counts.view(-1))
    return counts


@implements(multi_source_operators.count_hops, refuses_wide_graph)
def count_hops(graph: Graph, sources: Tensor) -> Tensor:
    distance = torch.empty((len(sources), graph.num_vertices), dtype=torch.int32, device="cpu")
    compiled().count_hops(*both_sides(graph), sources, distance.view(-1))
    return distance


@implements(multi_source_operators.lengths, refuses_wide_graph)
def lengths(graph: Graph, sources: Tensor, weights: Tensor, width: float) -> Tensor:
    distance = torch.empty((len(sources), graph.num_vertices), dtype=weights.dtype, device="cpu")
    compiled().lengths(graph.offset, graph.neighbors, weights, width, sources, distance.view(-1))
    return distance


def refuses(graph: Graph, distance: Tensor, *others: object) -> str | None:
    """Why distances are not supported, None if they are."""
    if distance.dtype not in (torch.int64, torch.float64):
        return f"it takes distances in int64 or float64, not in {distance.dtype}"
    return refuses_data(distance) or refuses_wide_graph(graph)


@implements(path_counts_operators.count_paths, refuses)
def count_paths(graph: Graph, distance: Tensor, weighted: bool, even: bool) -> tuple[Tensor, Tensor]:
    counts = torch.zeros(distance.shape, dtype=torch.float64, device="cpu")
    onward = torch.zeros_like(counts)
    sides = (*_arcs(graph, distance, weighted), *_arcs(graph.transpose(), distance, weighted))
    compiled().count_paths(*sides, distance, even, counts.view(-1), onward.view(-1))
    return counts, onward


@implements(path_counts_operators.add_along_arcs, refuses)
def add_along_arcs(graph: Graph, distance: Tensor, weighted: bool, left: Tensor, right: Tensor, sums: Tensor) -> Tensor:
    values = [values.contiguous().view(-1) for values in (distance, left, right)]
    compiled().add_along_arcs(*_arcs(graph, distance, weighted), *values, sums)
    return sums


def _arcs(graph: Graph, distance: Tensor, weighted: bool) -> tuple[Tensor | None, ...]:
    weights = graph.weights.to(distance.dtype) if weighted and graph.weights is not None else None
    return graph.offset, graph.neighbors, weights


@implements(sample_paths_operators.paths_inside, refuses_wide_graph)
def paths_inside(graph: Graph, key: int, first: int, count: int) -> Tensor:
    inside = torch.zeros(graph.num_vertices, dtype=torch.int64, device="cpu")
    compiled().sample_paths(*both_sides(graph), key, first, count, inside)
    return inside
