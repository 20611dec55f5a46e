"""`aggregate` by CUDA kernels: gather, edge operation and reduction in one pass over the stored arcs."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import torch
from torch import Tensor

from tgraph.kernels import portable
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import pull as kernels
from tgraph.kernels.cuda.bins import bins_of, find_bins
from tgraph.kernels.cuda.pull import TYPES, Rows
from tgraph.kernels.messages import Messages, columns_of, is_per_arc, messages_of, sent_dtype
from tgraph.kernels.native.arcs import Arcs
from tgraph.kernels.reductions import REDUCTIONS, Reduction
from tgraph.subgraph import Received, Subgraph

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
    all vertices is a pull along the transpose. A push from some of them is left to the portable operators.
    """
    rows, held_weights = _rows(sub, weights)
    if rows is None:
        return portable.aggregate(sub, data, reduction, edge, weights, dtype)
    messages = _messages(data, reduction, edge, held_weights, dtype)
    if reduction.name == "mean" and rows.heard is not None:
        values = _mean_of_heard(rows, messages)
    else:
        values = _reduced(rows, messages, reduction)
    if reduction.logical:
        values = values != 0
    return Received(values.view(len(values), *messages.shape), sub.rows if sub.mode == "pull" else None)


def best_arcs(
    sub: Subgraph, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None
) -> tuple[Tensor, Tensor]:
    """The min or max of floating numbers in a pull, and which message won: (values, arcs), both [k, ...].

    sub, data, reduction, edge, weights : as `aggregate` takes them.
    An arc is counted from 0 in the order of the arcs that `sub` holds, int64; -1 where nothing was sent. Of equal
    messages the first wins, and NaN against any number.
    """
    rows, weights = _rows(sub, weights)
    messages = _messages(data, reduction, edge, weights)
    values, arcs = kernels.pull(
        cast(Rows, rows),
        messages.data,
        reduction.name,
        messages.edge,
        messages.weights,
        identity=reduction.identity(messages.data.dtype),
        winners=True,
    )
    return values.view(len(values), *messages.shape), cast(Tensor, arcs).view(len(values), *messages.shape)


def _rows(sub: Subgraph, weights: Tensor | float | None) -> tuple[Rows | None, Tensor | float | None]:
    """The rows that pull what `sub` sends, and the weights in the order of their arcs; None where there are none."""
    held = sub.selection
    if sub.mode == "pull":
        heard = sub.active.mask if sub.sends_partly else None
        offset, dtype = held.offset, held.stored_neighbors.dtype
        bins = bins_of(sub.graph, offset, dtype) if held.is_whole else find_bins(offset, dtype)
        return Rows(offset, held.neighbors, bins, heard), weights
    if not held.is_whole:
        return None, weights
    arcs = Arcs.of(sub)
    weights = arcs.weights_of_opposite(weights) if is_per_arc(weights) else weights
    arcs = arcs.opposite()
    return Rows(arcs.offset, arcs.neighbors, bins_of(sub.graph, arcs.offset, arcs.neighbors.dtype)), weights


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


def _reduced(rows: Rows, messages: Messages, reduction: Reduction) -> Tensor:
    """What the rows receive, [k, columns], flags as bytes."""
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


def _mean_of_heard(rows: Rows, messages: Messages) -> Tensor:
    """The mean over those arcs whose sender is heard."""
    data, weights = messages.data, messages.weights
    wide = torch.promote_types(data.dtype, torch.float32)
    weights = None if weights is None else weights.to(wide)
    total = _reduced(rows, replace(messages, data=data.to(wide), weights=weights), REDUCTIONS["sum"])
    count = kernels.pull(rows._replace(heard=None), cast(Tensor, rows.heard)[:, None].to(torch.int32), "sum")[0]
    return (total / count.clamp(min=1)).to(data.dtype)
