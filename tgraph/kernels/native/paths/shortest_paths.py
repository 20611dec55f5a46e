"""Shortest paths by the kernels in `point_to_point.cpp`, `parents.cpp`, `bellman_ford.cpp` and `floyd_warshall.cpp`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_data, refuses_first, refuses_graph
from tgraph.kernels.operators.paths import floyd_warshall as floyd_warshall_operators
from tgraph.kernels.operators.paths import shortest_paths as shortest_paths_operators

_NUMBERS = (torch.int32, torch.int64, torch.float32, torch.float64)


def refuses_parents(graph: Graph, distance: Tensor, parent: Tensor) -> str | None:
    """Why distances are not supported, None if they are."""
    if distance.dtype not in (torch.int64, torch.float32, torch.float64):
        return f"it takes distances in int64, float32 or float64, not {distance.dtype}"
    return refuses_data(distance)


@implements(shortest_paths_operators.hops, refuses_graph)
def hops(graph: Graph, source: int, target: int) -> int:
    """See `tgraph.primitives.shortest_paths.hops`; -1 where there is no path."""
    return _routes(graph, weighted=False).hops(source, target)


@implements(shortest_paths_operators.fewest_hops, refuses_graph)
def fewest_hops(graph: Graph, source: int, target: int) -> Tensor:
    return _vertices(_routes(graph, weighted=False).fewest_hops(source, target))


@implements(shortest_paths_operators.shortest_path, refuses_graph)
def shortest_path(graph: Graph, source: int, target: int, bound: Tensor | None) -> tuple[Tensor, float]:
    if bound is None:
        path, length = _routes(graph, weighted=True).shortest_path(source, target)
        return _vertices(path), length
    offset, neighbors, weights = rows(graph)
    if weights is None:
        weights = torch.ones(graph.num_arcs, dtype=torch.int32, device="cpu")
    if bound.is_floating_point() and not weights.is_floating_point():
        weights = weights.to(torch.float64)
    bound = bound.to(torch.float64 if weights.is_floating_point() else torch.int64).contiguous()
    path, length = compiled().astar_path(offset, neighbors, weights, bound, source, target)
    return _vertices(path), length


@implements(shortest_paths_operators.k_shortest, refuses_graph)
def k_shortest(graph: Graph, source: int, target: int, count: int, weighted: bool) -> list[tuple[list[int], float]]:
    (offset, neighbors, weights), (in_offset, in_neighbors, in_weights) = rows(graph), rows(graph.transpose_detached())
    if not weighted:
        weights = in_weights = None
    return compiled().k_shortest(offset, neighbors, weights, in_offset, in_neighbors, in_weights, source, target, count)


@implements(shortest_paths_operators.parents, refuses_parents)
def parents(graph: Graph, distance: Tensor, parent: Tensor) -> None:
    """See `tgraph.primitives.shortest_paths.parents`; written into `parent`, which holds the sources."""
    offset, neighbors, weights = rows(graph.transpose_detached())
    if weights is not None and (distance.is_floating_point() or weights.is_floating_point()):
        weights = weights.to(distance.dtype)
    if weights is None and distance.is_floating_point():
        weights = torch.ones(graph.num_arcs, dtype=distance.dtype, device="cpu")
    compiled().parents(offset, neighbors, weights, distance.contiguous(), parent)


@implements(shortest_paths_operators.bellman_ford, refuses_graph)
def bellman_ford(graph: Graph, sources: Tensor) -> tuple[Tensor, Tensor, list[int]]:
    """See `tgraph.primitives.shortest_paths.bellman_ford`; (distance, parent, the negative cycle)."""
    offset, neighbors, weights = rows(graph)
    if weights is None:
        weights = torch.ones(graph.num_arcs, dtype=torch.int32, device="cpu")
    floating = weights.is_floating_point()
    unreached, dtype = (torch.inf, torch.float64) if floating else (torch.iinfo(torch.int64).max, torch.int64)
    distance = torch.full((graph.num_vertices,), unreached, dtype=dtype, device="cpu")
    parent = torch.full((graph.num_vertices,), -1, dtype=torch.int64, device="cpu")
    cycle = compiled().bellman_ford(offset, neighbors, weights, sources.contiguous(), distance, parent)
    return distance, parent, cycle


def rows(graph: Graph, weighted: bool = True) -> tuple[Tensor, Tensor, Tensor | None]:
    """(offset, neighbors, weights), the weights of a dtype that kernels are compiled for, None unless `weighted`."""
    weights = graph.weights if weighted else None
    if weights is not None and weights.dtype not in _NUMBERS:
        weights = weights.to(torch.float32 if weights.is_floating_point() else torch.int32)
    return graph.offset.contiguous(), graph.neighbors.contiguous(), weights if weights is None else weights.detach()


def _routes(graph: Graph, weighted: bool) -> Any:
    """The compiled searches over the graph: reading its tensors takes longer than a search that ends soon."""
    name = "weighted_routes" if weighted else "routes"
    kept = graph._cache.values.get(name) or graph.kept(name, lambda: _Routes(graph, weighted))
    return kept.compiled


def _vertices(path: bytearray) -> Tensor:
    return torch.frombuffer(path, dtype=torch.int64) if path else torch.empty(0, dtype=torch.int64, device="cpu")


class _Routes:
    """The compiled searches and the tensors that they go over."""

    def __init__(self, graph: Graph, weighted: bool):
        self.arrays = [array for side in (graph, graph.transpose_detached()) for array in rows(side, weighted)]
        self.compiled = compiled().routes(*self.arrays)


@implements(floyd_warshall_operators.floyd_warshall, refuses_first)
def floyd_warshall(distance: Tensor, predecessor: Tensor | None) -> int:
    return int(compiled().floyd_warshall(distance, predecessor, len(distance)))
