"""Communities by the kernels in `move.cpp` and `contract.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.system import native
from tgraph.kernels.quotient import Moves, Quotient


def move_vertices(
    graph: Quotient, community: Tensor, bound: Tensor | None, batch: Tensor | None, moves: Moves
) -> tuple[Tensor, int]:
    """See `tgraph.primitives.communities.move`."""
    held = community.to(graph.neighbors.dtype, copy=True)
    held_bound, held_batch = (None if each is None else each.to(held.dtype) for each in (bound, batch))
    strengths = graph.out_strength, graph.in_strength
    arguments = held, held_bound, held_batch, moves.key, moves.sweeps, moves.batches, moves.tolerance
    scales = moves.scale, moves.stirred_share
    moved = _kernels().move(graph.offset, graph.neighbors, graph.weights, *strengths, *scales, *arguments)
    return held.to(torch.int64), moved


def contract_groups(graph: Quotient, group: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """See `tgraph.primitives.communities.contract`."""
    dtype, kernels = graph.neighbors.dtype, _kernels()
    contraction = kernels.Contraction32 if dtype == torch.int32 else kernels.Contraction64
    found = contraction(graph.offset, graph.neighbors, graph.weights, group.to(dtype), count)
    offset = torch.empty(count + 1, dtype=torch.int64, device="cpu")
    neighbors = torch.empty(found.num_arcs, dtype=dtype, device="cpu")
    weights = torch.empty(found.num_arcs, dtype=torch.float64, device="cpu")
    found.write(offset, neighbors, weights)
    return offset, neighbors, weights


def number_groups(label: Tensor) -> tuple[Tensor, Tensor]:
    """See `tgraph.primitives.communities.number`."""
    label = label.contiguous()
    group, first = torch.empty_like(label), torch.empty_like(label)
    count = _kernels().number_groups(label, group, first)
    return group, first[:count].clone()


def sum_inside(offset: Tensor, neighbors: Tensor, weights: Tensor | None, group: Tensor, loops: float) -> Tensor:
    """See `tgraph.primitives.communities.inside`."""
    inside = torch.empty(len(group), dtype=torch.float64, device="cpu")
    _kernels().sum_inside(offset, neighbors, weights, group.to(neighbors.dtype), loops, inside)
    return inside


def _kernels() -> Any:
    return cast(Any, native.load())
