"""A step of a linear iteration, whose sums over arcs are pulled by the kernels of `aggregate`."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor

from tgraph.core.subgraph import Subgraph
from tgraph.kernels import portable
from tgraph.kernels.call import Call
from tgraph.kernels.cuda.aggregation import aggregate
from tgraph.kernels.portable.linear import Coefficients, Stepped, stepped
from tgraph.kernels.reductions import REDUCTIONS


def refuses(call: Call) -> str | None:
    """Why a call is not served: its gradient, or values that the kernels do not add in float64."""
    if call.needs_gradient:
        return "it computes no gradients"
    if call.data.dtype not in (torch.float32, torch.float64):
        return f"it computes float32 and float64, the values are {call.data.dtype}"
    return None


def affine_step(
    sub: Subgraph,
    coefficients: Coefficients,
    heard: Tensor,
    before: Tensor,
    weights: Tensor | None,
    alpha: Tensor | float,
    beta: Tensor | float,
    rescale: Tensor | float = 1.0,
    spare: tuple[Tensor | None, Tensor | None] = (None, None),
    wanted: Collection[str] = ("total", "unsent"),
) -> Stepped:
    """As the portable twin, to which steps of several blocks are left."""
    if coefficients.blocks > 1:
        return portable.affine_step(sub, coefficients, heard, before, weights, alpha, beta, rescale, spare, wanted)
    edge = "copy" if weights is None else "mul"
    weights = None if weights is None else weights.to(torch.float64)
    received = aggregate(sub, heard, REDUCTIONS["sum"], edge, weights, torch.float64).values
    return stepped(coefficients, received, before, alpha, beta, wanted)
