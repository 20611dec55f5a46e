"""The registered operators on edges: numbers of edges from those at their ends, sums of them at the vertices, and their
softmax by row, on any backend.

`apply_at_ends` and `sum_edges` are closed under differentiation: the gradient of a product at an edge is a weighted sum
over the edges of each end, and that of the sum is a product at each edge again, by the same arcs or by their other end.
A gradient is pulled from that other end, and adds in an order of its own: nothing depends on which thread comes first.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.library import register
from tgraph.kernels import choose
from tgraph.kernels.autograd.segments import take
from tgraph.kernels.call import Call
from tgraph.kernels.portable.edges import Sides

_SIDES = (
    "Tensor offset, Tensor neighbors, Tensor? number, Tensor? back_offset, Tensor? back_neighbors, Tensor? back_number"
)
_NONE = (None,) * 9  # the gradients of arguments that have none


def _serving(operation: str, data: Tensor, backend: str, edge: str = "copy") -> Any:
    return choose(backend, Call(operation, data, edge=edge)).run


# ---- both ends ------------------------------------------------------------------------------------------------------


def _apply(source: Tensor, target: Tensor, *rest: Any) -> Tensor:
    *sides, operation, heads, backend = rest
    return _serving("apply_at_ends", source, backend, operation)(source, target, Sides(*sides), operation, heads)


def _apply_fake(source: Tensor, target: Tensor, *rest: Any) -> Tensor:
    operation, heads = rest[6:8]
    return source.new_empty((rest[1].shape[0], heads if operation == "dot" else source.shape[1]))


def _save_apply(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    source, target, *sides, ctx.operation, _, ctx.backend = inputs
    to_source, to_target = ctx.needs_input_grad[:2]
    multiplies, divides = ctx.operation in ("mul", "dot"), ctx.operation == "div"
    keeps_source = to_target and (multiplies or divides)
    keeps_target = (to_source and multiplies) or divides
    ctx.save_for_backward(source if keeps_source else None, target if keeps_target else None, *sides)


def _apply_gradient(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    source, target, *held = ctx.saved_tensors
    sides, divides = Sides(*held), ctx.operation == "div"
    to_source = to_target = None
    if ctx.needs_input_grad[0]:
        to_source = sum_edges(grad, 1 / target if divides else target, *sides.opposite(), ctx.backend)
    if ctx.needs_input_grad[1]:
        to_target = sum_edges(grad, source, *sides, ctx.backend)
        if divides:
            to_target = to_target / target.square()
        to_target = -to_target if ctx.operation in ("sub", "div") else to_target
    return to_source, to_target, *_NONE


apply_at_ends = register(
    f"apply_at_ends(Tensor source, Tensor target, {_SIDES}, str operation, SymInt heads, str backend) -> Tensor",
    _apply,
    _apply_fake,
    _save_apply,
    _apply_gradient,
)


# ---- sums at one end ------------------------------------------------------------------------------------------------


def _sum(weight: Tensor, data: Tensor | None, *rest: Any) -> Tensor:
    *sides, backend = rest
    return _serving("sum_edges", weight if data is None else data, backend)(weight, data, Sides(*sides))


def _sum_fake(weight: Tensor, data: Tensor | None, *rest: Any) -> Tensor:
    columns = weight.shape[1] if data is None else data.shape[1]
    return weight.new_empty((rest[0].shape[0] - 1, columns))


def _save_sum(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    weight, data, *sides, ctx.backend = inputs
    ctx.heads = weight.shape[1]
    ctx.save_for_backward(weight if ctx.needs_input_grad[1] else None, data, *sides)


def _sum_gradient(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    weight, data, *held = ctx.saved_tensors
    sides = Sides(*held)
    to_weight = to_data = None
    if ctx.needs_input_grad[0]:
        to_weight = _products(grad, data, sides, ctx.heads, ctx.backend)
    if ctx.needs_input_grad[1]:
        to_data = sum_edges(weight, grad, *sides.opposite(), ctx.backend)
    return to_weight, to_data, *_NONE[:7]


def _products(grad: Tensor, data: Tensor | None, sides: Sides, heads: int, backend: str) -> Tensor:
    """What each edge gets of the gradient [rows, columns] of a sum."""
    if data is None:
        return take(grad, sides.row_of_edge())
    operation = "mul" if heads == data.shape[1] else "dot"
    return apply_at_ends(data, grad, *sides, operation, heads, backend)


sum_edges = register(
    f"sum_edges(Tensor weight, Tensor? data, {_SIDES}, str backend) -> Tensor",
    _sum,
    _sum_fake,
    _save_sum,
    _sum_gradient,
)


# ---- softmax --------------------------------------------------------------------------------------------------------


def _softmax(score: Tensor, *rest: Any) -> Tensor:
    *rows, backend = rest
    return _serving("edge_softmax", score, backend)(score, Sides(*rows))


def _save_softmax(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    _, *rows, ctx.backend = inputs
    ctx.save_for_backward(output, *rows)


def _softmax_gradient(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    return edge_softmax_gradient(grad, *ctx.saved_tensors, ctx.backend), *_NONE[:4]


def _softmax_back(grad: Tensor, alpha: Tensor, *rest: Any) -> Tensor:
    *rows, backend = rest
    return _serving("edge_softmax_gradient", alpha, backend)(grad, alpha, Sides(*rows))


def _save_back(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    *tensors, ctx.backend = inputs
    ctx.save_for_backward(*tensors)


def _back_gradient(ctx: Any, given: Tensor) -> tuple[Tensor | None, ...]:
    """Of alpha * (grad - sum(alpha * grad)), with sums by row: to grad the same again, for the map is symmetric."""
    grad, alpha, *rows = ctx.saved_tensors
    sides = Sides(*rows)
    to_grad = edge_softmax_gradient(given, alpha, *rows, ctx.backend)
    row = sides.row_of_edge()
    inner = take(sum_edges(alpha * grad, None, *sides, ctx.backend), row)
    outer = take(sum_edges(alpha * given, None, *sides, ctx.backend), row)
    return to_grad, given * (grad - inner) - grad * outer, *_NONE[:4]


_ROWS = "Tensor offset, Tensor neighbors, Tensor? number, str backend"

edge_softmax = register(
    f"edge_softmax(Tensor score, {_ROWS}) -> Tensor",
    _softmax,
    lambda score, *rest: torch.empty_like(score, memory_format=torch.contiguous_format),
    _save_softmax,
    _softmax_gradient,
)
edge_softmax_gradient = register(
    f"edge_softmax_gradient(Tensor grad, Tensor alpha, {_ROWS}) -> Tensor",
    _softmax_back,
    lambda grad, alpha, *rest: torch.empty_like(alpha, memory_format=torch.contiguous_format),
    _save_back,
    _back_gradient,
)
