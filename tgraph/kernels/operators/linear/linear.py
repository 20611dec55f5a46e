"""A step of an affine iteration in torch operators."""

from __future__ import annotations

from torch import Tensor

from tgraph.core.dispatch import chosen_operator
from tgraph.core.subgraph import Subgraph
from tgraph.core.system import devices
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.operators.aggregation.aggregation import reduce_rows
from tgraph.kernels.reductions import REDUCTIONS


@chosen_operator
def affine_step(sub: Subgraph, step: AffineStep) -> StepResult:
    """The step over the arcs of a whole pull; in new memory, whatever is spare."""
    return finished(step, received(sub, widened(step.x), step.weights, 0, len(sub.offset) - 1))


def finished(step: AffineStep, received: Tensor) -> StepResult:
    """The step in which the vertices have `received` [n]."""
    values = (step.alpha * received + step.beta * step.bias).to(step.before.dtype)
    return as_result(step, values, scaled(values, step.scale))


def as_result(step: AffineStep, values: Tensor, next_x: Tensor) -> StepResult:
    """The new values with the numbers that are wanted."""
    return StepResult(
        values,
        next_x,
        distance(step.before, values),
        total(values, step.measure) if "total" in step.wanted else None,
        dangling_mass(values, step.scale) if "dangling_mass" in step.wanted else None,
    )


def received(sub: Subgraph, x: Tensor, weights: Tensor | None, first: int, last: int) -> Tensor:
    """The sums of the rows from `first` to `last`."""
    offset = sub.offset[first : last + 1]
    whole = last - first == len(sub.offset) - 1
    begin, end = (0, sub.num_arcs) if whole else (int(offset[0]), int(offset[-1]))
    messages = x.index_select(0, sub.neighbors[begin:end])
    if weights is not None:
        messages = messages * weights[begin:end]
    return reduce_rows(messages, offset - begin, lambda: sub.row_of_arc[begin:end] - first, REDUCTIONS["sum"])


def scaled(values: Tensor, scale: Tensor | None, first: int = 0, last: int | None = None) -> Tensor:
    """scale * values, for the values of the vertices from `first` to `last`."""
    return values if scale is None else scale[first:last] * values


def distance(before: Tensor, after: Tensor) -> Tensor:
    """The L1 distance, without gradient."""
    return (widened(after.detach()) - widened(before.detach())).abs().sum()


def total(values: Tensor, measure: Tensor | None) -> Tensor:
    """The sum of the values, weighed by the measure."""
    return wide_sum(values) if measure is None else (widened(values) * measure).sum()


def dangling_mass(values: Tensor, scale: Tensor | None) -> Tensor:
    """The sum of the values whose scale is 0."""
    return wide_sum(values.new_zeros(()) if scale is None else values * (scale == 0).to(values.dtype))


def wide_sum(values: Tensor) -> Tensor:
    """Their sum in float64, without a copy of them that is twice as large."""
    return values.sum(dtype=devices.widest_float(values))


def widened(values: Tensor) -> Tensor:
    """The values in float64."""
    return values.to(devices.widest_float(values))
