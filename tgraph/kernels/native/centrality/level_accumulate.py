"""`levels` and `sweep` compiled: a counting sort, and all levels of a sweep in one call."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import (
    attach,
    both_sides,
    compiled,
    implements,
    needs_gradient,
    refuses_data,
    refuses_first,
    refuses_tensors,
    refuses_wide_graph,
)
from tgraph.kernels.operators.centrality import level_accumulate as declared


def refuses(
    graph: Graph, order: Tensor, level_offset: Tensor, bias: Tensor, descending: bool, logarithms: bool
) -> str | None:
    """Why a bias is not supported, None if it is."""
    if bias.dtype != torch.float64:
        return f"it adds in float64, not in {bias.dtype}"
    return "it records no gradients" if needs_gradient(bias) else refuses_tensors(bias) or refuses_wide_graph(graph)


def refuses_levels(depth: Tensor, count: int) -> str | None:
    """Why depths are not supported, None if they are."""
    return refuses_data(depth) if depth.dtype == torch.int32 else f"it sorts int32 depths, not {depth.dtype}"


@implements(declared.levels, refuses_levels)
def levels(depth: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """See `tgraph.primitives.level_accumulate.levels`; `count` is the number of levels."""
    dtype = torch.int32 if len(depth) < 2**31 else torch.int64
    order = torch.empty(len(depth), dtype=dtype, device="cpu")
    level_offset = torch.empty(count + 1, dtype=torch.int64, device="cpu")
    compiled().group_levels(depth, order, level_offset)
    return order[: int(level_offset[-1])], level_offset


attach(declared.is_order, refuses_first)


@implements(declared.sweep, refuses)
def sweep(
    graph: Graph, order: Tensor, level_offset: Tensor, bias: Tensor, descending: bool, logarithms: bool
) -> Tensor:
    added = bias.contiguous()
    zero = -math.inf if logarithms else 0
    sums, values = torch.full_like(added, zero), torch.full_like(added, zero)
    run = compiled().sweep_logarithms if logarithms else compiled().sweep
    run(*both_sides(graph), order, level_offset, descending, added.view(-1), sums.view(-1), values.view(-1))
    return values
