"""Pulling over padded slices by the kernel in `layouts/sell.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.native.aggregation.arcs import PULL, flat, number_of, refuses_pair
from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.operators.aggregation import slices as declared
from tgraph.kernels.operators.aggregation.slices import Slices
from tgraph.kernels.operators.linear.linear import finished
from tgraph.kernels.reductions import REDUCTIONS, Reduction


def refuses(slices: Slices, data: Tensor, reduction: Reduction, edge: str) -> str | None:
    """Why a pull of data [n, columns] is not supported, None if it is."""
    if slices.neighbors.dtype != torch.int32:
        return "it reads int32 neighbors"
    return refuses_pair(data.dtype, reduction.name, edge) or refuses_data(data)


def refuses_step(slices: Slices, step: AffineStep) -> str | None:
    """Why a step is not supported, None if it is."""
    weights = slices.weights
    if step.x.dtype != torch.float32 or (weights is not None and weights.dtype != torch.float32):
        return "it adds float32 in float64, with weights of float32"
    return refuses(slices, step.x[:, None], REDUCTIONS["sum"], "mul" if step.weighted else "copy")


def pull(slices: Slices, data: Tensor, reduction: Reduction, edge: str, total: torch.dtype | None = None) -> Tensor:
    """Added along the row, whatever the number of threads. float32 may be reduced in a `total` of float64."""
    total = total or data.dtype
    result, weights = torch.empty_like(data, dtype=total), slices.weights
    getattr(compiled(), PULL[total].replace("pull", "pull_slices"))(
        slices.offset,
        slices.neighbors,
        slices.length,
        slices.order,
        slices.height,
        flat(data),
        data.shape[1],
        None if edge == "copy" or weights is None else flat(weights),
        reduction.name,
        edge,
        number_of(reduction.identity(data.dtype), total),
        flat(result),
    )
    return result


implements(declared.pull_slices, refuses)(pull)


@implements(declared.step_slices, refuses_step)
def step_slices(slices: Slices, step: AffineStep) -> StepResult:
    """float32 is added in float64 without a converted copy."""
    edge = "mul" if step.weighted else "copy"
    return finished(step, pull(slices, step.x[:, None], REDUCTIONS["sum"], edge, torch.float64)[:, 0])
