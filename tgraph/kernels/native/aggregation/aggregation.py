"""`aggregate` by compiled kernels: gather, edge operation and reduction in one pass over the stored arcs."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from tgraph.core.subgraph import Received, Subgraph
from tgraph.kernels.call import Call
from tgraph.kernels.messages import Messages, is_per_arc, messages_of, sent_dtype
from tgraph.kernels.native.aggregation import arcs as kernels
from tgraph.kernels.native.aggregation.arcs import KERNEL, NARROW, PULL, refuses_pair
from tgraph.kernels.native.base.support import implements, refuses_call
from tgraph.kernels.operators.aggregation import adjoints
from tgraph.kernels.operators.aggregation import aggregation as aggregation_operators
from tgraph.kernels.operators.aggregation.aggregation import as_pull, scratch_of
from tgraph.kernels.reductions import Reduction

PLAIN = (Tensor, torch.nn.Parameter)

# Integers that the kernels do not hold are compared, not added, and that as these.
HELD_AS = {torch.bool: torch.uint8, torch.int8: torch.int32, torch.int16: torch.int32}


def refuses(call: Call) -> str | None:
    """Why a call is left to the portable operators, None where it is not."""
    data, weights, reduction = call.data, call.weights, cast(Reduction, call.reduction)
    if type(data) not in PLAIN or (isinstance(weights, Tensor) and type(weights) not in PLAIN):
        return "it needs plain tensors, not a subclass"
    per_arc = call.edge != "copy" and is_per_arc(weights)
    dtype = _message_dtype(call, per_arc)
    if dtype not in PULL and (dtype not in HELD_AS or per_arc):
        return f"it has no kernel for messages of {dtype}"
    if (data.dim() > 1 and not data.numel()) or (is_per_arc(weights) and 0 in weights.shape[1:]):
        return "the data has no columns or no rows"
    if per_arc and reduction.logical:
        return f"{reduction.name!r} of weighted messages is not compiled"
    if per_arc and not dtype.is_floating_point and (reduction.name == "mean" or dtype.itemsize < 4):
        return f"{reduction.name!r} of weighted messages of {dtype} is not compiled"
    return refuses_pair(HELD_AS.get(dtype, dtype), reduction.name, call.edge if per_arc else "copy")


def _message_dtype(call: Call, per_arc: bool) -> torch.dtype:
    dtype = sent_dtype(call.dtype or call.data.dtype, cast(Reduction, call.reduction), call.edge)
    return torch.promote_types(dtype, cast(Tensor, call.weights).dtype) if per_arc else dtype


def refuses_push_rows(call: Call) -> str | None:
    """The same for what rows send, of which not every pair of reduction and edge operation is compiled."""
    reduction, held = cast(Reduction, call.reduction), torch.promote_types(call.data.dtype, torch.float32)
    return refuses_adjoints(call) or refuses_pair(held, reduction.name, call.edge)


def refuses_adjoints(call: Call) -> str | None:
    """Why what a gradient needs is left to the portable operators, None where it is not."""
    if call.data.dtype not in (torch.float32, torch.float64, *NARROW):
        return f"it has no kernel for gradients of {call.data.dtype}"
    return "the data has no columns" if not call.data.shape[1] else None


@implements(aggregation_operators.aggregate, refuses_call(refuses))
def aggregate(
    sub: Subgraph,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    dtype: torch.dtype | None = None,
) -> Received:
    """As the portable `aggregate`. A push from some rows gives the vertices in the order in which they are reached.

    Sums add in an order that does not depend on the number of threads: in a pull along the row, one column in four
    interleaved sums, rows of many arcs by pieces of one length; in a push in the order of the arcs.
    """
    if sub.mode == "push" and sub.selection.is_whole and not sub.graph.directed:  # the same sums on all threads
        sub, weights = as_pull(sub, weights)
    pulls = sub.mode == "pull"
    if not pulls and sub.rows is not None:
        data = data.index_select(0, sub.rows)
    messages = messages_of(data, reduction, edge, weights, dtype, as_stored=pulls)
    if pulls:
        return Received(_pull(sub, messages, reduction), sub.rows)
    values, vertices = _push(sub, messages, reduction)
    return Received(values.view(len(values), *messages.shape), vertices)


# ---- without gradients ----------------------------------------------------------------------------------------------


def _held(data: Tensor) -> Tensor:
    """Messages as the kernels hold them; truth as the bytes that it is."""
    return data.view(torch.uint8) if data.dtype == torch.bool else data.to(HELD_AS.get(data.dtype, data.dtype))


def _as_received(values: Tensor, reduction: Reduction, dtype: torch.dtype) -> Tensor:
    """The result of the kernels in the dtype of the reduction."""
    if reduction.logical:
        return values.view(torch.bool) if values.dtype == torch.uint8 else values != 0
    return values if values.dtype == dtype else values.to(dtype)


def _pull(sub: Subgraph, messages: Messages, reduction: Reduction) -> Tensor:
    data, dtype, active_mask, graph = messages.data, messages.total or messages.data.dtype, sub.active_mask, None
    if sub.selection.is_whole:
        graph = sub.graph.transpose_unchecked() if sub.mirrored else sub.graph
        if active_mask is not None and messages.edge == "copy" and reduction.name != "mean":
            # The others send what changes nothing, once for each vertex in place of a test for each arc.
            data, active_mask = torch.where(active_mask[:, None], data, reduction.identity(data.dtype)), None
    values = kernels.pull(
        sub.selection,
        _held(data),
        KERNEL.get(reduction.name, reduction.name),
        messages.edge,
        messages.weights,
        active_mask=active_mask,
        graph=graph,
        identity=reduction.identity(dtype),
        mean=reduction.name == "mean",
        total=messages.total,
        shape=messages.shape,
    )
    return _as_received(values, reduction, dtype)


def _push(sub: Subgraph, messages: Messages, reduction: Reduction) -> tuple[Tensor, Tensor | None]:
    data, weights, dtype = messages.data, messages.weights, messages.data.dtype
    scratch = None if sub.is_whole else scratch_of(sub)
    if dtype in NARROW:
        data, weights = data.float(), None if weights is None else weights.float()
    values, vertices = kernels.push(
        sub,
        _held(data),
        KERNEL.get(reduction.name, reduction.name),
        messages.edge,
        weights,
        identity=reduction.identity(dtype),
        scratch=scratch,
    )
    if reduction.name == "mean":
        ones = torch.ones((len(data), 1), dtype=torch.int64, device="cpu")
        values = values / kernels.push(sub, ones, "sum", scratch=scratch)[0].clamp_(min=1)
    return _as_received(values, reduction, dtype), vertices


# ---- what gradients take --------------------------------------------------------------------------------------------


@implements(adjoints.push_rows, refuses_call(refuses_push_rows))
def push_rows(sub: Subgraph, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
    """As the portable `push_rows`; sums add in the order of the arcs."""
    name = KERNEL.get(reduction.name, reduction.name)
    values = kernels.push(sub, data, name, edge, weights, identity=reduction.identity(data.dtype))[0]
    if reduction.name == "mean":
        ones = torch.ones((len(data), 1), dtype=torch.int64, device="cpu")
        values = values / kernels.push(sub, ones, "sum")[0].clamp_(min=1)
    return _as_received(values, reduction, data.dtype)


@implements(adjoints.argreduce, refuses_call(refuses_adjoints))
def argreduce(
    sub: Subgraph, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None, best: Tensor
) -> tuple[Tensor, Tensor]:
    """As the portable `argreduce`."""
    if data.dtype in NARROW:
        data, weights, best = data.float(), None if weights is None else weights.float(), best.float()
    return kernels.argreduce(sub, data, edge, weights, best)


implements(adjoints.products, refuses_call(refuses_adjoints))(kernels.products)
implements(adjoints.segment_argreduce, refuses_call(refuses_adjoints))(kernels.segment_argreduce)
implements(adjoints.scatter_argreduce, refuses_call(refuses_adjoints))(kernels.scatter_argreduce)
