"""Searches by the kernels in `search.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_tensors


def refuses_breadth_first(offset: Tensor, neighbors: Tensor, sources: Tensor, max_depth: int) -> str | None:
    """Why a search is not served, None where it is."""
    return refuses_tensors(offset, neighbors, sources)


def breadth_first(offset: Tensor, neighbors: Tensor, sources: Tensor, max_depth: int) -> tuple[Tensor, Tensor, Tensor]:
    """See `tgraph.primitives.search.breadth_first`."""
    order, parent, depth = torch.empty(3, len(offset) - 1, dtype=torch.int64)
    found = _kernels().breadth_first(offset, neighbors, sources, max_depth, order, parent, depth)
    return order[:found], parent[:found], depth[:found]


def refuses_dijkstra(
    offset: Tensor, neighbors: Tensor, weights: Tensor, sources: Tensor, cutoff: float | None, target: int
) -> str | None:
    """Why a search is not served, None where it is."""
    return refuses_tensors(offset, neighbors, weights, sources)


def dijkstra(
    offset: Tensor, neighbors: Tensor, weights: Tensor, sources: Tensor, cutoff: float | None, target: int
) -> tuple[Tensor, Tensor, Tensor, Tensor] | None:
    """See `tgraph.primitives.search.dijkstra`."""
    n = len(offset) - 1
    order, met, parent = torch.empty(n, dtype=torch.int64), torch.empty(n, dtype=torch.int64), _none(n)
    distance = torch.full((n,), -1, dtype=weights.dtype)
    settled = torch.zeros(n, dtype=torch.bool)
    if cutoff is None:
        cutoff = torch.inf if weights.is_floating_point() else torch.iinfo(torch.int64).max
    results = (order, met, parent, distance, settled)
    found = _kernels().dijkstra(offset, neighbors, weights, sources, cutoff, target, *results)
    return None if found < 0 else (order[:found], met[:found], parent, distance)


def refuses_meet(
    offset: Tensor, neighbors: Tensor, in_offset: Tensor, in_neighbors: Tensor, source: int, target: int
) -> str | None:
    """Why a search is not served, None where it is."""
    return refuses_tensors(offset, neighbors, in_offset, in_neighbors)


def meet(
    offset: Tensor, neighbors: Tensor, in_offset: Tensor, in_neighbors: Tensor, source: int, target: int
) -> list[int]:
    """See `tgraph.primitives.search.meet`."""
    return _kernels().meet(offset, neighbors, in_offset, in_neighbors, source, target)


def refuses_depth_first(offset: Tensor, neighbors: Tensor, sources: Tensor, max_depth: int) -> str | None:
    """Why a search is not served, None where it is."""
    return refuses_tensors(offset, neighbors, sources)


def depth_first(offset: Tensor, neighbors: Tensor, sources: Tensor, max_depth: int) -> tuple[Tensor, Tensor, Tensor]:
    """See `tgraph.primitives.search.depth_first`."""
    n = len(offset) - 1
    preorder, postorder, parent = torch.empty(n, dtype=torch.int64), torch.empty(n, dtype=torch.int64), _none(n)
    found, left = _kernels().depth_first(offset, neighbors, sources, max_depth, preorder, postorder, parent)
    return preorder[:found], postorder[:left], parent


def refuses_rows(offset: Tensor, neighbors: Tensor, *others: Tensor) -> str | None:
    """Why rows are not served, None where they are."""
    return refuses_tensors(offset, neighbors, *others)


def strong_components(offset: Tensor, neighbors: Tensor) -> Tensor:
    """See `tgraph.primitives.search.strong_components`."""
    component = torch.empty(len(offset) - 1, dtype=torch.int64)
    _kernels().strong_components(offset, neighbors, component)
    return component


def generations(offset: Tensor, neighbors: Tensor, in_degree: Tensor) -> tuple[Tensor, Tensor]:
    """See `tgraph.primitives.search.generations`."""
    n = len(offset) - 1
    order, generation = torch.empty(n, dtype=torch.int64), _none(n)
    listed = _kernels().generations(offset, neighbors, in_degree.clone(), order, generation)
    return order[:listed], generation


def refuses_bellman_ford(
    offset: Tensor, neighbors: Tensor, weights: Tensor, sources: Tensor, early: bool
) -> str | None:
    """Why a search is not served, None where it is."""
    return refuses_tensors(offset, neighbors, weights, sources)


def bellman_ford(
    offset: Tensor, neighbors: Tensor, weights: Tensor, sources: Tensor, early: bool
) -> tuple[list[int], list[list[int]], Tensor] | None:
    """See `tgraph.primitives.search.bellman_ford`."""
    distance = torch.zeros(len(offset) - 1, dtype=weights.dtype)
    met, before = _kernels().bellman_ford_in_order(offset, neighbors, weights, sources, early, distance)
    return (met, before, distance) if met or not len(sources) else None


def refuses_meet_weighted(*arguments: Any) -> str | None:
    """Why a search is not served, None where it is."""
    return refuses_tensors(*arguments[:6])


def meet_weighted(
    offset: Tensor,
    neighbors: Tensor,
    weights: Tensor,
    in_offset: Tensor,
    in_neighbors: Tensor,
    in_weights: Tensor,
    source: int,
    target: int,
) -> tuple[list[int], float] | None:
    """See `tgraph.primitives.search.meet_weighted`."""
    rows = (offset, neighbors, weights, in_offset, in_neighbors, in_weights)
    path, length, is_valid = _kernels().meet_weighted(*rows, source, target)
    return (path, length if path else 0) if is_valid else None


def _none(n: int) -> Tensor:
    return torch.full((n,), -1, dtype=torch.int64)


def _kernels() -> Any:
    return cast(Any, native.load())


OPERATORS = {
    "breadth_first": Implementation(breadth_first, refuses_breadth_first),
    "dijkstra": Implementation(dijkstra, refuses_dijkstra),
    "meet": Implementation(meet, refuses_meet),
    "bellman_ford_in_order": Implementation(bellman_ford, refuses_bellman_ford),
    "meet_weighted": Implementation(meet_weighted, refuses_meet_weighted),
    "depth_first": Implementation(depth_first, refuses_depth_first),
    "strong_components": Implementation(strong_components, refuses_rows),
    "generations": Implementation(generations, refuses_rows),
}
