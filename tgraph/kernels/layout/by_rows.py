"""Aggregates over rows of a layout that has no pull for them: the rows are decoded, as many as fit at once, and reduced
by the backends of decoded graphs. Nothing that was decoded is cached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from tgraph.core.dispatch import LAYOUT
from tgraph.core.graph import Graph
from tgraph.core.rows import Decoded, LayoutSelection
from tgraph.core.subgraph import Received, Subgraph
from tgraph.core.system.library import in_functorch, needs_grad
from tgraph.kernels import choose
from tgraph.kernels.call import Call
from tgraph.kernels.layout.arcs import layout_of, parts
from tgraph.kernels.messages import column, is_per_arc
from tgraph.kernels.reductions import REDUCTIONS, Reduction


def supports(call: Call) -> bool:
    """Whether the arcs of a call are rows of a layout, of which no gradient is recorded."""
    return _are_in_layout(call) and not _is_recorded(call)


def records(call: Call) -> bool:
    """Whether the arcs of a call are rows of a layout, and a gradient is recorded, message by message."""
    by_name = call.sub is not None and call.sub.backend not in ("auto", LAYOUT)
    return _are_in_layout(call) and _is_recorded(call) and not by_name and not in_functorch()


def _are_in_layout(call: Call) -> bool:
    sub = call.sub
    if sub is None or sub.graph.layout is None or sub.graph.layout.is_distributed or torch.compiler.is_compiling():
        return False
    return isinstance(sub.selection, LayoutSelection) and sub.selection.width is None


def _is_recorded(call: Call) -> bool:
    return needs_grad(call.data, call.weights if isinstance(call.weights, Tensor) else None)


def aggregate(call: Call, refused: dict[str, str]) -> Received:
    """As the portable `aggregate`; `refused` : the backends that do not support the call, and why."""
    sub, reduction = call.sub, call.reduction
    assert sub is not None and reduction is not None
    if sub.mode == "push" and reduction.name == "mean":
        return _mean(call, refused)
    found = (_received(part, refused) for part in _parts(call, sub))
    if sub.mode == "pull":
        return Received(torch.cat([each.values for each in found]), sub.rows)
    return together(found, sub, reduction)


def _received(call: Call, refused: dict[str, str]) -> Received:
    assert call.sub is not None
    run = choose(call.sub.backend, call, dict(refused)).run
    found: Received = run(call.sub, call.data, call.reduction, call.edge, call.weights, call.dtype)
    return found


def _parts(call: Call, sub: Subgraph) -> Iterator[Call]:
    """The call for some rows after others, each part with as many arcs as the layout decodes at once."""
    graph: Graph = sub.selection.graph  # type: ignore[attr-defined]
    for rows, arcs in parts(graph, sub.rows, layout_of(graph).arcs_at_once):
        decoded = Decoded(graph.selection(rows))  # type: ignore[arg-type]
        weights = call.weights
        if call.weights_in_layout:
            weights = decoded.weights
        elif is_per_arc(weights):
            weights = weights[arcs]
        yield replace(call, sub=replace(sub, rows=rows, selection=decoded), weights=weights)


def together(parts: Iterator[Received], sub: Subgraph, reduction: Reduction) -> Received:
    """The parts of a push, reduced at each vertex."""
    first = next(parts)
    second = next(parts, None)
    if second is None and sub.rows is not None:
        return first
    n, values = sub.graph.num_vertices, first.values
    identity = reduction.identity(values.dtype)
    total = torch.full((n, *values.shape[1:]), identity, dtype=values.dtype, device=values.device)
    reached = torch.zeros(n, dtype=torch.bool, device=values.device)
    for part in (first, *([] if second is None else [second]), *parts):
        at = torch.arange(n, device=values.device) if part.vertices is None else part.vertices
        total[at] = _combined(reduction, total[at], part.values)
        reached[at] = True
    if sub.rows is None:
        return Received(total)
    vertices = reached.nonzero()[:, 0]
    return Received(total[vertices], vertices)


def _combined(reduction: Reduction, one: Tensor, other: Tensor) -> Tensor:
    if reduction.name in ("sum", "prod"):
        return one + other if reduction.name == "sum" else one * other
    if reduction.logical:
        return one | other if reduction.name == "any" else one & other
    return torch.minimum(one, other) if reduction.name == "min" else torch.maximum(one, other)


def _mean(call: Call, refused: dict[str, str]) -> Received:
    """The mean of a push: a sum over the number of messages."""
    data = call.data if call.data.is_floating_point() else call.data.to(torch.get_default_dtype())
    total = aggregate(replace(call, data=data, reduction=REDUCTIONS["sum"]), refused)
    ones = torch.ones(len(data), dtype=torch.int64, device=data.device)
    count = aggregate(
        replace(call, data=ones, reduction=REDUCTIONS["sum"], edge="copy", weights=None, dtype=None), refused
    )
    if total.vertices is not None and count.vertices is not None and not torch.equal(total.vertices, count.vertices):
        raise AssertionError("the parts of a push reach the same vertices in the same order")
    number = count.values.clamp(min=1).to(total.values.dtype)
    return Received(total.values / column(number, total.values), total.vertices)
