"""`aggregate` by compiled kernels: gather, edge operation and reduction in one pass over the stored arcs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeGuard, cast

import torch
from torch import Tensor

from tgraph.kernels.call import Call
from tgraph.kernels.native import arcs as kernels
from tgraph.kernels.native import gradients
from tgraph.kernels.native.arcs import NARROW, PULL, Arcs
from tgraph.kernels.portable.aggregation import across, column, promoted, scratch_of, sent_dtype
from tgraph.kernels.reductions import Reduction
from tgraph.subgraph import Received, Subgraph

# Integers that the kernels do not hold are compared, not added, and that as these.
HELD_AS = {torch.bool: torch.uint8, torch.int8: torch.int32, torch.int16: torch.int32}


def refuses(call: Call) -> str | None:
    """Why a call is left to the portable operators, None where it is not."""
    data, weights, reduction = call.data, call.weights, cast(Reduction, call.reduction)
    if torch._C._are_functorch_transforms_active() or torch.autograd.forward_ad._current_level >= 0:
        return "it has no rule for torch.func transforms and forward-mode gradients"
    if any(isinstance(t, Tensor) and type(t) not in (Tensor, torch.nn.Parameter) for t in (data, weights)):
        return "it needs plain tensors, not a subclass"
    per_arc = call.edge != "copy" and _is_per_arc(weights)
    dtype = _message_dtype(call, per_arc)
    if dtype not in PULL and (dtype not in HELD_AS or per_arc):
        return f"it has no kernel for messages of {dtype}"
    if (data.dim() > 1 and not data.numel()) or (_is_per_arc(weights) and 0 in weights.shape[1:]):
        return "the data has no columns or no rows"
    if per_arc and reduction.logical:
        return f"{reduction.name!r} of weighted messages is not compiled"
    if per_arc and not dtype.is_floating_point and (reduction.name == "mean" or dtype.itemsize < 4):
        return f"{reduction.name!r} of weighted messages of {dtype} is not compiled"
    return _refuses_gradient(call, reduction, per_arc) if call.needs_gradient else None


def _message_dtype(call: Call, per_arc: bool) -> torch.dtype:
    dtype = sent_dtype(call.dtype or call.data.dtype, cast(Reduction, call.reduction), call.edge)
    return torch.promote_types(dtype, cast(Tensor, call.weights).dtype) if per_arc else dtype


def _refuses_gradient(call: Call, reduction: Reduction, per_arc: bool) -> str | None:
    if reduction.name == "prod":
        return "it has no gradient of a product"
    if per_arc and call.edge in ("min", "max"):
        return f"it has no gradient of edge={call.edge!r}"
    return None


@dataclass
class Messages:
    """What is reduced: data of the senders [s, columns], and its edge operation with weights [arcs, heads].

    shape : the shape of a message. total : the dtype of the result, if that is not the data's.
    """

    data: Tensor
    edge: str
    weights: Tensor | None
    shape: torch.Size
    total: torch.dtype | None = None

    @property
    def need_gradient(self) -> bool:
        """True where what is received will be differentiated."""
        wanted = self.data.requires_grad or (self.weights is not None and self.weights.requires_grad)
        return wanted and torch.is_grad_enabled()


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
    arcs, pulls = Arcs.of(sub), sub.mode == "pull"
    if not pulls and arcs.is_whole and not sub.graph.directed:  # every arc has its mate: the same sums on all threads
        weights = arcs.weights_of_opposite(weights) if _is_per_arc(weights) else weights
        arcs, pulls = arcs.opposite(), True
    if not pulls and arcs.rows is not None:
        data = data.index_select(0, arcs.rows)
    messages = _messages(data, reduction, edge, weights, dtype, pulls)
    if messages.need_gradient:
        values, vertices = _with_gradient(sub, arcs, pulls, messages, reduction)
    elif pulls:
        values, vertices = _pull(arcs, messages, reduction), sub.rows
    else:
        values, vertices = _push(sub, arcs, messages, reduction)
    return Received(values.view(len(values), *messages.shape), vertices)


def _is_per_arc(weights: Tensor | float | None) -> TypeGuard[Tensor]:
    return isinstance(weights, Tensor) and weights.dim() > 0


def _messages(
    data: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    dtype: torch.dtype | None,
    pulls: bool,
) -> Messages:
    """The messages of senders whose data is given. A weight that is one for all is applied here, once per sender."""
    per_arc = edge != "copy" and _is_per_arc(weights)
    weights_differ = per_arc and cast(Tensor, weights).requires_grad
    in_place = pulls and not data.requires_grad and not weights_differ  # as stored, to be converted by the kernel
    total = None
    if in_place and data.dtype == torch.float32 and dtype == torch.float64:
        total = dtype if edge == "copy" or (per_arc and cast(Tensor, weights).dtype == torch.float32) else None
    if dtype is not None and total is None:
        data = data.to(dtype)
    data = promoted(data, reduction, edge)
    if not per_arc:
        data = across(data, edge, weights)
        if reduction.logical and edge != "copy":
            data = (data != 0).to(torch.uint8)
        elif reduction.name == "mean" and not data.is_floating_point():
            data = data.to(torch.get_default_dtype())
        return Messages(_columns(data), "copy", None, data.shape[1:], total)
    weights = cast(Tensor, weights)
    sent = torch.promote_types(data.dtype, weights.dtype)
    if not (in_place and (sent, weights.dtype) == (torch.float64, torch.float32)):
        weights = weights.to(sent)
    data, weights = _heads(data.to(sent), weights)
    return Messages(_columns(data), edge, weights, data.shape[1:], total)


def _columns(data: Tensor) -> Tensor:
    return data[:, None] if data.dim() == 1 else data.flatten(1)


def _heads(data: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """The data [s, ...] in the shape of the messages, and the weights as [arcs, heads]: so many blocks of adjacent
    columns have a weight each. Those that do not come in such blocks are spread over all columns."""
    if weights[:1].numel() == 1:
        return data, weights.reshape(-1, 1)
    weights = column(weights, data)
    shape = torch.broadcast_shapes(data.shape[1:], weights.shape[1:])
    given = weights.shape[1:]
    leading = next((i for i, (have, want) in enumerate(zip(given, shape, strict=True)) if have != want), len(shape))
    if any(size != 1 for size in given[leading:]):
        weights, leading = weights.expand(-1, *shape), len(shape)
    return data.expand(-1, *shape), weights.reshape(len(weights), math.prod(shape[:leading]))


# ---- without gradients ----------------------------------------------------------------------------------------------

KERNEL = {"mean": "sum", "any": "max", "all": "min"}  # what the kernels reduce by, where the name is another


def _as_received(values: Tensor, reduction: Reduction, dtype: torch.dtype) -> Tensor:
    """What the kernels gave in the dtype of the result."""
    return values != 0 if reduction.logical else values.to(dtype)


def _pull(arcs: Arcs, messages: Messages, reduction: Reduction) -> Tensor:
    data, dtype = messages.data, messages.total or messages.data.dtype
    values = kernels.pull(
        arcs,
        data.to(HELD_AS.get(data.dtype, data.dtype)),
        KERNEL.get(reduction.name, reduction.name),
        messages.edge,
        messages.weights,
        identity=reduction.identity(dtype),
        mean=reduction.name == "mean",
        total=messages.total,
    )
    return _as_received(values, reduction, dtype)


def _push(sub: Subgraph, arcs: Arcs, messages: Messages, reduction: Reduction) -> tuple[Tensor, Tensor | None]:
    data, weights, dtype = messages.data, messages.weights, messages.data.dtype
    scratch = None if sub.is_whole else scratch_of(sub)
    if dtype in NARROW:
        data, weights = data.float(), None if weights is None else weights.float()
    values, vertices = kernels.push(
        arcs,
        data.to(HELD_AS.get(dtype, data.dtype)),
        KERNEL.get(reduction.name, reduction.name),
        messages.edge,
        weights,
        identity=reduction.identity(dtype),
        scratch=scratch,
    )
    if reduction.name == "mean":
        ones = torch.ones((len(data), 1), dtype=torch.int64, device="cpu")
        values = values / kernels.push(arcs, ones, "sum", scratch=scratch)[0].clamp_(min=1)
    return _as_received(values, reduction, dtype), vertices


# ---- with gradients -------------------------------------------------------------------------------------------------


def _with_gradient(
    sub: Subgraph, arcs: Arcs, pulls: bool, messages: Messages, reduction: Reduction
) -> tuple[Tensor, Tensor | None]:
    data, weights, edge, dtype = messages.data, messages.weights, messages.edge, messages.data.dtype
    if dtype in NARROW and (reduction.name != "sum" or not pulls):  # rounded at the end, not on the way
        data, weights = data.float(), None if weights is None else weights.float()
    if reduction.name in ("sum", "mean"):
        values = gradients.total(arcs, pulls, data, edge, weights)
    else:
        values = gradients.best(arcs, pulls, reduction.name, reduction.identity(dtype), data, edge, weights)
    if reduction.name == "mean":
        ones = torch.ones((len(data), 1), dtype=torch.int64, device="cpu")
        count = kernels.pull(arcs, ones, "sum") if pulls else kernels.push(arcs, ones, "sum")[0]
        values = values / count.clamp_(min=1)
    values = values.to(dtype)
    if pulls or sub.is_whole:
        return values, sub.rows
    none = torch.empty((len(data), 1), dtype=torch.uint8, device="cpu")
    vertices = kernels.push(arcs, none, "max", scratch=scratch_of(sub))[1]
    return values.index_select(0, cast(Tensor, vertices)), vertices
