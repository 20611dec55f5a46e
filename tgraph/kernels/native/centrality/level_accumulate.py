"""`levels` and `sweep` compiled: a counting sort, and all levels of a sweep in one call."""

from __future__ import annotations

import math
from types import ModuleType
from typing import cast

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system import native
from tgraph.kernels.call import Call
from tgraph.kernels.native.base.support import refuses_graph


def refuses(call: Call) -> str | None:
    """Why a bias is not served, None where they are."""
    if call.data.dtype != torch.float64:
        return f"it adds in float64, not in {call.data.dtype}"
    return "it records no gradients" if call.needs_gradient else refuses_graph(call)


def refuses_levels(call: Call) -> str | None:
    """Why depths are not served, None where they are."""
    return None if call.data.dtype == torch.int32 else f"it sorts int32 depths, not {call.data.dtype}"


def levels(depth: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """See `tgraph.primitives.level_accumulate.levels`; `count` is the number of levels."""
    dtype = torch.int32 if len(depth) < 2**31 else torch.int64
    order, level_offset = (
        torch.empty(len(depth), dtype=dtype, device="cpu"),
        torch.empty(count + 1, dtype=torch.int64, device="cpu"),
    )
    cast(ModuleType, native.load()).group_levels(depth.contiguous(), order, level_offset)
    return order[: int(level_offset[-1])], level_offset


def sweep(
    graph: Graph, order: Tensor, level_offset: Tensor, bias: Tensor, descending: bool, logarithms: bool
) -> Tensor:
    """See `tgraph.primitives.level_accumulate.sweep`."""
    reverse, added = graph.transpose(), bias.contiguous()
    arcs = [tensor.contiguous() for side in (graph, reverse) for tensor in (side.offset, side.neighbors)]
    zero = -math.inf if logarithms else 0
    sums, values = torch.full_like(added, zero), torch.full_like(added, zero)
    levelled = (order.contiguous(), level_offset.contiguous(), descending)
    kernels = cast(ModuleType, native.load())
    run = kernels.sweep_logarithms if logarithms else kernels.sweep
    run(*arcs, *levelled, added.view(-1), sums.view(-1), values.view(-1))
    return values
