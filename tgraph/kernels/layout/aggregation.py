"""Aggregates as a pull over all rows of a layout."""

from __future__ import annotations

import math
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import watchers
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Received, Subgraph, Weights
from tgraph.core.system.library import is_plain, needs_grad
from tgraph.kernels.call import Call
from tgraph.kernels.layout.arcs import KERNEL, computed_in, edge_of, given, layout_of, receiving
from tgraph.kernels.messages import column, messages_of, sent_dtype
from tgraph.kernels.reductions import REDUCTIONS, Reduction

_FLOATS = (torch.float32, torch.float64)


def at_once(graph: Graph, data: Tensor, reduce: str, edge: str) -> Tensor | None:
    """The reduction of data [n] or [n, columns], float32 or float64, over a whole graph with its own weights, where no
    backend is chosen by name; None where `aggregate` decides, such as for graphs that are streamed or distributed."""
    stored = graph.layout
    assert stored is not None
    if stored.is_distributed or stored.streams or watchers() or data.dtype not in _FLOATS or not is_plain(data):
        return None
    if len(data) != graph.num_vertices or not data.numel() or reduce not in ("sum", "mean", "min", "max"):
        return None
    if edge != "copy" and (stored.weight_dtype != data.dtype or reduce == "mean"):
        return None
    rows, kernel = graph.transpose_detached(), KERNEL.get(reduce, reduce)
    reverse = rows.layout
    assert reverse is not None
    if reverse.refuses(kernel, edge, data.dtype) is not None:
        return None
    recorded = needs_grad(data)
    if recorded and (kernel != "sum" or edge in ("min", "max")):
        return None
    columns = data if data.dim() == 2 else data.unsqueeze(1)
    pulled = _Sum.apply(columns, rows, edge) if recorded else reverse.pull(columns, kernel, edge)
    if reduce == "mean":
        pulled = pulled / rows.out_degree.clamp(min=1).to(pulled.dtype)[:, None]
    return pulled if data.dim() == 2 else pulled.squeeze(1)


def refuses(call: Call, sub: Subgraph) -> str | None:
    reduction = cast(Reduction, call.reduction)
    if not sub.selection.is_whole:
        return "it has no pull over some rows"
    if not call.data.numel():
        return "the data has no columns or no rows"
    dtype = _message_dtype(call, sub)
    if call.weights_in_layout and (why := _refuses_own_weights(call.edge, reduction, dtype, sub)):
        return why
    if needs_grad(call.data) and (reduction.name not in ("sum", "mean") or edge_of(call) in ("min", "max")):
        return f"gradients of {reduction.name!r} with edge={call.edge!r} follow single arcs"
    return layout_of(receiving(sub)).refuses(
        KERNEL.get(reduction.name, reduction.name), edge_of(call), _pulled_in(dtype, reduction, sub)
    )


def _refuses_own_weights(edge: str, reduction: Reduction, dtype: torch.dtype, sub: Subgraph) -> str | None:
    if reduction.logical or (reduction.name == "mean" and not dtype.is_floating_point):
        return f"{reduction.name!r} of weighted messages of {dtype} is not among what layouts pull"
    if sub.sends_partly and not _leaves_identity(edge, reduction, dtype, sub):
        return "the weights of arcs from inactive vertices would count"
    return None


def _leaves_identity(edge: str, reduction: Reduction, dtype: torch.dtype, sub: Subgraph) -> bool:
    """Whether the identity of the reduction, which inactive vertices send, is still that after the edge operation."""
    if (reduction.name, edge) not in _IDENTITIES or not dtype.is_floating_point:
        return False
    least, greatest = sub.graph.weight_range
    return -math.inf < least <= greatest < math.inf


_IDENTITIES = {("sum", "mul"), ("mean", "mul"), ("min", "add"), ("max", "add"), ("min", "max"), ("max", "min")}


def _message_dtype(call: Call, sub: Subgraph) -> torch.dtype:
    reduction = cast(Reduction, call.reduction)
    if call.weights_in_layout:
        dtype = sent_dtype(call.dtype or call.data.dtype, reduction, call.edge)
        return torch.promote_types(dtype, cast(torch.dtype, sub.graph.weight_dtype))
    return messages_of(call.data[:1], reduction, call.edge, given(call.weights), call.dtype).data.dtype


def _pulled_in(dtype: torch.dtype, reduction: Reduction, sub: Subgraph) -> torch.dtype:
    """As `computed_in`, but the dtype itself for sums of layouts that round at the end; a mean is a sum that need not
    fit."""
    return dtype if reduction.name == "sum" and layout_of(receiving(sub)).rounds_once else computed_in(dtype)


def aggregate(
    sub: Subgraph,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Weights,
    dtype: torch.dtype | None = None,
) -> Received:
    """As the portable `aggregate`, over all arcs. Its sums and means
    record a gradient."""
    call = Call("aggregate", data, reduction, edge, weights, dtype=dtype, sub=sub)
    if call.weights_in_layout:
        messages = messages_of(data.to(_message_dtype(call, sub)), reduction, "copy", None)
    else:
        messages = messages_of(data, reduction, edge, given(weights), dtype)
    kernel, sent = REDUCTIONS[KERNEL.get(reduction.name, reduction.name)], messages.data.dtype
    values = messages.data.to(_pulled_in(sent, reduction, sub)).contiguous()
    if sub.sends_partly:
        values = torch.where(sub.active.mask[:, None], values, kernel.identity(values.dtype))
    pulled = _pulled(sub, values, kernel, edge_of(call))
    if reduction.name == "mean":
        pulled = pulled / column(_num_senders(sub, pulled.dtype), pulled)
    result = pulled != 0 if reduction.logical else pulled.to(sent)
    return Received(result.reshape(len(result), *messages.shape))


def _num_senders(sub: Subgraph, dtype: torch.dtype) -> Tensor:
    """How many active neighbours each row has, [n], at least 1."""
    rows = receiving(sub)
    if not sub.sends_partly:
        return rows.out_degree.clamp(min=1).to(dtype)
    ones = sub.active.mask.to(torch.int64)[:, None]
    return layout_of(rows).pull(ones, "sum")[:, 0].clamp_(min=1).to(dtype)


def _pulled(sub: Subgraph, data: Tensor, reduction: Reduction, edge: str) -> Tensor:
    if needs_grad(data):
        return _Sum.apply(data, receiving(sub), edge)
    return layout_of(receiving(sub)).pull(data, reduction.name, edge)


class _Sum(torch.autograd.Function):
    """A sum over the rows of a graph, whose gradient is one over the rows of its transpose."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, graph: Graph, edge: str) -> Tensor:
        ctx.graph, ctx.edge = graph, edge
        return layout_of(graph).pull(data.detach(), "sum", edge)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        factor = "mul" if ctx.edge == "mul" else "copy"  # the derivative of x * w, and of x and x + w
        return _Sum.apply(gradients[0].contiguous(), ctx.graph.transpose_detached(), factor), None, None
