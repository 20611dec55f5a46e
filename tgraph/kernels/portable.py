"""The portable backend: torch operators only, any device, any dtype, differentiable. The reference for all others."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.frontier import Frontier
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS, Reduction
from tgraph.rows import Scratch, gather_rows
from tgraph.subgraph import Received, Subgraph

name = "portable"

# A pull first looks at this many in-neighbours of a row; most rows of a skewed graph have met the bound by then.
PROBE = 4


def refuses(device: torch.device, dtype: torch.dtype) -> str | None:
    """The portable backend serves everything."""
    return None


# ---- aggregate ------------------------------------------------------------------------------------------------------


def aggregate(sub: Subgraph, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None) -> Received:
    """Reduce the messages that the active vertices of `sub` send (the paper's Algorithm 5).

    A pull reduces the segments of its rows, in stored order. A push scatters to the neighbors; the result of a push
    from some rows only holds the vertices reached, so that it costs O(arcs held) and never O(n).
    """
    if reduction.logical and edge == "copy":
        data = (data != 0).to(torch.uint8)  # before it is spread over the arcs
    elif data.dtype == torch.bool and (edge != "copy" or reduction.name in ("sum", "mean")):
        data = data.to(torch.int64)
    elif not data.is_floating_point() and reduction.name in ("sum", "prod"):
        data = data.to(torch.int64)  # as torch.sum does: a total need not fit the dtype of its terms
    messages = across(_sent(sub, data), edge, weights)
    if reduction.logical and edge != "copy":
        messages = (messages != 0).to(torch.uint8)
    narrow = messages.dtype if messages.dtype in (torch.float16, torch.bfloat16) else None
    if narrow and reduction.name in ("sum", "mean", "prod"):
        messages = messages.float()  # as torch.sum does: a total kept in bfloat16 would not count beyond 256
    heard = _heard(sub) if sub.sends_partly else None
    if reduction.name == "mean":
        received = _mean(sub, messages, heard)
    else:
        if heard is not None:
            messages = messages.masked_fill(~_column(heard, messages), reduction.identity(messages.dtype))
        received = _reduce(sub, messages, reduction)
    if reduction.logical:
        return Received(received.values != 0, received.vertices)
    return Received(received.values.to(narrow), received.vertices) if narrow else received


def _sent(sub: Subgraph, data: Tensor) -> Tensor:
    """The data of the sender of each arc, [e, ...]."""
    if sub.mode == "pull":
        return data.index_select(0, sub.neighbors)
    if sub.rows is None:
        return data.index_select(0, sub.row_of_arc)
    return data.index_select(0, sub.rows).repeat_interleave(sub.offset.diff(), 0, output_size=sub.num_arcs)


def across(sent: Tensor, edge: str, weights: Tensor | float | None) -> Tensor:
    """The edge operation on data [e, ...] and weights [e], [e, ...] or one for all."""
    if edge == "copy" or weights is None:
        return sent
    if not isinstance(weights, Tensor):  # filled on the device: to copy a number there would wait for the queue
        keeps = sent.is_floating_point() or not isinstance(weights, float)
        dtype = sent.dtype if keeps else torch.get_default_dtype()
        weights = torch.full((), weights, dtype=dtype, device=sent.device)
    return EDGE_OPERATIONS[edge](sent, _column(weights, sent))


def _column(per_arc: Tensor, data: Tensor) -> Tensor:
    """Per-arc values with trailing dimensions added so that they broadcast over the data of each arc."""
    missing = data.dim() - per_arc.dim()
    return per_arc.reshape(per_arc.shape + (1,) * missing) if per_arc.dim() and missing > 0 else per_arc


def _heard(sub: Subgraph) -> Tensor:
    return sub.active.mask.index_select(0, sub.neighbors)


def _mean(sub: Subgraph, messages: Tensor, heard: Tensor | None) -> Received:
    if not messages.is_floating_point():
        messages = messages.to(torch.get_default_dtype())
    if heard is not None:
        messages = torch.where(_column(heard, messages), messages, 0)
        counted = heard.to(messages.dtype)
    else:
        counted = torch.ones(sub.num_arcs, dtype=messages.dtype, device=messages.device)
    total = _reduce(sub, messages, REDUCTIONS["sum"])
    count = _reduce(sub, counted, REDUCTIONS["sum"]).values.clamp(min=1)
    return Received(total.values / _column(count, total.values), total.vertices)


def _reduce(sub: Subgraph, messages: Tensor, reduction: Reduction) -> Received:
    if sub.mode == "pull":
        return Received(_reduce_rows(messages, sub.offset, lambda: sub.row_of_arc, reduction), sub.rows)
    if sub.is_whole:
        receivers, slot, size = None, sub.neighbors.to(torch.int64), sub.graph.num_vertices
    else:
        reached = sub.neighbors.to(torch.int64)
        keep, slot = _scratch(sub).distinct(reached)
        receivers = reached[keep]
        size = len(receivers)
    if _order_matters(messages, reduction):
        slot, order = torch.sort(slot, stable=True)
        messages = messages.index_select(0, order)
        offset = torch.searchsorted(slot, torch.arange(size + 1, device=slot.device))
        return Received(_reduce_rows(messages, offset, lambda: slot, reduction), receivers)
    return Received(_scatter(messages, slot, size, reduction), receivers)


def _scratch(sub: Subgraph) -> Scratch:
    return sub.scratch or Scratch(sub.graph.num_vertices)


def _order_matters(messages: Tensor, reduction: Reduction) -> bool:
    """A scatter adds in the order its threads happen to come; only the CPU's is sequential."""
    inexact = messages.is_floating_point() and reduction.name in ("sum", "prod")
    return inexact and messages.device.type != "cpu"


def _reduce_rows(messages: Tensor, offset: Tensor, row_of_arc, reduction: Reduction) -> Tensor:
    """Reduce each segment messages[offset[i]:offset[i + 1]] to row i of the result."""
    if messages.is_floating_point() and messages.device.type in ("cpu", "cuda") and messages.numel():
        flat = messages.flatten(1) if messages.dim() > 2 else messages
        initial = float(reduction.identity(messages.dtype))
        reduced = torch.segment_reduce(flat, reduction.segment, offsets=offset, axis=0, initial=initial, unsafe=True)
        return reduced.reshape(len(offset) - 1, *messages.shape[1:])
    return _scatter(messages, row_of_arc(), len(offset) - 1, reduction)


def _scatter(messages: Tensor, slot: Tensor, size: int, reduction: Reduction) -> Tensor:
    identity = reduction.identity(messages.dtype)
    result = torch.full((size, *messages.shape[1:]), identity, dtype=messages.dtype, device=messages.device)
    if reduction.name == "sum":
        return result.index_add(0, slot, messages)
    return result.scatter_reduce(0, _column(slot, messages).expand_as(messages), messages, reduction.scatter)


# ---- relax ----------------------------------------------------------------------------------------------------------


def relax(
    sub: Subgraph,
    values: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    bound: Callable[[], Tensor | None],
) -> Frontier:
    """One round of a min or max fixpoint: messages that improve a vertex are written into `values`, in place.

    `bound` gives, where it is known, a value that no message of this round can beat: a pull skips the vertices that
    have reached it, and ends the scan of a row that does. Returns the frontier of improved vertices.
    """
    if sub.mode == "push":
        return _relax_push(sub, values, reduction, edge, weights)
    sent = values
    if sub.sends_partly:
        heard = _column(sub.active.mask, values)
        sent = torch.where(heard, values, reduction.identity(values.dtype))
    per_arc = isinstance(weights, Tensor) and weights.dim() > 0  # then hardly a row meets the bound
    if not per_arc and waits_are_free(values) and (limit := bound()) is not None:
        return _relax_unsettled(sub, values, sent, reduction, edge, weights, limit)
    best = _best_message(sub, sent, sub.offset, None, reduction, edge, weights)
    better = reduction.better(best, values)
    values.copy_(torch.where(better, best, values))
    return Frontier(sub.graph, mask=_any_column(better))


def waits_are_free(tensor: Tensor) -> bool:
    """True where the size of a selection is known at once. On an accelerator each one stalls the queue, and a pass
    over data that need not be touched is cheaper than to wait."""
    return tensor.device.type == "cpu"


def _send(sent: Tensor, edge: str, weights: Tensor | float | None, reduction: Reduction) -> Tensor:
    """Messages of a relaxation: a vertex that holds the identity has nothing to send. Its message would overflow, or
    be NaN, or be the weight alone."""
    messages = across(sent, edge, weights)
    if edge != "copy":
        identity = reduction.identity(sent.dtype)
        messages = torch.where(sent == identity, identity, messages)
    return messages.to(sent.dtype)


def _any_column(flags: Tensor) -> Tensor:
    return flags if flags.dim() == 1 else flags.flatten(1).any(1)


def _relax_push(
    sub: Subgraph, values: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None
) -> Frontier:
    messages = _send(_sent(sub, values), edge, weights, reduction)
    reached = sub.neighbors
    better = _any_column(reduction.better(messages, values.index_select(0, reached)))
    if waits_are_free(values):
        survivors = better.nonzero().flatten()
        messages, reached = messages.index_select(0, survivors), reached.index_select(0, survivors)
        better = better.index_select(0, survivors)
    reached = reached.to(torch.int64)
    index = _column(reached, messages).expand_as(messages)
    values.scatter_reduce_(0, index, messages, reduction.scatter)
    return Frontier.compact(sub.graph, reached, _scratch(sub).first_marked(reached, better))


def _relax_unsettled(
    sub: Subgraph,
    values: Tensor,
    sent: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    bound: Tensor,
) -> Frontier:
    """Pull only into vertices that the bound could still improve: first from the heads of their rows, then from the
    whole rows of those whose head does not reach the bound. Nothing is written before all messages are read: `sent`
    may be `values`."""
    rows = _any_column(reduction.better(bound, values)).nonzero().flatten()
    offset, positions = gather_rows(sub.offset, rows, width=PROBE)
    best = _best_message(sub, sent, offset, positions, reduction, edge, weights)
    degree = sub.offset.index_select(0, rows + 1) - sub.offset.index_select(0, rows)
    rest = ((degree > PROBE) & _any_column(reduction.better(bound, best))).nonzero().flatten()
    offset, positions = gather_rows(sub.offset, rows.index_select(0, rest))
    best.index_copy_(0, rest, _best_message(sub, sent, offset, positions, reduction, edge, weights))
    old = values.index_select(0, rows)
    better = reduction.better(best, old)
    values.index_copy_(0, rows, torch.where(better, best, old))
    return Frontier(sub.graph, ids=rows[_any_column(better)])


def _best_message(
    sub: Subgraph,
    sent: Tensor,
    offset: Tensor,
    positions: Tensor | None,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
) -> Tensor:
    """The best message into each segment of the arcs at the given positions (None: all, in order), where vertex v
    sends sent[v]."""
    neighbors = sub.neighbors if positions is None else sub.neighbors.index_select(0, positions)
    messages = _send(sent.index_select(0, neighbors), edge, weights, reduction)

    def row_of_arc() -> Tensor:
        number = torch.arange(len(offset) - 1, device=offset.device)
        return number.repeat_interleave(offset.diff(), output_size=len(neighbors))

    return _reduce_rows(messages, offset, row_of_arc, reduction)
