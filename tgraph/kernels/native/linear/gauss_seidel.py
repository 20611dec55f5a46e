"""A step of block Gauss-Seidel by the kernel in `gauss_seidel.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.subgraph import Subgraph
from tgraph.core.system import native
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.call import Call
from tgraph.kernels.native.aggregation.arcs import flat
from tgraph.kernels.native.base.pages import fresh, settle
from tgraph.kernels.native.linear import linear


def refuses(call: Call) -> str | None:
    """Why a call is not served: as for an affine step, or the dtype of the neighbors."""
    if call.sub is not None and call.sub.neighbors.dtype != torch.int32:
        return "blocks of rows are compiled for neighbors of int32"
    return linear.refuses(call)


def gauss_seidel_step(sub: Subgraph, step: AffineStep, blocks: int, rescale: Tensor | float) -> StepResult:
    """As the portable twin, but rows of a stripe (see `gauss_seidel.cpp`) read what those before them have written.
    Overwrites `x`. The same bits for any number of threads."""
    values = fresh(step.before.shape, step.before.dtype) if step.spare[0] is None else step.spare[0]
    next_x, neighbors, x, weights = linear.memory_of_next_x(step), sub.neighbors, flat(step.x), step.weights
    if weights is not None and weights.dtype == torch.int64:
        weights = weights.double()  # products are added in float64
    settle(x, len(neighbors))
    kernels = cast(Any, native.load())
    rows = flat(sub.offset), flat(neighbors), flat(weights)
    numbers = float(rescale), *linear.wanted(step)
    found = kernels.gauss_seidel_step(*rows, x, *linear.coefficients(step), *numbers, values, next_x, blocks)
    return linear.as_result(step, values, next_x, *found)
