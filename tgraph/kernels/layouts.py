"""The layout backend: operators on graphs whose arcs are in a layout of their own (`tgraph.formats`), computed there.

A layout offers one thing, a pull over all of its rows. What needs rows one by one, or arcs in their stored order, is
left to the backends after this one, for which the graph decodes them. A layout that streams offers relaxations and
union-find of its own too, since what it decodes has to fit a budget.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.library import needs_grad
from tgraph.core.subgraph import Received, Subgraph
from tgraph.kernels import portable
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.call import Call, not_plain
from tgraph.kernels.messages import across, column, is_per_arc, messages_of, sent_dtype
from tgraph.kernels.reductions import REDUCTIONS, Reduction

__all__ = ["affine_step", "aggregate", "fixpoint", "join", "name", "refuses", "relax"]

name = "layout"

# What a layout reduces by, where the name is another.
KERNEL = {"mean": "sum", "any": "max", "all": "min"}
NARROW = (torch.float16, torch.bfloat16)


def serves(backend: str, call: Call) -> bool:
    """True where this backend serves a call that is made to the backend of that name."""
    if call.sub is None or call.sub.graph.layout is None or backend not in ("auto", name):
        return False
    return refuses(call) is None


def refuses(call: Call) -> str | None:
    """Why a call is not served, None where it is."""
    if call.sub is None or call.sub.graph.layout is None:
        return "the graph is stored in CSR, in no layout of its own"
    if why := not_plain(call):
        return why
    if is_per_arc(call.weights):
        return "weights that are not the graph's own go with the arcs in stored order"
    return _REFUSALS[call.operation](call, call.sub)


# ---- aggregate ------------------------------------------------------------------------------------------------------


def _refuses_aggregate(call: Call, sub: Subgraph) -> str | None:
    reduction = cast(Reduction, call.reduction)
    if not sub.selection.is_whole:
        return "it has no pull over some rows"
    if not call.data.numel():
        return "the data has no columns or no rows"
    dtype = _message_dtype(call, sub)
    if call.weights_in_layout and (why := _refuses_own_weights(call.edge, reduction, dtype, sub)):
        return why
    if needs_grad(call.data) and (reduction.name not in ("sum", "mean") or _edge(call) in ("min", "max")):
        return f"gradients of {reduction.name!r} with edge={call.edge!r} follow single arcs"
    return _layout(_receiving(sub)).refuses(
        KERNEL.get(reduction.name, reduction.name), _edge(call), _pulled_in(dtype, reduction, sub)
    )


def _refuses_own_weights(edge: str, reduction: Reduction, dtype: torch.dtype, sub: Subgraph) -> str | None:
    if reduction.logical or (reduction.name == "mean" and not dtype.is_floating_point):
        return f"{reduction.name!r} of weighted messages of {dtype} is not among what layouts pull"
    if sub.sends_partly:
        return "vertices that are not heard have weights all the same"
    return None


def _message_dtype(call: Call, sub: Subgraph) -> torch.dtype:
    reduction = cast(Reduction, call.reduction)
    if call.weights_in_layout:
        dtype = sent_dtype(call.dtype or call.data.dtype, reduction, call.edge)
        return torch.promote_types(dtype, cast(torch.dtype, sub.graph.weight_dtype))
    return messages_of(call.data[:1], reduction, call.edge, call.weights, call.dtype).data.dtype


def _computed_in(dtype: torch.dtype) -> torch.dtype:
    """16-bit floating numbers are rounded at the end, not on the way."""
    return torch.float32 if dtype in NARROW else dtype


def _pulled_in(dtype: torch.dtype, reduction: Reduction, sub: Subgraph) -> torch.dtype:
    """The same, but for sums in a layout that rounds them at the end itself; a mean is a sum that need not fit."""
    return dtype if reduction.name == "sum" and _layout(_receiving(sub)).rounds_once else _computed_in(dtype)


def _edge(call: Call) -> str:
    return call.edge if call.weights_in_layout else "copy"  # a weight that is one for all is applied to the senders


def aggregate(
    sub: Subgraph,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    dtype: torch.dtype | None = None,
) -> Received:
    """As the portable `aggregate`, over all arcs. `weights` is None where they are the graph's own. Its sums and means
    record a gradient."""
    call = Call("aggregate", data, reduction, edge, weights, dtype=dtype, sub=sub)
    if call.weights_in_layout:
        messages = messages_of(data.to(_message_dtype(call, sub)), reduction, "copy", None)
    else:
        messages = messages_of(data, reduction, edge, weights, dtype)
    kernel, sent = REDUCTIONS[KERNEL.get(reduction.name, reduction.name)], messages.data.dtype
    values = messages.data.to(_pulled_in(sent, reduction, sub)).contiguous()
    if sub.sends_partly:
        values = torch.where(sub.active.mask[:, None], values, kernel.identity(values.dtype))
    pulled = _pulled(sub, values, kernel, _edge(call))
    if reduction.name == "mean":
        pulled = pulled / column(_heard(sub, pulled.dtype), pulled)
    result = pulled != 0 if reduction.logical else pulled.to(sent)
    return Received(result.reshape(len(result), *messages.shape))


def _heard(sub: Subgraph, dtype: torch.dtype) -> Tensor:
    """How many active neighbours each row has, [n], at least 1."""
    rows = _receiving(sub)
    if not sub.sends_partly:
        return rows.out_degree.clamp(min=1).to(dtype)
    ones = sub.active.mask.to(torch.int64)[:, None]
    return _layout(rows).pull(ones, "sum")[:, 0].clamp_(min=1).to(dtype)


def _receiving(sub: Subgraph) -> Graph:
    """The graph whose rows receive: those that a pull holds, and the transpose of those that a push holds."""
    return sub.graph.transpose_detached() if (sub.mode == "pull") == sub.mirrored else sub.graph


def _layout(graph: Graph) -> Any:
    """The layout of a graph that is in one: a `Storage`, or one that streams, which offers more."""
    return graph.layout


def _pulled(sub: Subgraph, data: Tensor, reduction: Reduction, edge: str) -> Tensor:
    if needs_grad(data):
        return _Sum.apply(data, _receiving(sub), edge)
    return _layout(_receiving(sub)).pull(data, reduction.name, edge)


class _Sum(torch.autograd.Function):
    """A sum over the rows of a graph, whose gradient is one over the rows of its transpose."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, graph: Graph, edge: str) -> Tensor:
        ctx.graph, ctx.edge = graph, edge
        return _layout(graph).pull(data.detach(), "sum", edge)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        factor = "mul" if ctx.edge == "mul" else "copy"  # the derivative of x * w, and of x and x + w
        return _Sum.apply(gradients[0].contiguous(), ctx.graph.transpose_detached(), factor), None, None


