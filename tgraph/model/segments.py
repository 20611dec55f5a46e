"""Reductions of the messages of each vertex, messages[offset[i]:offset[i + 1]] those of the i-th."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.errors import ArgumentError
from tgraph.kernels.autograd.segments import add_at, reduce_segments, segment_of, take
from tgraph.kernels.layout.arcs import NARROW
from tgraph.kernels.messages import column
from tgraph.kernels.reductions import REDUCTIONS, Reduction


class Top(NamedTuple):
    """What `TopK` gives: the values [n, k, ...], and who sent them, int64 [n, k, ...]."""

    values: Tensor
    senders: Tensor


@dataclass(frozen=True)
class TopK:
    """The k best messages of every vertex and who sent them, best first: a `reduce=` of `aggregate`, as torch.topk.

    k : 1 or more. largest : False for the smallest messages.

    Gives (values [n, k, ...], senders int64 [n, k, ...]). Equal messages stand in the order of the arcs, and a NaN is
    larger than any number. A vertex with fewer than k messages has in place of the others what "max" (or "min") gives
    for none, and -1 as their sender. Gradients flow to the messages taken. Raises ArgumentError for another k.

    >>> graph = tg.Graph.from_edges([0, 1, 2, 0], [3, 3, 3, 1])
    >>> values, senders = tg.aggregate(graph, torch.tensor([7.0, 9.0, 8.0, 0.0]), tg.TopK(2))
    >>> values[3], senders[3], senders[1]
    (tensor([9., 8.]), tensor([1, 2]), tensor([ 0, -1]))
    """

    k: int
    largest: bool = True

    def __post_init__(self) -> None:
        if type(self.k) is not int or self.k < 1:
            raise ArgumentError(f"k: {self.k!r} is no number of messages; give an integer, 1 or more")

    def __call__(self, messages: Tensor, offset: Tensor, sender: Tensor) -> Top:
        place = offset[:-1, None] + torch.arange(self.k, device=offset.device)
        place = torch.where(place < offset[1:, None], place, len(messages))
        chosen = _padded(_ranked(messages, offset, self.largest), len(messages))[
            place
        ]  # the padding where there is none
        none = REDUCTIONS["max" if self.largest else "min"].identity(messages.dtype)
        values = _padded(messages, none).gather(0, chosen.flatten(0, 1)).view(chosen.shape)
        return Top(values, _padded(sender.to(torch.int64), -1)[chosen])


def _ranked(messages: Tensor, offset: Tensor, descending: bool = False) -> Tensor:
    """The places of the messages [e, ...], those of each segment by value, equal ones in their order."""
    order = messages.detach().sort(dim=0, descending=descending, stable=True).indices
    by_segment = _rows(messages, offset)[order].sort(dim=0, stable=True).indices
    return order.gather(0, by_segment)


def _padded(values: Tensor, last: float) -> Tensor:
    """The values, and one more."""
    return torch.cat([values, values.new_full((1, *values.shape[1:]), last)])


# ---- by name ---------------------------------------------------------------------------------------------------------


def _count(messages: Tensor, offset: Tensor) -> Tensor:
    return offset.diff()


def _in_floats(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """A reduction of floating messages of at least 32 bits, of any: 16-bit results are rounded at the end."""

    def reduce(messages: Tensor, offset: Tensor) -> Tensor:
        if not messages.is_floating_point():
            return function(messages.to(torch.get_default_dtype()), offset)
        if messages.dtype in NARROW:
            return function(messages.float(), offset).to(messages.dtype)
        return function(messages, offset)

    return reduce


def _logsumexp(messages: Tensor, offset: Tensor) -> Tensor:
    """-inf of no messages."""
    best = reduce_segments(messages.detach(), offset, REDUCTIONS["max"])
    best = torch.where(best.isinf(), 0, best)
    total = _total((messages - take(best, _rows(messages, offset))).exp(), offset)
    return total.log() + best


def _variance(messages: Tensor, offset: Tensor) -> Tensor:
    """The mean of the squared distances from the mean; 0 of no messages."""
    number = column(offset.diff().clamp(min=1).to(messages.dtype), messages)
    mean = _total(messages, offset) / number
    return _total((messages - take(mean, _rows(messages, offset))).square(), offset) / number


def _deviation(messages: Tensor, offset: Tensor) -> Tensor:
    variance = _variance(messages, offset)
    return torch.where(variance > 0, variance, 1).sqrt() * (variance > 0)  # its slope at 0 is taken as 0


def _first(messages: Tensor, offset: Tensor) -> Tensor:
    """0 of no messages."""
    return _padded(messages, 0).index_select(0, torch.where(offset.diff() > 0, offset[:-1], len(messages)))


def _median(messages: Tensor, offset: Tensor) -> Tensor:
    """The lower of the two in the middle, as torch.median, a NaN where there is one; 0 of no messages."""
    ranked, number = _padded(messages.gather(0, _ranked(messages, offset)), 0), offset.diff()
    middle, last = offset[:-1] + (number - 1) // 2, offset[1:] - 1
    middle, last = (torch.where(number > 0, place, len(messages)) for place in (middle, last))
    return torch.where(ranked[last].isnan(), ranked[last], ranked[middle])


def _bits(messages: Tensor, offset: Tensor, both: bool) -> Tensor:
    """The bits that any message has, or those that all have."""
    if messages.is_floating_point():
        raise ArgumentError(f"data: bits are those of integers, got {messages.dtype}")
    width = 1 if messages.dtype == torch.bool else torch.iinfo(messages.dtype).bits
    kind, reduction = torch.zeros_like(messages[:0]), REDUCTIONS["min" if both else "max"]
    result = kind.new_zeros((len(offset) - 1, *messages.shape[1:]), dtype=torch.int64)
    for place in range(width):
        bit = ((messages.to(torch.int64) >> place) & 1).to(torch.int8)
        found = reduce_segments(bit, offset, reduction)
        result |= (found.to(torch.int64) & 1) << place
    return result.to(messages.dtype)


def _best_sender(messages: Tensor, offset: Tensor, sender: Tensor, reduction: Reduction) -> Tensor:
    """The sender of the first message that is best, or NaN; -1 of no messages."""
    best = reduce_segments(messages.detach(), offset, reduction)
    place = torch.arange(len(messages), device=messages.device).view(-1, *(1,) * (messages.dim() - 1))
    is_best = (messages == best.index_select(0, _rows(messages, offset))) | messages.isnan()
    first = reduce_segments(torch.where(is_best, place, len(messages)), offset, REDUCTIONS["min"])
    return _padded(sender.to(torch.int64), -1)[first.clamp(max=len(messages))]


def _total(messages: Tensor, offset: Tensor) -> Tensor:
    return add_at(messages, _rows(messages, offset), len(offset) - 1)


def _rows(messages: Tensor, offset: Tensor) -> Tensor:
    """The segment of each message, int64 [e]."""
    return segment_of(offset, len(messages))


SEGMENTS: dict[str, Callable[..., Tensor]] = {
    "count": _count,
    "logsumexp": _in_floats(_logsumexp),
    "var": _in_floats(_variance),
    "std": _in_floats(_deviation),
    "first": _first,
    "median": _median,
    "bit_or": lambda messages, offset: _bits(messages, offset, both=False),
    "bit_and": lambda messages, offset: _bits(messages, offset, both=True),
    "argmin": lambda messages, offset, sender: _best_sender(messages, offset, sender, REDUCTIONS["min"]),
    "argmax": lambda messages, offset, sender: _best_sender(messages, offset, sender, REDUCTIONS["max"]),
}
EMPTY = {"logsumexp": -math.inf, "bit_and": -1, "argmin": -1, "argmax": -1}  # the value of no messages; else 0
