"""Registered operators on the messages of arcs, a row for each: what aggregates take that no fused operator serves.

    take             rows of data by their number, [e, ...] from [n, ...]
    add_at           its transpose: the sum of the rows of each number, [n, ...] from [e, ...]
    segment_reduce   the reduction of each segment of rows, [k, ...] from [e, ...]

Each is differentiable as often as one likes. Sums add in the order of the arcs on every device, where torch's own
`index_add` adds in the order in which threads come.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.dispatch import BACKENDS, operator
from tgraph.core.system import devices
from tgraph.core.system.library import directly, in_functorch, register
from tgraph.kernels.autograd.products import product_gradient
from tgraph.kernels.reductions import REDUCTIONS, Reduction

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


@operator
def add_rows(values: Tensor, index: Tensor, size: int) -> Tensor:
    """The sum of the rows [e, ...] of each number, added in their order: [size, ...]. Raises IndexError or RuntimeError
    for a number that is none of a row."""
    result = values.new_zeros((size, *values.shape[1:]))
    if in_functorch():  # what is transformed can not be written into what is not
        return result.index_add(0, index, values)
    if devices.is_sequential(values):
        return result.index_add_(0, index, values)
    return result.index_put_((index.to(torch.int64),), values, accumulate=True)  # sorts, so that the order is fixed


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


def reduce_segments(
    messages: Tensor, offset: Tensor, reduction: Reduction, segment: Callable[[], Tensor] | None = None
) -> Tensor:
    """Reduce each segment messages[offset[i]:offset[i + 1]] to row i of the result, by operators of torch.

    segment : gives the number of the segment of each message, int64 [e], where the caller has it.
    """
    size, floating = len(offset) - 1, messages.is_floating_point()
    if floating and devices.reduces_segments(messages) and messages.numel() and not in_functorch():
        flat = messages.flatten(1) if messages.dim() > 2 else messages
        initial = float(reduction.identity(messages.dtype))
        reduced = torch.segment_reduce(flat, reduction.segment, offsets=offset, axis=0, initial=initial, unsafe=True)
        return reduced.reshape(size, *messages.shape[1:])
    slot = segment_of(offset, len(messages)) if segment is None else segment()
    return scatter(messages, slot, size, reduction)


def scatter(messages: Tensor, slot: Tensor, size: int, reduction: Reduction) -> Tensor:
    """The reduction of the messages [e, ...] of each slot, [size, ...], by operators of torch."""
    if messages.dtype == torch.bool and not devices.is_sequential(messages):  # CUDA does not scatter bool
        return scatter(messages.to(torch.uint8), slot, size, reduction).bool()
    identity = reduction.identity(messages.dtype)
    result = torch.full((size, *messages.shape[1:]), identity, dtype=messages.dtype, device=messages.device)
    if reduction.name == "sum":
        return result.index_add(0, slot, messages)
    index = slot.reshape(slot.shape + (1,) * (messages.dim() - 1)).expand_as(messages)
    return result.scatter_reduce(0, index, messages, reduction.scatter)


def segment_of(offset: Tensor, size: int) -> Tensor:
    """The number of the segment that each of `size` rows lies in, int64 [size]."""
    number = torch.arange(len(offset) - 1, device=offset.device)
    return number.repeat_interleave(offset.diff(), output_size=size)


def _segment_reduce(messages: Tensor, offset: Tensor, reduce: str) -> Tensor:
    if reduce == "sum" and messages.dim() == 2 and messages.shape[0] < 2**31:
        number = torch.arange(messages.shape[0], dtype=torch.int32, device=messages.device)
        native = BACKENDS["native"].operators["sum_csr"]
        if native.refuses(number, len(number), messages, None) is None:  # many times as fast as torch's
            return native.run(Csr.trusted(offset, number, None, len(number)), messages, False, None, 0.0)
    return reduce_segments(messages, offset, REDUCTIONS[reduce])


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
