"""`aggregate` in torch operators: messages [e, ...] by a gather, reduced by segments (pull) or a scatter (push)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core.dispatch import chosen_operator
from tgraph.core.graph import Graph
from tgraph.core.rows import Scratch
from tgraph.core.subgraph import Received, Subgraph
from tgraph.core.system import devices
from tgraph.core.system.library import needs_grad
from tgraph.kernels.autograd.segments import segment_reduce, take
from tgraph.kernels.messages import across, column, is_per_arc, promoted
from tgraph.kernels.operators.aggregation.segments import reduce_segments, scatter
from tgraph.kernels.reductions import REDUCTIONS, Reduction

# Messages [e, ...] of the arcs held, reduced to what the vertices receive.
Reduce = Callable[[Subgraph, Tensor, Reduction], Received]


@chosen_operator
def aggregate(
    sub: Subgraph,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    dtype: torch.dtype | None = None,
) -> Received:
    """Reduce the messages that the active vertices of `sub` send (the paper's Algorithm 5).

    A pull reduces the segments of its rows, in stored order. A push scatters to the neighbors; the result of a push
    from some rows only holds the vertices reached, so that it costs O(arcs held) and never O(n).
    """
    return aggregated(reduce_messages, sub, data, reduction, edge, weights, dtype)


def aggregated(
    reduce: Reduce,
    sub: Subgraph,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    dtype: torch.dtype | None = None,
) -> Received:
    """`aggregate` by a function that reduces messages [e, ...] as a sum, product, minimum or maximum."""
    data = promoted(data if dtype is None else data.to(dtype), reduction, edge)
    messages = across(sent_data(sub, data), edge, weights)
    if reduction.logical and edge != "copy":
        messages = (messages != 0).view(torch.uint8)
    return reduced(reduce, sub, messages, reduction)


def reduced(reduce: Reduce, sub: Subgraph, messages: Tensor, reduction: Reduction) -> Received:
    """The reduction of the messages [e, ...] of the arcs held, of which those of inactive vertices do not count."""
    narrow = messages.dtype if messages.dtype in (torch.float16, torch.bfloat16) else None
    if narrow and reduction.name in ("sum", "mean", "prod"):
        messages = messages.float()  # as torch.sum does: a total kept in bfloat16 would not count beyond 256
    sends = None if sub.active_mask is None else sub.active_mask.index_select(0, sub.neighbors)
    if reduction.name == "mean":
        received = _mean(reduce, sub, messages, sends)
    else:
        if sends is not None:
            messages = messages.masked_fill(~column(sends, messages), reduction.identity(messages.dtype))
        received = reduce(sub, messages, reduction)
    if reduction.logical:
        return Received(received.values != 0, received.vertices)
    return Received(received.values.to(narrow), received.vertices) if narrow else received


def sent_data(sub: Subgraph, data: Tensor) -> Tensor:
    """The data of the sender of each arc, [e, ...]."""
    if needs_grad(data):
        sender = sub.neighbors if sub.mode == "pull" else sub.row_of_arc
        return take(data, sender if sub.mode == "pull" or sub.rows is None else sub.rows.index_select(0, sender))
    if sub.mode == "pull":
        return data.index_select(0, sub.neighbors)
    if sub.rows is None:
        return data.index_select(0, sub.row_of_arc)
    return data.index_select(0, sub.rows).repeat_interleave(sub.offset.diff(), 0, output_size=sub.num_arcs)


def _mean(reduce: Reduce, sub: Subgraph, messages: Tensor, sends: Tensor | None) -> Received:
    if not messages.is_floating_point():
        messages = messages.to(torch.get_default_dtype())
    if sends is not None:
        messages = torch.where(column(sends, messages), messages, 0)
        counted = sends.to(messages.dtype)
    else:
        counted = torch.ones(sub.num_arcs, dtype=messages.dtype, device=messages.device)
    total = reduce(sub, messages, REDUCTIONS["sum"])
    count = reduce(sub, counted, REDUCTIONS["sum"]).values.clamp(min=1)
    return Received(total.values / column(count, total.values), total.vertices)


def reduce_messages(sub: Subgraph, messages: Tensor, reduction: Reduction) -> Received:
    """The messages of a pull reduced by rows, those of a push by receivers."""
    if sub.mode == "pull":
        return Received(reduce_rows(messages, sub.offset, lambda: sub.row_of_arc, reduction), sub.rows)
    receivers, slot, size = receivers_of(sub)
    return Received(reduce_slots(messages, slot, size, reduction), receivers)


def reduce_slots(messages: Tensor, slot: Tensor, size: int, reduction: Reduction) -> Tensor:
    """Reduce the messages [e, ...] of each slot to a row of the result [size, ...]; differentiable."""
    if not needs_grad(messages) and not _order_matters(messages, reduction):
        return scatter(messages, slot, size, reduction)
    slot, order = devices.sort(slot)
    offset = torch.searchsorted(slot, torch.arange(size + 1, device=slot.device))
    return reduce_rows(take(messages, order), offset, lambda: slot, reduction)


def receivers_of(sub: Subgraph) -> tuple[Tensor | None, Tensor, int]:
    """The receivers of a push: the vertices reached, int64 [r], or None for all; which of them each arc reaches,
    int64 [e]; and how many they are."""
    reached = sub.neighbors.to(torch.int64)
    if sub.is_whole:
        return None, reached, sub.graph.num_vertices
    keep, slot = scratch_of(sub).distinct(reached)
    receivers = reached[keep]
    return receivers, slot, len(receivers)


def as_pull(sub: Subgraph, weights: Tensor | float | None) -> tuple[Subgraph, Tensor | float | None]:
    """A push along all arcs as the pull along their transpose that sends the same messages, and its weights."""
    graph, mirrored = sub.graph, not sub.mirrored
    stored = graph.transpose() if mirrored else graph
    pull = Subgraph(graph, graph.everything(), "pull", None, stored.selection(), mirrored, sub.backend)
    return pull, transposed_weights(graph, mirrored, weights) if is_per_arc(weights) else weights


def transposed_weights(graph: Graph, mirrored: bool, weights: Tensor) -> Tensor:
    """Weights [m, ...] of all arcs in the order of the transpose if `mirrored`, else out of it; differentiable."""
    before, after = graph.decoded().weights, graph.transpose().decoded().weights
    if not mirrored:
        before, after = after, before
    if before is not None and after is not None and not weights.requires_grad and _is_same(weights, before):
        return after.detach().reshape_as(weights)
    permutation = graph.decoded().transpose_permutation
    if mirrored:
        return weights.index_select(0, permutation)
    return torch.empty_like(weights).index_copy(0, permutation, weights)


def _is_same(weights: Tensor, stored: Tensor) -> bool:
    """True where the weights are the stored ones, in another shape."""
    same_kind = weights.dtype == stored.dtype and weights.numel() == stored.numel() and weights.is_contiguous()
    return same_kind and weights.data_ptr() == stored.data_ptr()


def scratch_of(sub: Subgraph) -> Scratch:
    return sub.scratch or Scratch(sub.graph.num_vertices)


def _order_matters(messages: Tensor, reduction: Reduction) -> bool:
    """A scatter adds in the order its threads happen to come; only the CPU's is sequential."""
    inexact = messages.is_floating_point() and reduction.name in ("sum", "prod")
    return inexact and not devices.is_sequential(messages)


def reduce_rows(messages: Tensor, offset: Tensor, row_of_arc: Callable[[], Tensor], reduction: Reduction) -> Tensor:
    """Reduce each segment messages[offset[i]:offset[i + 1]] to row i of the result; differentiable."""
    if needs_grad(messages):
        return segment_reduce(messages, offset, reduction.name)
    return reduce_segments(messages, offset, reduction, row_of_arc)
