"""Steps of affine iterations over blocks: the memory that they write, and the computation."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.system import devices
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.operators.linear.linear import scaled

# Vertices whose values are converted to float64 at a time.
CHUNK = 2**16


def values_of(step: AffineStep) -> Tensor:
    """Memory for the new values of a step."""
    spare = step.spare[0]
    return torch.empty_like(step.before) if spare is None or spare is step.before else spare


def values_from(step: AffineStep, received: Tensor) -> Tensor:
    """The new values of a step in which the vertices have `received` [n], CHUNK of them at a time."""
    values = values_of(step)
    for begin in range(0, len(values), CHUNK):
        rows = slice(begin, begin + CHUNK)
        constant = step.bias[rows] if isinstance(step.bias, Tensor) else step.bias
        values[rows] = (step.alpha * received[rows] + step.beta * constant).to(values.dtype)
    return values


def as_result(step: AffineStep, values: Tensor) -> StepResult:
    """The result of a step. Its sums are computed CHUNK vertices at a time: float64 copies of all values would take
    memory from the blocks."""
    wide = devices.widest_float(values)
    change, total, dangling_mass = (torch.zeros((), dtype=wide, device=values.device) for _ in range(3))
    wants_total, wants_mass = "total" in step.wanted, "dangling_mass" in step.wanted
    for begin in range(0, len(values), CHUNK):
        rows = slice(begin, begin + CHUNK)
        new = values[rows].to(wide)
        change += (new - step.before[rows].to(wide)).abs().sum()
        if wants_total:
            total += (new if step.measure is None else new * step.measure[rows]).sum()
        if wants_mass and step.scale is not None:
            dangling_mass += (new * (step.scale[rows] == 0)).sum()
    next_x = scaled(values, step.scale)
    return StepResult(values, next_x, change, total if wants_total else None, dangling_mass if wants_mass else None)
