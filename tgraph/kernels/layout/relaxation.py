"""Rounds of relaxations over a layout: a pull over all rows, or a push along rows that are decoded or read."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import Decoded, LayoutSelection
from tgraph.core.subgraph import Subgraph, Weights
from tgraph.kernels.call import Call
from tgraph.kernels.layout.arcs import computed_in, edge_of, given, layout_of, parts, receiving
from tgraph.kernels.layout.streaming import streamed
from tgraph.kernels.messages import across, column
from tgraph.kernels.operators.relaxation import relaxation as portable
from tgraph.kernels.reductions import Reduction

# Integers stand for unreachable from here on: their sum with any weight is in range, and no other sum is as large.
_FAR = 2**61


def refuses(call: Call, sub: Subgraph) -> str | None:
    return "it records no gradient" if call.needs_gradient else None


def _refuses_relaxed_pull(call: Call, sub: Subgraph) -> str | None:
    reduction = cast(Reduction, call.reduction)
    if call.weights_in_layout:
        if call.edge != "add":
            return f"edge={call.edge!r} would let vertices without a value send the weight alone"
        if not call.data.dtype.is_floating_point and not _fits(call.data, reduction, sub.graph):
            return "sums might not fit half of int64"
    return layout_of(receiving(sub)).refuses(reduction.name, edge_of(call), _relaxed_in(call))


def _fits(values: Tensor, reduction: Reduction, graph: Graph) -> bool:
    """Whether no message of a round is mistaken for that of an unreached vertex."""
    most = max(map(abs, graph.weight_range))
    if values.dtype == torch.int64 and values.numel():
        reached = values.masked_fill(values == reduction.identity(values.dtype), 0)
        least, greatest = torch.stack(torch.aminmax(reached)).tolist()
        return most + max(-least, greatest) < _FAR
    return most < _FAR - 2**32


def _relaxed_in(call: Call) -> torch.dtype:
    """The dtype that messages are compared in: integers that grow by weights have room to."""
    dtype = call.data.dtype
    return torch.int64 if call.weights_in_layout and not dtype.is_floating_point else computed_in(dtype)


def relax(
    sub: Subgraph,
    values: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Weights,
    bound: Callable[[], Tensor | None],
) -> Frontier:
    """As the portable `relax`. A pull reads all arcs; a push from some vertices, and what the layout has no pull for,
    decodes their rows, or reads those of a layout that streams."""
    call = Call("relax", values, reduction, edge, weights, sub=sub)
    if _reads_rows(call, sub):
        return streamed(sub.graph).relax_rows(sub, values, reduction, edge, given(weights))
    if not sub.selection.is_whole:
        return portable.relax(sub, values, reduction, edge, given(weights), bound)
    if not layout_of(sub.graph).streams and _refuses_relaxed_pull(call, sub) is not None:
        return _relax_by_rows(sub, values, reduction, edge, given(weights))
    identity = reduction.identity(values.dtype)
    silent = values == identity
    if not sub.active.is_everything:
        silent = silent | ~column(sub.active.mask, values)
    sent = across(values, edge, given(weights)).to(values.dtype)
    dtype = _relaxed_in(call)
    far = torch.where(silent, _silent(reduction, dtype, call.weights_in_layout), sent.to(dtype))
    far = far.flatten(1) if far.dim() > 1 else far[:, None]
    best = layout_of(receiving(sub)).pull(far, reduction.name, edge_of(call))
    best = best.reshape(values.shape)
    if call.weights_in_layout and not dtype.is_floating_point:
        best = torch.where((best >= _FAR) | (best <= -_FAR), identity, best)
    best = best.to(values.dtype)
    better = reduction.better(best, values)
    values.copy_(torch.where(better, best, values))
    return Frontier(sub.graph, mask=better if better.dim() == 1 else better.flatten(1).any(1))


def _relax_by_rows(
    sub: Subgraph, values: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None
) -> Frontier:
    """The round as a push along the rows of the active vertices, decoded part by part."""
    graph, sent = receiving(sub).transpose_detached(), values.clone()
    improved = torch.zeros(len(values), dtype=torch.bool, device=values.device)
    active = None if sub.active.is_everything else sub.active.ids
    for rows, _ in parts(graph, active, layout_of(graph).arcs_at_once):
        arcs = Decoded(LayoutSelection(graph, rows, None, None))
        part = Subgraph(sub.graph, sub.active, "push", rows, arcs, False, scratch=sub.scratch)
        own = arcs.weights if edge != "copy" and weights is None else weights
        improved[portable.relax_push(part, values, sent, reduction, edge, own)] = True
    return Frontier(sub.graph, mask=improved)


def _reads_rows(call: Call, sub: Subgraph) -> bool:
    """True for a graph that streams, where the rows of the active vertices push along all of their arcs; so does what
    is a pull by name, but is none that its layout serves."""
    if not layout_of(sub.graph).streams or sub.selection.width is not None:
        return False
    if sub.mode == "push":
        return not sub.mirrored
    return sub.mirrored and sub.is_whole and _refuses_relaxed_pull(call, sub) is not None


def _silent(reduction: Reduction, dtype: torch.dtype, grows: bool) -> float | int | bool:
    """The message of a vertex that has nothing to send."""
    if grows and not dtype.is_floating_point:
        return 2 * _FAR if reduction.name == "min" else -2 * _FAR
    return reduction.identity(dtype)
