"""A step of block Gauss-Seidel in torch operators."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from tgraph.core.subgraph import Subgraph
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.portable.linear import as_result, received, scaled, widened


def gauss_seidel_step(sub: Subgraph, step: AffineStep, blocks: int, rescale: Tensor | float) -> StepResult:
    """A step from rescale * x over blocks of rows, the last first, each of which reads the x that those before it have
    just written. Other backends overwrite `x`, and may let rows read what rows of the same block have written."""
    x, bias, parts = (step.x * rescale).to(step.x.dtype), step.bias, []
    for first, last in reversed(row_blocks(sub.offset, blocks)):
        sums = received(sub, widened(x), step.weights, first, last)
        constant = bias[first:last] if isinstance(bias, Tensor) else bias
        parts.append((step.alpha * sums + step.beta * constant).to(step.before.dtype))
        x = x.slice_scatter(scaled(parts[-1], step.scale, first, last).to(x.dtype), 0, first, last)
    return as_result(step, torch.cat(parts[::-1]), x)


def row_blocks(offset: Tensor, blocks: int) -> list[tuple[int, int]]:
    """(first, last) rows of `blocks` blocks of about equal work, which is a row or an arc."""
    num_rows = len(offset) - 1
    if blocks == 1:
        return [(0, num_rows)]
    work_before = offset + torch.arange(num_rows + 1, device=offset.device)
    size, rest = divmod(int(work_before[-1]), blocks)
    ends = torch.tensor([size * (i + 1) + min(i + 1, rest) for i in range(blocks)], device=offset.device)
    return list(itertools.pairwise([0, *torch.searchsorted(work_before, ends).tolist()]))
