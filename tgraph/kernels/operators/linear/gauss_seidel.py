"""A step of block Gauss-Seidel in torch operators."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from tgraph.core.dispatch import chosen_operator, operator
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.operators.aggregation.aggregation import reduce_rows
from tgraph.kernels.operators.linear.linear import as_result, received, scaled, widened
from tgraph.kernels.reductions import REDUCTIONS

COLUMN_BLOCKS = 16


@chosen_operator
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


@operator
def gauss_seidel_columns(
    offset: Tensor, neighbors: Tensor, weights: Tensor | None, scale: Tensor, x: Tensor, bias: Tensor, alpha: float
) -> tuple[Tensor, Tensor]:
    """x'[v] = alpha * (sum over arcs u -> v of weight * scale[u] * x[u]) + bias[v] for x and bias [g, n, w], g groups
    of w columns, by rows in order, and the L1 change of each column, float64 [g, w].

    Blocks of rows read what those before them have written; other backends let each row do so, and overwrite `x`.
    """
    values = x
    for first, last in row_blocks(offset, COLUMN_BLOCKS):
        begin, end = int(offset[first]), int(offset[last])
        share = widened(scale.index_select(0, neighbors[begin:end]))
        share = share if weights is None else share * weights[begin:end]
        messages = widened(values.index_select(1, neighbors[begin:end])) * share[:, None]
        rows, degree = offset[first : last + 1] - begin, offset[first : last + 1].diff()
        of_arc = torch.arange(last - first, device=offset.device).repeat_interleave(degree)
        sums = reduce_rows(messages.transpose(0, 1), rows, of_arc.detach, REDUCTIONS["sum"])
        block = (alpha * sums.transpose(0, 1) + widened(bias[:, first:last])).to(x.dtype)
        values = values.slice_scatter(block, 1, first, last)
    return values, (widened(values.detach()) - widened(x.detach())).abs().sum(1)
