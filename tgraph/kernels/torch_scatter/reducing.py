"""Messages reduced by torch-scatter: segments in a pull, a scatter in a push.

Its minimum and maximum skip NaN, give 0 to what receives nothing, and start from the largest finite number. They are
therefore taken of the messages' bits as integers in the same order, whose winners, the first of equal ones, then say
which messages to take.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.subgraph import Received, Subgraph
from tgraph.kernels.messages import column
from tgraph.kernels.operators.aggregation.aggregation import receivers_of, reduce_messages
from tgraph.kernels.reductions import Reduction
from tgraph.kernels.torch_scatter.library import load

AS_INTEGERS = {
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}


def reduce(sub: Subgraph, messages: Tensor, reduction: Reduction) -> Received:
    """The messages [e, ...] of a pull reduced by rows, those of a push by receivers."""
    if not messages.numel():  # for which torch-scatter leaves the result unwritten
        return reduce_messages(sub, messages, reduction)
    if sub.mode == "pull" and reduction.segment != "prod":
        return Received(_segments(messages, sub.offset, reduction), sub.rows)
    if sub.mode == "pull":  # there is no product of segments
        return Received(_scattered(messages, sub.row_of_arc, len(sub.offset) - 1, reduction), sub.rows)
    receivers, slot, size = receivers_of(sub)
    return Received(_scattered(messages, slot, size, reduction), receivers)


def _segments(messages: Tensor, offset: Tensor, reduction: Reduction) -> Tensor:
    if reduction.segment == "sum":
        return load().segment_csr(messages, offset, reduce="sum")
    best = load().segment_min_csr if reduction.segment == "min" else load().segment_max_csr
    identity = reduction.identity(messages.dtype)
    if messages.is_floating_point():
        return _winners(messages, best(in_order(messages, reduction.segment), offset)[1], identity)
    return best(messages, offset)[0].masked_fill(column(offset.diff() == 0, messages), identity)


def _scattered(messages: Tensor, slot: Tensor, size: int, reduction: Reduction) -> Tensor:
    if reduction.segment == "sum":
        return load().scatter_sum(messages, slot, 0, dim_size=size)
    identity = reduction.identity(messages.dtype)
    best = load().scatter_min if reduction.segment == "min" else load().scatter_max
    if reduction.segment != "prod" and messages.is_floating_point():
        return _winners(messages, best(in_order(messages, reduction.segment), slot, 0, dim_size=size)[1], identity)
    shape = (size, *messages.shape[1:])
    start = torch.full(shape, identity, dtype=messages.dtype, device=messages.device)
    if reduction.segment == "prod":
        return load().scatter_mul(messages, slot, 0, out=start)
    return best(messages, slot, 0, out=start)[0]


def in_order(messages: Tensor, segment: str) -> Tensor:
    """Integers in the order of floating messages; a NaN is better than all, for "min" or "max"."""
    bits = (messages.detach() + 0).view(AS_INTEGERS[messages.dtype])  # + 0 makes a zero of -0
    limits = torch.iinfo(bits.dtype)
    ordered = torch.where(bits < 0, bits ^ limits.max, bits)
    return ordered.masked_fill_(messages.isnan(), limits.min if segment == "min" else limits.max)


def _winners(messages: Tensor, arc: Tensor, identity: float) -> Tensor:
    """The messages at the arcs [r, ...] that won, and the identity where the number of arcs stands for none."""
    last = len(messages) - 1
    return torch.where(arc <= last, messages.gather(0, arc.clamp(max=last)), identity)
