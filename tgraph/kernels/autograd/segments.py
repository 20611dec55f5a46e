"""Registered operators on the messages of arcs, a row for each: what aggregates take that no fused operator serves.

    take             rows of data by their number, [e, ...] from [n, ...]
    add_at           its transpose: the sum of the rows of each number, [n, ...] from [e, ...]
    segment_reduce   the reduction of each segment of rows, [k, ...] from [e, ...]

Each is differentiable as often as one likes. Sums add in the order of the arcs on every device, where torch's own
`index_add` adds in the order in which threads come.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.system.library import directly, in_functorch, register
from tgraph.kernels.operators.aggregation.segments import (
    add_rows,
    multiply_others,
    reduce_segments,
    segment_of,
    sum_segments,
)
from tgraph.kernels.reductions import REDUCTIONS

# ---- take and add_at ------------------------------------------------------------------------------------------------


def _take(data: Tensor, index: Tensor) -> Tensor:
    return data.index_select(0, index)


def _take_fake(data: Tensor, index: Tensor) -> Tensor:
    return data.new_empty((index.shape[0], *data.shape[1:]))


def _save_index(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(inputs[1])
    ctx.size = inputs[0].shape[0]


def _take_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    return add_at(grad, ctx.saved_tensors[0], ctx.size), None


def _add_at_fake(values: Tensor, index: Tensor, size: int) -> Tensor:
    return values.new_empty((size, *values.shape[1:]))


def _add_at_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    return take(grad, ctx.saved_tensors[0]), None, None


_take_rows = directly(
    register("take(Tensor data, Tensor index) -> Tensor", _take, _take_fake, _save_index, _take_backward)
)
_add_at = directly(
    register(
        "add_at(Tensor values, Tensor index, SymInt size) -> Tensor",
        add_rows,
        _add_at_fake,
        _save_index,
        _add_at_backward,
    )
)


def take(data: Tensor, index: Tensor) -> Tensor:
    """Rows of data [n, ...] by their number, [e, ...]. Under transforms of torch.func by torch's own operators."""
    return _take(data, index) if in_functorch() else _take_rows(data, index)


def add_at(values: Tensor, index: Tensor, size: int) -> Tensor:
    """The sum of the rows [e, ...] of each number, [size, ...]. Under transforms of torch.func as `take`."""
    return (add_rows if in_functorch() else _add_at)(values, index, size)


# ---- segment_reduce -------------------------------------------------------------------------------------------------


def product_gradient(grad: Tensor, messages: Tensor, offset: Tensor) -> Tensor:
    """grad[s] times the product of the other messages of segment s, for each message messages[offset[s]:offset[s + 1]].

    grad, messages, offset : [s, ...], [e, ...] and int64 [s + 1].
    Returns [e, ...]. Where a gradient is recorded torch's operators compute it, so that it can be differentiated again
    as often as one likes.
    """
    return (multiply_others.portable if torch.is_grad_enabled() else _times_others)(grad, messages, offset)


_times_others = register(
    "product_gradient(Tensor grad, Tensor messages, Tensor offset) -> Tensor",
    multiply_others,
    lambda grad, messages, offset: torch.empty_like(messages),
)


def _segment_reduce(messages: Tensor, offset: Tensor, reduce: str) -> Tensor:
    return sum_segments(messages, offset) if reduce == "sum" else reduce_segments(messages, offset, REDUCTIONS[reduce])


def _segment_reduce_fake(messages: Tensor, offset: Tensor, reduce: str) -> Tensor:
    return messages.new_empty((offset.shape[0] - 1, *messages.shape[1:]))


def _save_segments(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    messages, offset, ctx.reduce = inputs
    ctx.size = messages.shape[0]
    held = {"sum": (offset,), "prod": (offset, messages)}.get(ctx.reduce, (offset, messages, output))
    ctx.save_for_backward(*held)


def _segment_reduce_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    offset, *values = ctx.saved_tensors
    if ctx.reduce == "prod":
        return product_gradient(grad, values[0], offset), None, None
    segment = segment_of(offset, ctx.size)
    if ctx.reduce == "sum":
        return take(grad, segment), None, None
    messages, best = values
    return take(grad, segment) * _is_first_best(messages, best, offset, segment), None, None


def _is_first_best(messages: Tensor, best: Tensor, offset: Tensor, segment: Tensor) -> Tensor:
    """1 at the first message that equals the best of its segment, a NaN a NaN, and 0 elsewhere, [e, ...]."""
    messages, best = messages.detach(), take(best.detach(), segment)
    number = torch.arange(len(messages), device=messages.device)
    number = number.reshape(number.shape + (1,) * (messages.dim() - 1)).expand_as(messages)
    equal = (messages == best) | (messages.isnan() & best.isnan())
    first = segment_reduce(torch.where(equal, number, len(messages)), offset, "min")
    return (take(first, segment) == number).to(messages.dtype)


segment_reduce = directly(
    register(
        "segment_reduce(Tensor messages, Tensor offset, str reduce) -> Tensor",
        _segment_reduce,
        _segment_reduce_fake,
        _save_segments,
        _segment_reduce_backward,
    )
)
