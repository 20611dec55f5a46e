"""`aggregate` over an adjacency, from sources to targets, which may be different sets of vertices."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor
from torch.nn.functional import pad

from tgraph.core import dispatch
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.core.owner import set_owner
from tgraph.core.rows import Selection
from tgraph.core.system.library import in_functorch, needs_grad
from tgraph.errors import ArgumentError
from tgraph.kernels.autograd import eager, pull_push
from tgraph.kernels.autograd.differentiable import NARROW, saves_argreduce
from tgraph.kernels.messages import column, messages_of
from tgraph.kernels.operators.aggregation.narrow import sum_narrow
from tgraph.kernels.reductions import reduction_of
from tgraph.model import operators
from tgraph.nn.adjacency import Adjacency, ArcWeights, GraphAdjacency, Scale
from tgraph.nn.conv.layer import (
    REDUCE,
    linear,
    linear_map,
    linear_of_received,
    plain_weight,
    plus,
    transform_first,
    vertices_back,
    vertices_first,
)
from tgraph.nn.conv.messages import zero_unreached
from tgraph.nn.normalisation import given_in_layout, stays_in_layout
from tgraph.nn.spread import SpreadAdjacency, SpreadWeights

Weights = ArcWeights | Scale | SpreadWeights | None


def aggregate(adjacency: Adjacency, data: Tensor, reduce: str = "sum", weights: Weights = None) -> Tensor:
    """Reduce, for every target, the data of its sources, times the weight of the arc if given.

    data : [num_sources, ...], floating. reduce : "sum", "mean", "min" or "max". A target without sources gets 0.
    weights : [E], or [E, ...] to multiply data with by dimension.
    Returns [num_targets, ...]. Differentiable in data and weights, any number of times; by the transpose, which is
    built when a gradient is first recorded. The gradient of min and max goes to the first message that attains it.
    Raises ArgumentError for sparse data.
    """
    if data.layout != torch.strided:
        raise ArgumentError("x: rows of a sparse tensor cannot be gathered; use x.to_dense()")
    if isinstance(adjacency, SpreadAdjacency):
        return adjacency.aggregate(data, reduce, cast("SpreadWeights | None", weights))
    assert not isinstance(weights, SpreadWeights), "of a SpreadAdjacency only"
    graph = adjacency.in_layout if isinstance(adjacency, GraphAdjacency) else None
    if graph is not None and (weights is None or isinstance(weights, Scale)):
        return _in_layout(cast(GraphAdjacency, adjacency), data, reduce, weights or Scale(None, 0.0, False))
    assert not isinstance(weights, Scale), "of graphs in layouts only"
    if (received := _at_once(adjacency, data, reduce, weights)) is not None:
        return received
    reduction, backend = reduction_of(reduce), operators.backend_by_name()
    edge, values = ("copy", None) if weights is None else ("mul", weights.values)
    messages = messages_of(data, reduction, edge, values)
    result = messages.data.dtype
    selects = reduction.name in ("min", "max")
    if result in NARROW and selects:  # rounded once, at the end
        messages.data = messages.data.float()
        messages.weights = None if messages.weights is None else messages.weights.float()
    sent = messages.data
    if missing := adjacency.rows.num_vertices - adjacency.num_sources:
        sent = pad(sent, (0, 0, 0, missing))
    gathers = needs_grad(sent, messages.weights) and not selects
    single = weights is not None and weights.values.dim() == 1
    back = weights.transposed(adjacency) if weights is not None and single and gathers else None
    if back is not None:
        back = back.to(sent.dtype)[:, None]
    rows = adjacency.rows
    _set_owner(rows)
    arcs, transpose = Selection(rows.offset, rows.neighbors), None
    if gathers:
        transpose = _transpose(adjacency, numbered=messages.weights is not None and back is None)
    if needs_grad(sent) and saves_argreduce(messages, reduction, backend):
        received = pull_push.segment_argreduce(sent, arcs, None, reduction.name, backend)[0][: adjacency.num_targets]
        if adjacency.unreached is not None:
            with torch.no_grad():  # no message attains these, and no gradient passes
                received.masked_fill_(adjacency.unreached, 0)
    else:
        pull = pull_push.compute_pull if in_functorch() else pull_push.pull
        structure = (arcs, None, transpose, None)
        received = pull(sent, messages.weights, back, *structure, reduction.name, messages.edge, backend)
        received = received[: adjacency.num_targets]
        if selects and adjacency.unreached is not None:
            fill = received.masked_fill if received.requires_grad or in_functorch() else received.masked_fill_
            received = fill(adjacency.unreached, 0)
    return received.to(result).reshape(adjacency.num_targets, *messages.shape)


def aggregate_with_own(adjacency: Adjacency, data: Tensor, weights: ArcWeights | None, own: float) -> Tensor | None:
    """The sum plus `own` times each target's data, for equal sources and targets; None without a kernel."""
    if data.layout != torch.strided or adjacency.num_sources != adjacency.num_targets:
        return None
    return _at_once(adjacency, data, "sum", weights, own)


