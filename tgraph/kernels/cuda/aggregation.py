"""`aggregate` by CUDA kernels: gather, edge operation and reduction in one pass over the stored arcs."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import torch
from torch import Tensor

from tgraph.core.rows import row_shifts
from tgraph.core.subgraph import Received, Subgraph
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import pull as kernels
from tgraph.kernels.cuda.bins import bins_of, find_bins
from tgraph.kernels.cuda.pull import TYPES, Rows
from tgraph.kernels.messages import Messages, columns_of, is_per_arc, messages_of, sent_dtype
from tgraph.kernels.operators.aggregation import aggregation as portable
from tgraph.kernels.operators.aggregation.aggregation import as_pull, receivers_of
from tgraph.kernels.reductions import REDUCTIONS, Reduction

# Integers that the kernels do not hold are compared, not added, and that as int32.
HELD_AS_INT32 = (torch.bool, torch.uint8, torch.int8, torch.int16)

KERNEL = {"mean": "sum", "any": "max", "all": "min"}  # what the kernels reduce by, where the name is another


def refuses(call: Call) -> str | None:
    """Why a call is left to other backends, None where it is not."""
    weights, reduction = call.weights, cast(Reduction, call.reduction)
    if any(isinstance(t, Tensor) and type(t) not in (Tensor, torch.nn.Parameter) for t in (call.data, weights)):
        return "it needs plain tensors, not a subclass"
    per_arc = call.edge != "copy" and is_per_arc(weights)
    dtype = sent_dtype(call.dtype or call.data.dtype, reduction, call.edge)
    if per_arc:
        dtype = torch.promote_types(dtype, cast(Tensor, weights).dtype)
    if dtype not in TYPES and (dtype not in HELD_AS_INT32 or per_arc):
        return f"it has no kernel for messages of {dtype}"
    if per_arc and reduction.logical:
        return f"{reduction.name!r} of weighted messages is not compiled"
    if per_arc and reduction.name == "mean" and not dtype.is_floating_point:
        return f"the mean of weighted messages of {dtype} is not compiled"
    return None


def aggregate(
    sub: Subgraph,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    dtype: torch.dtype | None = None,
) -> Received:
    """As the portable `aggregate`, with the same result whenever it is called.

    Floating sums add in an order of their own, which depends on the graph and the number of columns alone. A push from
    all vertices is a pull along the transpose, and one from some of them a pull along their arcs sorted by receiver,
    where a sum has to add in a fixed order. Another push from some of them is left to the portable operators.
    """
    rows, held_weights = rows_of(sub, weights)
    vertices = sub.rows if sub.mode == "pull" else None
    if rows is None:
        if reduction.name not in ("sum", "mean", "prod") or not data.is_floating_point():
            return portable.aggregate(sub, data, reduction, edge, weights, dtype)
        vertices, slot, size = receivers_of(sub)
        rows, order = by_receiver(sub, slot, size)
        held_weights = weights.index_select(0, order) if is_per_arc(weights) else weights
        data = data if sub.rows is None else data.index_select(0, sub.rows)
    messages = _messages(data, reduction, edge, held_weights, dtype)
    values = reduced(rows, messages, reduction)
    if reduction.logical:
        values = values != 0
    return Received(values.view(len(values), *messages.shape), vertices)


def rows_of(sub: Subgraph, weights: Tensor | float | None) -> tuple[Rows | None, Tensor | float | None]:
    """The rows that pull what `sub` sends, and the weights in the order of their arcs; None where there are none."""
    held = sub.selection
    if sub.mode == "pull":
        active_mask, dtype = sub.active_mask, held.stored_neighbors.dtype
        if held.is_whole:
            bins = bins_of(sub.graph, held.stored_offset, dtype)
            return Rows(held.stored_offset, held.stored_neighbors, bins, active_mask), weights
        offset, shift = row_shifts(held.stored_offset, held.rows, held.width)
        return Rows(offset, held.stored_neighbors, find_bins(offset, dtype), active_mask, shift), weights
    if not held.is_whole:
        return None, weights
    sub, weights = as_pull(sub, weights)
    held = sub.selection
    bins = bins_of(sub.graph, held.stored_offset, held.stored_neighbors.dtype)
    return Rows(held.stored_offset, held.stored_neighbors, bins), weights


def by_receiver(sub: Subgraph, slot: Tensor, size: int) -> tuple[Rows, Tensor]:
    """The arcs of a push as rows of those who receive, and the number of each arc among those that `sub` holds.

    slot : which of `size` receivers each arc leads to, [e].
    The senders are numbered as the rows held are. The arcs of a receiver keep their order.
    """
    slot, order = torch.sort(slot, stable=True)
    offset = torch.searchsorted(slot, torch.arange(size + 1, dtype=slot.dtype, device=slot.device))
    dtype = sub.selection.stored_neighbors.dtype
    senders = sub.row_of_arc.index_select(0, order).to(dtype)
    return Rows(offset, senders, find_bins(offset, dtype)), order


def _messages(
    data: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None, dtype: torch.dtype | None = None
) -> Messages:
    """The messages of senders whose data is given, int32 that is added or multiplied as it is: in int64 by kernels."""
    adds = reduction.name in ("sum", "prod") and data.dtype == torch.int32 and dtype is None
    if adds and edge == "copy":
        return Messages(columns_of(data), "copy", None, data.shape[1:])
    if adds and is_per_arc(weights) and weights.dtype == torch.int32:
        return messages_of(data, REDUCTIONS["min"], edge, weights)
    return messages_of(data, reduction, edge, weights, dtype)


def reduced(rows: Rows, messages: Messages, reduction: Reduction) -> Tensor:
    """The reduction of each row, [k, columns], flags as numbers."""
    if reduction.name == "mean" and rows.active_mask is not None:
        return _mean_of_active(rows, messages)
    data = messages.data
    return kernels.pull(
        rows,
        data.to(torch.int32) if data.dtype in HELD_AS_INT32 else data,
        KERNEL.get(reduction.name, reduction.name),
        messages.edge,
        messages.weights,
        identity=reduction.identity(data.dtype),
        mean=reduction.name == "mean",
    )[0].to(kernels.result_dtype(data.dtype, reduction.name))


def _mean_of_active(rows: Rows, messages: Messages) -> Tensor:
    """The mean over those arcs whose sender is active."""
    data, weights = messages.data, messages.weights
    wide = torch.promote_types(data.dtype, torch.float32)
    weights = None if weights is None else weights.to(wide)
    total = reduced(rows, replace(messages, data=data.to(wide), weights=weights), REDUCTIONS["sum"])
    count = kernels.pull(
        rows._replace(active_mask=None), cast(Tensor, rows.active_mask)[:, None].to(torch.int32), "sum"
    )[0]
    return (total / count.clamp(min=1)).to(data.dtype)
