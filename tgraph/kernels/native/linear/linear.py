"""A step of an affine iteration by the kernel in `power.cpp`: one pass over the arcs, in memory that is reused."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.subgraph import Subgraph
from tgraph.core.system.pages import fresh, settle
from tgraph.kernels.affine import AffineStep, Repeat, StepResult
from tgraph.kernels.call import Call
from tgraph.kernels.native.aggregation import grouping
from tgraph.kernels.native.aggregation.arcs import flat
from tgraph.kernels.native.aggregation.grouping import gathered
from tgraph.kernels.native.base.support import compiled, implements, refuses_call
from tgraph.kernels.operators.linear import linear as declared

_WEIGHTS = (torch.float32, torch.float64, torch.int32, torch.int64)


def refuses(call: Call) -> str | None:
    """Why a call is not supported: its gradient, or dtypes that the kernel was not compiled for."""
    if call.needs_gradient:
        return "it computes no gradients"
    if call.data.dtype not in (torch.float32, torch.float64):
        return f"it computes float32 and float64, the values are {call.data.dtype}"
    if isinstance(call.weights, Tensor) and call.weights.dtype not in _WEIGHTS:
        return f"it reads weights of float32, float64, int32 and int64, these are {call.weights.dtype}"
    for tensor in call.others:
        if tensor.dim() and tensor.dtype != call.data.dtype:
            return f"the scale, bias and measure must have the dtype of the values, {call.data.dtype}"
    return None


@implements(declared.affine_step, refuses_call(refuses))
def affine_step(sub: Subgraph, step: AffineStep) -> StepResult:
    """As the portable twin, but for the order in which the values are added up. Writes into the spare tensors. The
    same bits for any number of threads."""
    values = fresh(step.before.shape, step.before.dtype) if step.spare[0] is None else step.spare[0]
    next_x = None if step.scale is None else memory_of_next_x(step)
    neighbors, x = gathered(sub.graph.transpose_unchecked() if sub.mirrored else sub.graph, flat(step.x))
    settle(x, len(neighbors))
    rows = sub.offset, neighbors, flat(step.weights)
    in_cache = (
        x is step.x and x.nbytes < 2 * grouping.cache_bytes()
    )  # else steps are counted, until sources are grouped
    more = ONCE if step.repeat is None or not in_cache else following(step, step.repeat)
    found = compiled().affine_step(*rows, x, *coefficients(step), *wanted(step), values, next_x, *more)
    result = as_result(step, values, next_x, *found[:3])
    result.steps = steps = found[3]
    if more is not ONCE and steps > 1:
        torch.autograd.graph.increment_version([x])
        if steps % 2 == 0:  # the memory of x has what was written last
            result.next_x = x
            result.values = x if next_x is None else values
    return result


ONCE = 1, -1.0, 0.0, 0.0, 0.0, 0.0


def following(step: AffineStep, repeat: Repeat) -> tuple[Any, ...]:
    """The last arguments of the kernel, for the steps after the first."""
    bias = 0.0 if isinstance(step.bias, Tensor) else step.bias
    return repeat.most, repeat.tolerance, repeat.beta, repeat.rate, bias, repeat.seconds


def memory_of_next_x(step: AffineStep) -> Tensor:
    """Where to write the next x."""
    return fresh(step.before.shape, step.before.dtype) if step.spare[1] is None else step.spare[1]


def coefficients(step: AffineStep) -> tuple[Tensor | float | None, ...]:
    """The arguments of kernels after x."""
    bias = step.bias
    return (
        flat(step.before),
        flat(step.scale),
        flat(bias) if isinstance(bias, Tensor) else None,
        flat(step.measure),
        float(step.alpha),
        float(step.beta),
        0.0 if isinstance(bias, Tensor) else float(step.beta) * bias,
    )


def wanted(step: AffineStep) -> tuple[bool, bool]:
    """Whether to compute the total and the dangling mass."""
    return "total" in step.wanted, "dangling_mass" in step.wanted


def as_result(
    step: AffineStep, values: Tensor, next_x: Tensor | None, change: float, total: float, dangling_mass: float
) -> StepResult:
    """The tensors that a kernel has written, next_x None where it is the values, and the wanted numbers."""
    written = [tensor for tensor in (values, next_x) if tensor is not None and not tensor.is_inference()]
    torch.autograd.graph.increment_version(written)  # a backward pass that saved them must raise
    wants_total, wants_mass = wanted(step)
    return StepResult(
        values,
        values if next_x is None else next_x,
        change,
        total if wants_total else None,
        dangling_mass if wants_mass else None,
    )