def arc_weights(adjacency: Adjacency, edge_weight: Tensor | None, in_layout: bool = True) -> Weights:
    """The edge weights [E] as arc weights; without them the values of the matrix, or the weights of the Graph, which
    may stay `in_layout`.

    Raises ArgumentError for another number of weights.
    """
    if isinstance(adjacency, SpreadAdjacency):
        return adjacency.own_weights(edge_weight)
    if edge_weight is None and not isinstance(adjacency, GraphAdjacency):
        return adjacency.matrix_weights()
    if edge_weight is None and in_layout and stays_in_layout(adjacency):
        return Scale(None, 0.0, adjacency.graph.weight_dtype is not None)
    if in_layout and edge_weight is not None and given_in_layout(adjacency, edge_weight):
        return Scale(None, 0.0, edge_weight.reshape(-1))
    values = adjacency.values if edge_weight is None else edge_weight
    if values is None:
        return None
    if values.numel() != adjacency.num_edges:
        raise ArgumentError(
            f"edge_weight: expected [{adjacency.num_edges}], one for each edge, got {list(values.shape)}"
        )
    return ArcWeights(adjacency.in_row_order(values.reshape(-1)))


def mapped_aggregate(layer: Any, lin: Any, adjacency: Adjacency, x: Tensor, weights: Weights, pads: bool) -> Tensor:
    """lin of the reduction of x [..., n, columns] by a layer: x is transformed first where that gathers fewer columns.
    `pads` : whether to append zeros by `MessagePassing._as_many_as`."""
    weight, reduce, dim = plain_weight(lin), REDUCE[layer.aggr], layer.node_dim
    if is_widened(x, weight):
        out = vertices_back(_aggregate_narrow(adjacency, vertices_first(x, dim), reduce, weights), dim)
        return linear(lin, weight, layer._as_many_as(x, out) if pads else out)
    early = transform_first(weight, x, reduce)
    sent = linear_map(x, weight) if early and weight is not None else x
    out = vertices_back(aggregate(adjacency, vertices_first(sent, dim), reduce, weights), dim)
    if pads:
        out = layer._as_many_as(x, out)
    if not early:
        return linear_of_received(lin, weight, out, x.dtype)
    out = out.to(sent.dtype) if autocasts(x) else out  # as if the map came last
    return out if lin.bias is None else plus(out, lin.bias.to(out.dtype))


def is_widened(x: Tensor, weight: Tensor | None) -> bool:
    """Whether 16-bit features meet float32 parameters, and are accumulated in float32 without a copy."""
    return x.dtype in NARROW and weight is not None and weight.dtype == torch.float32 and not autocasts(x)


def autocasts(x: Tensor) -> bool:
    """Whether autocast is enabled on the device of a tensor."""
    return torch.is_autocast_enabled(x.device.type)


def _aggregate_narrow(adjacency: Adjacency, data: Tensor, reduce: str, weights: Weights) -> Tensor:
    """The reduction in float32 of 16-bit data, without a copy where a kernel supports it."""
    in_layout = isinstance(adjacency, GraphAdjacency) and adjacency.in_layout
    chooses = not torch.compiler.is_compiling() and operators.backend_by_name() == "auto"
    if reduce in ("sum", "mean") and weights is None and chooses and not in_layout:
        given = adjacency.csr or adjacency.arcs(of_edges=False), data, reduce == "mean"
        if dispatch.refusal("native", "sum_narrow", *given) is None:
            return sum_narrow(*given)
    return aggregate(adjacency, data.float(), reduce, weights)


def _at_once(
    adjacency: Adjacency, data: Tensor, reduce: str, weights: ArcWeights | None, own: float = 0.0
) -> Tensor | None:
    """The reduction by `kernels.autograd.eager`, or None where it does not support the call, or another backend is
    asked for."""
    if torch.compiler.is_compiling() or operators.running_on.get() != "auto":
        return None
    if isinstance(adjacency, GraphAdjacency) and adjacency.in_layout:
        return None
    arcs = adjacency.csr or adjacency.arcs(of_edges=False)
    if weights is None:
        return eager.aggregate(arcs, data, reduce, own=own)
    if weights.values.dim() != 1:
        return None
    return eager.aggregate(arcs, data, reduce, weights.values, lambda: weights.transposed(adjacency), own)


def _in_layout(adjacency: GraphAdjacency, data: Tensor, reduce: str, weights: Scale) -> Tensor:
    """The reduction in the layout of the graph; a sum with the data scaled before and after it."""
    scale = None if weights.values is None else column(weights.values, data)
    sent = data if scale is None else data * scale
    of_arcs = weights.of_arcs if isinstance(weights.of_arcs, Tensor) else None
    received = adjacency.over_layout(sent, reduce, "copy" if weights.of_arcs is False else "mul", of_arcs)
    received = zero_unreached(adjacency, received, reduce)
    if isinstance(weights.own, Tensor):
        own = column(weights.own, sent)
        received = received + torch.where(own == 0, 0, own * sent)  # not NaN of infinite data
    elif weights.own:
        received = torch.add(received, sent, alpha=weights.own)
    return received if scale is None else received * scale


def _transpose(adjacency: Adjacency, numbered: bool) -> Csr:
    """The transpose of the rows, for gradients; `numbered` for those of weights."""
    columns = adjacency.columns
    _set_owner(columns)
    permutation = adjacency.transpose_permutation if numbered else None
    return Csr.unchecked(columns.offset, columns.neighbors, permutation, 0)


def _set_owner(stored: Graph) -> None:
    """Let operators find the graph by its tensors."""
    if not torch.compiler.is_compiling():
        set_owner(stored.neighbors, stored)
