"""A step of an affine iteration, whose sums over arcs are pulled by the kernels of `aggregate`."""

from __future__ import annotations

import torch

from tgraph.core.subgraph import Subgraph
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.call import Call
from tgraph.kernels.cuda.aggregation import aggregate
from tgraph.kernels.operators.linear.linear import finished
from tgraph.kernels.reductions import REDUCTIONS


def refuses(call: Call) -> str | None:
    """Why a call is not supported: its gradient, or values that the kernels do not add in float64."""
    if call.needs_gradient:
        return "it computes no gradients"
    if call.data.dtype not in (torch.float32, torch.float64):
        return f"it computes float32 and float64, the values are {call.data.dtype}"
    return None


def affine_step(sub: Subgraph, step: AffineStep) -> StepResult:
    """As the portable twin."""
    edge, weights = "copy", None
    if step.weights is not None:
        edge, weights = "mul", step.weights.to(torch.float64)
    received = aggregate(sub, step.x, REDUCTIONS["sum"], edge, weights, torch.float64).values
    return finished(step, received)
