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
from tgraph.kernels.reductions import Reduction


def refuses(slices: Slices, data: Tensor, reduce: str, edge: str) -> str | None:
    """Why a pull of data [n, columns] is not supported, None if it is."""
    if slices.neighbors.dtype != torch.int32:
        return "it reads int32 neighbors"
    return refuses_pair(data.dtype, reduce, edge) or refuses_data(data)


def pull(
    slices: Slices, data: Tensor, reduce: str, edge: str, identity: float, total: torch.dtype | None = None
) -> Tensor:
    """The reduction of each row over data [n, columns], in the dtype of it, which the weights have too: added along the
    row, whatever the number of threads. float32 may be reduced in a `total` of float64."""
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
        reduce,
        edge,
        number_of(identity, total),
        flat(result),
    )
    return result


def _refuses_pull(slices: Slices, data: Tensor, reduction: Reduction, edge: str) -> str | None:
    return refuses(slices, data, reduction.name, edge)


def _refuses_step(slices: Slices, step: AffineStep) -> str | None:
    weights = slices.weights
    if step.x.dtype != torch.float32 or (weights is not None and weights.dtype != torch.float32):
        return "it adds float32 in float64, with weights of float32"
    return refuses(slices, step.x[:, None], "sum", "mul" if step.weighted else "copy")


@implements(declared.pull_slices, _refuses_pull)
def _pull(slices: Slices, data: Tensor, reduction: Reduction, edge: str) -> Tensor:
    return pull(slices, data, reduction.name, edge, reduction.identity(data.dtype))


@implements(declared.step_slices, _refuses_step)
def _step(slices: Slices, step: AffineStep) -> StepResult:
    """float32 is added in float64 without a converted copy."""
    edge = "mul" if step.weighted else "copy"
    return finished(step, pull(slices, step.x[:, None], "sum", edge, 0.0, torch.float64)[:, 0])
