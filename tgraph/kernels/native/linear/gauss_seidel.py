"""Block Gauss-Seidel by the kernels in `gauss_seidel.cpp` and, of several right-hand sides, `columns.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.subgraph import Subgraph
from tgraph.core.system.pages import fresh, settle
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.call import Call
from tgraph.kernels.native.aggregation.arcs import flat
from tgraph.kernels.native.base.support import compiled, implements, refuses_call, refuses_data
from tgraph.kernels.native.linear import linear
from tgraph.kernels.operators.linear import gauss_seidel as declared

SWEEPS = 16  # that a solution takes at least, mostly


def refuses(call: Call) -> str | None:
    """Why a call is not supported: as for an affine step, or the dtype of the neighbors."""
    if call.sub is not None and call.sub.neighbors.dtype != torch.int32:
        return "blocks of rows are compiled for neighbors of int32"
    return linear.refuses(call)


def refuses_columns(
    offset: Tensor, neighbors: Tensor, weights: Tensor | None, scale: Tensor, x: Tensor, bias: Tensor, alpha: float
) -> str | None:
    """Why a call is not supported, None if it is."""
    if any(each is not None and each.requires_grad for each in (weights, scale, x, bias)):
        return "it computes no gradients"
    if x.dtype not in (torch.float32, torch.float64) or not x.is_contiguous():
        return "it computes float32 and float64, in groups of columns that lie one after the other"
    if x.shape[2] not in (1, 2, 4, 8):
        return "groups of 1, 2, 4 and 8 columns are compiled"
    return refuses_data(x)


@implements(declared.gauss_seidel_step, refuses_call(refuses))
def gauss_seidel_step(sub: Subgraph, step: AffineStep, blocks: int, rescale: Tensor | float) -> StepResult:
    """As the portable twin, but rows of a stripe (see `gauss_seidel.cpp`) read what those before them have written.
    Overwrites `x`. The same bits for any number of threads."""
    values = fresh(step.before.shape, step.before.dtype) if step.spare[0] is None else step.spare[0]
    next_x, neighbors, x, weights = linear.memory_of_next_x(step), sub.neighbors, flat(step.x), step.weights
    if weights is not None and weights.dtype == torch.int64:
        weights = weights.double()  # products are added in float64
    settle(x, len(neighbors))
    rows, numbers = (flat(sub.offset), flat(neighbors), flat(weights)), (float(rescale), *linear.wanted(step))
    found = compiled().gauss_seidel_step(*rows, x, *linear.coefficients(step), *numbers, values, next_x, blocks)
    return linear.as_result(step, values, next_x, *found)


@implements(declared.gauss_seidel_columns, refuses_columns)
def gauss_seidel_columns(
    offset: Tensor, neighbors: Tensor, weights: Tensor | None, scale: Tensor, x: Tensor, bias: Tensor, alpha: float
) -> tuple[Tensor, Tensor]:
    """As the portable one, but each row reads the new values of those before it. Overwrites `x`."""
    change = torch.zeros(len(x), x.shape[2], dtype=torch.float64, device="cpu")
    settle(x.view(-1, x.shape[2]), SWEEPS * len(neighbors) * len(x))
    given = offset, neighbors, None if weights is None else weights.double(), scale.to(x.dtype), bias
    compiled().gauss_seidel_columns(*given, alpha, x.view(-1), change.view(-1), x.shape[2])
    torch.autograd.graph.increment_version([x])
    return x, change
