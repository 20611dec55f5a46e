"""Reductions of rows that are parts of a layout or of a block, and no subgraph of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tgraph.core.rows import Selection
from tgraph.kernels.native.aggregation.arcs import pull, refuses_pair
from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.operators.aggregation import rows as declared
from tgraph.kernels.reductions import Reduction


def refuses(
    offset: Tensor,
    neighbors: Tensor,
    weights: Tensor | None,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    inside: bool = False,
) -> str | None:
    """Why `reduce_rows` does not support a call, None if it does."""
    return refuses_pair(data.dtype, reduction.name, edge) or refuses_data(data)


def refuses_float64(x: Tensor, weight_dtype: torch.dtype | None) -> str | None:
    """Why `sum_in_float64` does not support a call, None if it does."""
    if x.dtype != torch.float32 or weight_dtype not in (None, torch.float32):
        return "it adds float32 in float64, with weights of float32"
    return refuses_data(x)


def refuses_sending(
    offset: Tensor, neighbors: Tensor, weights: Tensor | None, data: Tensor, *others: Any
) -> str | None:
    """Why `send_rows` does not support a call, None if it does."""
    reduction, edge, result = others
    if reduction.name != "sum" or edge not in ("copy", "mul") or data.shape[1] != 1:
        return "it adds single numbers, multiplied by weights or not"
    if data.dtype not in (torch.float32, torch.float64) or result.dtype != torch.float64:
        return f"it adds float32 and float64 in float64, not {data.dtype} in {result.dtype}"
    return refuses_data(data) or refuses_data(result)


@implements(declared.reduce_rows, refuses)
def reduce_rows(
    offset: Tensor,
    neighbors: Tensor,
    weights: Tensor | None,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    inside: bool = False,
) -> Tensor:
    per_head = None if weights is None else weights[:, None]
    rows = Selection(offset.to(torch.int64), neighbors)
    return pull(rows, data, reduction.name, edge, per_head, identity=reduction.identity(data.dtype))


@implements(declared.sum_in_float64, refuses_float64)
def sum_in_float64(x: Tensor, weight_dtype: torch.dtype | None) -> tuple[Tensor, Callable[..., Tensor]]:
    """As the portable one: x itself, read by a kernel that adds float32 in
    float64."""
    return x, _sum_rows


def _sum_rows(offset: Tensor, neighbors: Tensor, weights: Tensor | None, data: Tensor, inside: bool = False) -> Tensor:
    edge, per_head = ("copy", None) if weights is None else ("mul", weights[:, None])
    return pull(Selection(offset, neighbors), data, "sum", edge, per_head, total=torch.float64)


@implements(declared.send_rows, refuses_sending)
def send_rows(
    offset: Tensor,
    neighbors: Tensor,
    weights: Tensor | None,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    result: Tensor,
) -> None:
    """As the portable one, by the kernel in `segments/push_sums.cpp`."""
    by = None if edge == "copy" else weights
    compiled().push_sums(offset, neighbors, by, data.contiguous().view(-1), result.view(-1))
