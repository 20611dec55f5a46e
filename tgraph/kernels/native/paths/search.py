"""Searches by the kernels in `search.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import attach, compiled, implements, per_vertex, refuses_tensors
from tgraph.kernels.operators.paths import search as declared


def _refuses(*arguments: object) -> str | None:
    return refuses_tensors(*(each for each in arguments if isinstance(each, Tensor)))


@implements(declared.breadth_first, _refuses)
def breadth_first(offset: Tensor, neighbors: Tensor, sources: Tensor, max_depth: int) -> tuple[Tensor, Tensor, Tensor]:
    order, parent, depth = torch.empty(3, len(offset) - 1, dtype=torch.int64, device="cpu")
    found = compiled().breadth_first(offset, neighbors, sources, max_depth, order, parent, depth)
    return order[:found], parent[:found], depth[:found]


@implements(declared.breadth_first_each, _refuses)
def breadth_first_each(
    offset: Tensor, neighbors: Tensor, sources: Tensor, max_depth: int
) -> tuple[Tensor, Tensor, Tensor]:
    order, depth = torch.empty(2, len(sources) * (len(offset) - 1), dtype=torch.int64, device="cpu")
    ends = torch.empty_like(sources)
    compiled().breadth_first_each(offset, neighbors, sources, max_depth, order, depth, ends)
    found = int(ends[-1]) if len(ends) else 0
    return order[:found], depth[:found], ends


@implements(declared.dijkstra, _refuses)
def dijkstra(
    offset: Tensor, neighbors: Tensor, weights: Tensor, sources: Tensor, cutoff: float | None, target: int
) -> tuple[Tensor, Tensor, Tensor, Tensor] | None:
    order, met, parent = torch.empty(3, len(offset) - 1, dtype=torch.int64, device="cpu")
    distance = torch.empty(len(offset) - 1, dtype=weights.dtype, device="cpu")
    if cutoff is None:
        cutoff = torch.inf if weights.is_floating_point() else torch.iinfo(torch.int64).max
    found = compiled().dijkstra(offset, neighbors, weights, sources, cutoff, target, order, met, parent, distance)
    return None if found < 0 else (order[:found], met[:found], parent, distance)


@implements(declared.depth_first, _refuses)
def depth_first(offset: Tensor, neighbors: Tensor, sources: Tensor, max_depth: int) -> tuple[Tensor, Tensor, Tensor]:
    n = len(offset) - 1
    preorder, postorder, parent = (
        torch.empty(n, dtype=torch.int64, device="cpu"),
        torch.empty(n, dtype=torch.int64, device="cpu"),
        _none(n),
    )
    found, left = compiled().depth_first(offset, neighbors, sources, max_depth, preorder, postorder, parent)
    return preorder[:found], postorder[:left], parent


attach(declared.meet, _refuses)
attach(declared.strong_components, _refuses, per_vertex)


@implements(declared.generations, _refuses)
def generations(offset: Tensor, neighbors: Tensor, in_degree: Tensor) -> tuple[Tensor, Tensor]:
    n = len(offset) - 1
    order, generation = torch.empty(n, dtype=torch.int64, device="cpu"), _none(n)
    listed = compiled().generations(offset, neighbors, in_degree.clone(), order, generation)
    return order[:listed], generation


@implements(declared.bellman_ford_in_order, _refuses)
def bellman_ford(
    offset: Tensor, neighbors: Tensor, weights: Tensor, sources: Tensor, early: bool
) -> tuple[list[int], list[list[int]], Tensor] | None:
    distance = torch.zeros(len(offset) - 1, dtype=weights.dtype, device="cpu")
    met, before = compiled().bellman_ford_in_order(offset, neighbors, weights, sources, early, distance)
    return (met, before, distance) if met or not len(sources) else None


@implements(declared.meet_weighted, _refuses)
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
    path, length, is_valid = compiled().meet_weighted(
        offset, neighbors, weights, in_offset, in_neighbors, in_weights, source, target
    )
    return (path, length if path else 0) if is_valid else None


def _none(n: int) -> Tensor:
    return torch.full((n,), -1, dtype=torch.int64, device="cpu")
