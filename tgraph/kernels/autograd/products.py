"""The gradient of a product by segments: for each message the product of the others.

To divide the product by the message would not do where one is zero, and would lose those that overflow. Products of the
messages before and after each, or up and down a binary tree, contain no division: the gradient is exact whatever the
messages are, and so are its own derivatives, which are sums of products again.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.core.system.library import register


def product_gradient(grad: Tensor, messages: Tensor, offset: Tensor) -> Tensor:
    """grad[s] times the product of the other messages of segment s, for each message messages[offset[s]:offset[s + 1]].

    grad, messages, offset : [s, ...], [e, ...] and int64 [s + 1].
    Returns [e, ...]. Where a gradient is recorded torch's operators compute it, so that it can be differentiated again
    as often as one likes.
    """
    return (multiply_others.portable if torch.is_grad_enabled() else _times_others)(grad, messages, offset)


@operator
def multiply_others(grad: Tensor, messages: Tensor, offset: Tensor) -> Tensor:
    """Up a binary tree of products, and down again, where each node gets the product of all others.

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


_times_others = register(
    "product_gradient(Tensor grad, Tensor messages, Tensor offset) -> Tensor",
    multiply_others,
    lambda grad, messages, offset: torch.empty_like(messages),
)