# ---- relax ----------------------------------------------------------------------------------------------------------

# Integers stand for unreachable from here on: their sum with any weight is in range, and no other sum is as large.
_FAR = 2**61


def _refuses_relax(call: Call, sub: Subgraph) -> str | None:
    if call.needs_gradient:
        return "it records no gradient"
    if not sub.selection.is_whole:
        return None  # rows that are decoded, or read, one by one
    return None if _layout(sub.graph).streams else _refuses_relaxed_pull(call, sub)


def _refuses_relaxed_pull(call: Call, sub: Subgraph) -> str | None:
    reduction = cast(Reduction, call.reduction)
    if call.weights_in_layout:
        if call.edge != "add":
            return f"edge={call.edge!r} would let vertices without a value send the weight alone"
        if not call.data.dtype.is_floating_point and not _fits(call.data, reduction, sub.graph):
            return "sums might not fit half of int64"
    return _layout(_receiving(sub)).refuses(reduction.name, _edge(call), _relaxed_in(call))


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
    return torch.int64 if call.weights_in_layout and not dtype.is_floating_point else _computed_in(dtype)


def relax(
    sub: Subgraph,
    values: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    bound: Callable[[], Tensor | None],
) -> Frontier:
    """As the portable `relax`. A pull reads all arcs; a push from some vertices decodes their rows, or reads those of a
    layout that streams."""
    call = Call("relax", values, reduction, edge, weights, sub=sub)
    if _reads_rows(call, sub):
        return _layout(sub.graph).relax_rows(sub, values, reduction, edge, weights)
    if not sub.selection.is_whole:
        return portable.relax(sub, values, reduction, edge, weights, bound)
    identity = reduction.identity(values.dtype)
    silent = values == identity
    if not sub.active.is_everything:
        silent = silent | ~column(sub.active.mask, values)
    sent = values if weights is None else across(values, edge, weights).to(values.dtype)
    dtype = _relaxed_in(call)
    far = torch.where(silent, _silent(reduction, dtype, call.weights_in_layout), sent.to(dtype))
    best = _layout(_receiving(sub)).pull(far.flatten(1) if far.dim() > 1 else far[:, None], reduction.name, _edge(call))
    best = best.reshape(values.shape)
    if call.weights_in_layout and not dtype.is_floating_point:
        best = torch.where((best >= _FAR) | (best <= -_FAR), identity, best)
    best = best.to(values.dtype)
    better = reduction.better(best, values)
    values.copy_(torch.where(better, best, values))
    return Frontier(sub.graph, mask=better if better.dim() == 1 else better.flatten(1).any(1))


