"""Reductions of rows that are parts of a layout or of a block, and no subgraph of a graph."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.system import devices
from tgraph.kernels.messages import across, column
from tgraph.kernels.operators.aggregation.aggregation import reduce_slots
from tgraph.kernels.operators.aggregation.segments import reduce_segments
from tgraph.kernels.operators.linear.linear import widened
from tgraph.kernels.reductions import REDUCTIONS, Reduction

# Elements of messages reduced at a time by `reduce_arcs`, so that they stay in the cache.
CHUNK = 2**18


@operator
def reduce_rows(
    offset: Tensor,
    neighbors: Tensor,
    weights: Tensor | None,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    inside: bool = False,
) -> Tensor:
    """The reduction of each row of a CSR structure over its neighbours, [r, F], in arc order.

    offset, neighbors : int32 or int64 [r + 1] and [m]; data : [n, F], where n may be larger than r. weights : [m] of
    the dtype of the data. inside : whether the rows are a slice of a larger structure, so that offsets do not start at
    0; only without weights.
    """
    offset = offset.to(torch.int64)
    if inside:
        first = int(offset[0])
        neighbors, offset = neighbors[first : int(offset[-1])], offset - first
    messages = _messages(data, neighbors, edge, weights, reduction)
    return reduce_segments(messages, offset, reduction).to(data.dtype)


def reduce_arcs(
    receivers: Tensor, senders: Tensor, weights: Tensor | None, data: Tensor, reduction: Reduction, edge: str
) -> Tensor:
    """The reduction for each vertex over unsorted arcs, [n, F], in arc order.

    receivers, senders : int32 or int64 [m], the ends of each arc. weights : [m] of the dtype of the data [n, F].
    """
    if not devices.is_sequential(data):
        messages = _messages(data, senders, edge, weights, reduction)
        return reduce_slots(messages, receivers.to(torch.int64), len(data), reduction).to(data.dtype)
    identity, dtype = reduction.identity(data.dtype), reduced_in(data.dtype, reduction)
    result = torch.full(data.shape, identity, dtype=dtype, device=data.device)
    send_arcs(receivers, senders, weights, data, reduction, edge, result)
    return result.to(data.dtype)


def send_arcs(
    receivers: Tensor,
    senders: Tensor,
    weights: Tensor | None,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    result: Tensor,
) -> None:
    """Reduce what arcs send into the `result` [k, F] of their receivers, in arc order; the arguments are those of
    `reduce_arcs`, on a device where that is so."""
    step = max(1, CHUNK // data.shape[1])
    for begin in range(0, len(senders), step):
        some = slice(begin, begin + step)
        messages = _messages(data, senders[some], edge, None if weights is None else weights[some], reduction)
        slot = receivers[some].to(torch.int64)
        if reduction.name == "sum":
            result.index_add_(0, slot, messages.to(result.dtype))
        else:
            result.scatter_reduce_(0, column(slot, messages).expand_as(messages), messages, reduction.scatter)


@operator
def send_rows(
    offset: Tensor,
    neighbors: Tensor,
    weights: Tensor | None,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    result: Tensor,
) -> None:
    """Reduce the messages of ascending rows of a CSR to their neighbours into `result` [n, F], in arc order.

    offset, neighbors : [r + 1] and [e]. weights : [e], of the dtype of the data [r, F]. `result` may be wider.
    """
    if result.dtype.itemsize > data.dtype.itemsize:
        data, weights = data.to(result.dtype), None if weights is None else weights.to(result.dtype)
    rows = sorting.expand_rows(offset)
    send_arcs(neighbors, rows, weights, data, reduction, edge, result)


@operator
def sum_in_float64(x: Tensor, weight_dtype: torch.dtype | None) -> tuple[Tensor, Callable[..., Tensor]]:
    """A sum over rows of x [n], times weights of a dtype, if any, in float64 where the device has it: (the data to
    read, a function of `offset`, `neighbors`, `weights`, `data` and `inside`, as for `reduce_rows`)."""
    return widened(x), _sum_rows


def _sum_rows(offset: Tensor, neighbors: Tensor, weights: Tensor | None, data: Tensor, inside: bool = False) -> Tensor:
    edge = "copy" if weights is None else "mul"
    weights = None if weights is None else weights.to(data.dtype)
    return reduce_rows(offset, neighbors, weights, data, REDUCTIONS["sum"], edge, inside)


def reduced_in(dtype: torch.dtype, reduction: Reduction) -> torch.dtype:
    """The dtype to reduce in: float32 for sums and products of 16-bit floats. A bfloat16 sum of ones would stop
    growing at 256."""
    narrow = dtype in (torch.float16, torch.bfloat16) and reduction.name in ("sum", "prod")
    return torch.float32 if narrow else dtype


def _messages(data: Tensor, senders: Tensor, edge: str, weights: Tensor | None, reduction: Reduction) -> Tensor:
    return across(data.index_select(0, senders), edge, weights).to(reduced_in(data.dtype, reduction))
