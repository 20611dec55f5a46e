"""Sums that pass from level to level, such as the path counts and dependencies of Brandes' betweenness (2001).

Several searches may be swept at once. They are laid side by side as k copies of the graph: item c * n + v is vertex v
in copy c, and vertex data of all copies is [k, n].
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.centrality import level_accumulate as operators

MOST = 1024  # levels for each item


def levels(depth: Tensor, *, backend: str = "auto") -> tuple[Tensor, Tensor]:
    """The items of each level, level after level: (order [r], level_offset int64 [L + 1]).

    `depth`: integers [n] or [k, n], negative where unreached; L is one more than the largest. `order`, int32 or int64,
    holds the items that have a depth, those of depth d in ascending order at level_offset[d]:level_offset[d + 1].
    `backend` is a name of the registry.

    Raises ArgumentError for depths that are no integers, or so large that most levels are empty.

    >>> order, level_offset = tg.primitives.level_accumulate.levels(torch.tensor([0, 1, 2, 1, -1]))
    >>> order.tolist(), level_offset
    ([0, 1, 3, 2], tensor([0, 1, 3, 4]))
    """
    if depth.is_floating_point() or depth.is_complex() or depth.dtype == torch.bool:
        raise ArgumentError(f"depth: expected integers, got {depth.dtype}; use depth.to(torch.int32)")
    flat = depth.reshape(-1)
    count = max(0, int(flat.max()) + 1) if len(flat) else 0
    if count > MOST * len(flat):
        raise ArgumentError(f"depth: {count - 1} is too large for {len(flat)} items; number the levels in use")
    if flat.dtype != torch.int32 and count < 2**31:  # what kernels sort by
        flat = flat.clamp(min=-1).to(torch.int32) if flat.dtype == torch.int64 else flat.to(torch.int32)
    return operators.levels.with_backend(backend)(flat, count)


def sweep(
    graph: Graph,
    order: Tensor,
    level_offset: Tensor,
    bias: Tensor,
    *,
    descending: bool = False,
    logarithms: bool = False,
    backend: str = "auto",
) -> Tensor:
    """For one level after the other, values[v] = bias[v] + the sum of values[u] over the neighbours u of v in the level
    before.

    Level i is `order[level_offset[i]:level_offset[i + 1]]`, offsets int64 [L + 1]; `descending` starts with the last.
    `order` ascends within each level, as `levels` gives it. Neighbours are those in the rows of `graph`, ascending, a
    repeated one once; pass the transpose to sum over in-neighbours. The levels are those of a search: no neighbour lies
    farther back than the level before. `bias` is floating [n] or [k, n]. With `logarithms`, it and the values are the
    logarithms of the numbers that are added, which may exceed the range of floats; that of 0 is -inf. `backend` is a
    name of the registry.

    Returns the values, of the same shape and dtype, 0 (or -inf) where no level is. Sums are taken in ascending order of
    the neighbours, whatever the number of threads. Raises ArgumentError for shapes, dtypes or devices that do not fit,
    and for items or levels that are out of range or do not ascend.

    >>> from tgraph.primitives import level_accumulate
    >>> graph = tg.generators.cycle(4)
    >>> levels = level_accumulate.levels(tg.algorithms.bfs(graph, 0))
    >>> level_accumulate.sweep(graph, *levels, torch.tensor([1.0, 0.0, 0.0, 0.0]))
    tensor([1., 1., 2., 1.])
    """
    graph.ensure_valid()
    _check_bias(graph, bias)
    _check_order(order, level_offset, bias)
    arcs = graph.decoded()
    return operators.sweep.with_backend(backend)(arcs, order, level_offset, bias, descending, logarithms)


def _check_bias(graph: Graph, bias: Tensor) -> None:
    if not isinstance(bias, Tensor) or not bias.is_floating_point():
        kind = bias.dtype if isinstance(bias, Tensor) else type(bias).__name__
        raise ArgumentError(f"bias: expected a floating tensor, got {kind}; use float64")
    if bias.dim() not in (1, 2) or bias.shape[-1] != graph.num_vertices:
        raise ArgumentError(
            f"bias: expected [{graph.num_vertices}] or [k, {graph.num_vertices}], got {list(bias.shape)}"
        )
    if bias.device != graph.device:
        raise ArgumentError(f"bias: on {bias.device} while the graph is on {graph.device}; use bias.to")


def _check_order(order: Tensor, level_offset: Tensor, bias: Tensor) -> None:
    if order.dtype not in (torch.int32, torch.int64) or order.dim() != 1:
        raise ArgumentError(f"order: expected int32 or int64 [r], got {list(order.shape)} {order.dtype}")
    if level_offset.dtype != torch.int64 or level_offset.dim() != 1 or not len(level_offset):
        raise ArgumentError(
            f"level_offset: expected int64 [L + 1], got {list(level_offset.shape)} {level_offset.dtype}"
        )
    if order.device != bias.device or level_offset.device != bias.device:
        raise ArgumentError(f"order, level_offset: not on {bias.device}, where the bias is; use .to")
    if operators.is_order(order, level_offset, bias.numel()):
        return
    low, high = (int(end) for end in torch.aminmax(order)) if len(order) else (0, -1)
    if low < 0 or high >= bias.numel():
        raise ArgumentError(f"order: its items go from {low} to {high}, those of bias to {bias.numel() - 1}")
    first, last = int(level_offset[0]), int(level_offset[-1])
    if first < 0 or last > len(order) or bool((level_offset.diff() < 0).any()):
        raise ArgumentError(
            f"level_offset: from {first} to {last}; it must ascend within 0..{len(order)}, as `levels` gives it"
        )
    for begin, end in pairwise(level_offset.tolist()):
        falls = (order[begin + 1 : end] <= order[begin : max(begin, end - 1)]).nonzero()
        if len(falls):
            bad = begin + 1 + int(falls[0])
            raise ArgumentError(f"order: {int(order[bad])} at position {bad} does not ascend within its level; sort it")
