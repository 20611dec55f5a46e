"""Reductions of the messages of arcs, a row for each, by the row or the segment that they go to."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.core.system import devices
from tgraph.core.system.library import in_functorch
from tgraph.kernels.reductions import REDUCTIONS, Reduction


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


@operator
def sum_segments(messages: Tensor, offset: Tensor) -> Tensor:
    """The sum of each segment of messages [e, ...]."""
    return reduce_segments(messages, offset, REDUCTIONS["sum"])


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


@operator
def multiply_others(grad: Tensor, messages: Tensor, offset: Tensor) -> Tensor:
    """grad[s] times the product of the other messages of segment s, for each message, [e, ...].

    To divide the product by the message would not do where one is zero, and would lose those that overflow. Products of
    the messages before and after each, or up and down a binary tree, contain no division: the gradient is exact
    whatever the messages are, and so are its own derivatives, which are sums of products again.

    Up a binary tree of products, and down again, where each node gets the product of all others.

    Segments are filled up by ones to powers of two, and the longest come first, so that on every level pairs lie side
    by side and the segments that are done at the end. All in operators that torch differentiates.
    """
    if not len(messages):
        return messages
    level, order, counts = _levels(offset)
    size = 2**level
    start = torch.empty_like(order).index_copy_(0, order, size.cumsum(0) - size)
    place = torch.arange(len(messages), device=offset.device) + torch.repeat_interleave(
        start - offset[:-1], offset.diff(), output_size=len(messages)
    )
    slots = sum(count << number for number, count in enumerate(counts))
    product = messages.new_ones((slots, *messages.shape[1:])).index_copy(0, place, messages)
    pairs = []
    for count in counts:
        pairs.append(product[: len(product) - count].unflatten(0, (-1, 2)))
        product = pairs[-1][:, 0] * pairs[-1][:, 1]
    grad = grad.index_select(0, order)
    others, begun = grad[:0], 0
    for pair, count in zip(reversed(pairs), reversed(counts), strict=True):
        below = (others[:, None] * pair.flip(1)).flatten(0, 1)
        others, begun = torch.cat((below, grad[begun : begun + count])), begun + count
    return others.index_select(0, place)


def _levels(offset: Tensor) -> tuple[Tensor, Tensor, list[int]]:
    """How often each segment is halved until one product is left, in descending order, int64 [s]; the segments in that
    order; and how many there are of each level."""
    powers = 2 ** torch.arange(62, device=offset.device)
    level, order = torch.sort(torch.bucketize(offset.diff(), powers), descending=True, stable=True)
    counts = torch.bincount(level).tolist()
    return level, order, counts