def _reads_rows(call: Call, sub: Subgraph) -> bool:
    """True for a graph that streams, where the rows of the active vertices push along all of their arcs; so does what
    is a pull by name, but is none that its layout serves."""
    if not _layout(sub.graph).streams or sub.selection.width is not None:
        return False
    if sub.mode == "push":
        return not sub.mirrored
    return sub.mirrored and sub.is_whole and _refuses_relaxed_pull(call, sub) is not None


def _silent(reduction: Reduction, dtype: torch.dtype, grows: bool) -> float | int | bool:
    """What a vertex sends that has nothing to send."""
    if grows and not dtype.is_floating_point:
        return 2 * _FAR if reduction.name == "min" else -2 * _FAR
    return reduction.identity(dtype)


# ---- affine_step ----------------------------------------------------------------------------------------------------


def _refuses_step(call: Call, sub: Subgraph) -> str | None:
    if call.needs_gradient:
        return "it records no gradient"
    return _layout(_receiving(sub)).refuses("sum", _edge(call), torch.float64)


def affine_step(sub: Subgraph, step: AffineStep) -> StepResult:
    """As the portable `affine_step`; the layout may have one that is fused."""
    return _layout(_receiving(sub)).affine_step(step)


# ---- what layouts that stream offer besides -------------------------------------------------------------------------


def _streams(call: Call, sub: Subgraph) -> str | None:
    return None if _layout(sub.graph).streams else "the loops walk the rows of a CSR"


def _refuses_fixpoint(call: Call, sub: Subgraph) -> str | None:
    if why := _streams(call, sub):
        return why
    if call.data.requires_grad:
        return "it overwrites values, whose gradient would be lost"
    if call.edge == "mul":
        return "products may improve without end along a cycle, which only a limit of rounds would tell"
    if call.edge == "add" and sub.graph.num_arcs:
        reduction = cast(Reduction, call.reduction)
        weights = sub.graph.weight_range if call.weights is None else (call.weights, call.weights)
        if not (weights[0] >= 0 if reduction.name == "min" else weights[1] <= 0):
            return "a cycle may improve without end, which only a limit of rounds would tell"
    return None


def fixpoint(
    graph: Graph, values: Tensor, active: Frontier, reduction: Reduction, edge: str, weights: Tensor | float | None
) -> Any:
    """A relaxation at its start, in whatever order suits the blocks that a layout reads; see `fused`."""
    return _layout(graph).fixpoint(graph, values, active, reduction, edge, weights)


def _refuses_join(call: Call, sub: Subgraph) -> str | None:
    if not sub.selection.is_whole:
        return "it joins along all arcs at once"
    return _streams(call, sub)


def join(sub: Subgraph, label: Tensor) -> bool:
    """See `tgraph.primitives.union_find.join`."""
    stored = sub.graph.transpose_detached() if sub.mirrored else sub.graph
    return _layout(stored).join(stored, label)


_REFUSALS: dict[str, Callable[[Call, Subgraph], str | None]] = {
    "aggregate": _refuses_aggregate,
    "relax": _refuses_relax,
    "affine_step": _refuses_step,
    "fixpoint": _refuses_fixpoint,
    "join": _refuses_join,
}
