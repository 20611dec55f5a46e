"""A step of a linear iteration in torch operators, and the numbers that the step after it asks for."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.core import devices
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.portable.aggregation import reduce_rows
from tgraph.kernels.reductions import REDUCTIONS


@dataclass(frozen=True)
class Coefficients:
    """What an affine map keeps from step to step: `scale` and `measure` [n] or None for 1, `bias` [n] or one for all,
    the number of `blocks` that hear each other within a step (1: none does), and whether arcs are `weighted`."""

    scale: Tensor | None = None
    bias: Tensor | float = 0.0
    measure: Tensor | None = None
    blocks: int = 1
    weighted: bool = False


@dataclass(slots=True, eq=False)
class Stepped:
    """What a step gives: new values and what they send, both [n], and numbers of the new values.

    change : their L1 distance from the values before. total : their sum, weighed by the measure. unsent : the sum of
    those whose scale is 0. Numbers or tensors [], in float64 where the device has it; None where they were not wanted.
    """

    values: Tensor
    sent: Tensor
    change: Tensor | float
    total: Tensor | float | None
    unsent: Tensor | float | None


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
    """`alpha * (sum over arcs u -> v of heard[u] * weight) + beta * bias`, for every vertex v of a whole pull.

    coefficients : the bias, whether weights are multiplied, and the number of blocks.
    heard : [n], what is sent. before : [n], what the change is measured from; says the dtype of the new values.
    weights : [e] in the order of the arcs held, or None. Added in float64 where the device has it.
    rescale : what `heard` is multiplied by before a step of several blocks.
    spare : values and sent values that may be overwritten, or None each; this backend makes new ones. The first may be
        `before` itself. In a step of several blocks other backends overwrite `heard`, and may let the rows of a block
        hear those before them.
    wanted : which of "total" and "unsent" to compute.
    """
    scale, bias = coefficients.scale, coefficients.bias
    if coefficients.blocks == 1:
        received = _received(sub, widened(heard), weights, 0, len(sub.offset) - 1)
        return stepped(coefficients, received, before, alpha, beta, wanted)
    heard, parts = (heard * rescale).to(heard.dtype), []
    for first, last in reversed(row_blocks(sub.offset, coefficients.blocks)):
        received = _received(sub, widened(heard), weights, first, last)
        constant = bias[first:last] if isinstance(bias, Tensor) else bias
        parts.append((alpha * received + beta * constant).to(before.dtype))
        heard = heard.slice_scatter(scaled(parts[-1], scale, first, last).to(heard.dtype), 0, first, last)
    return _told(coefficients, torch.cat(parts[::-1]), heard, before, wanted)


def stepped(
    coefficients: Coefficients,
    received: Tensor,
    before: Tensor,
    alpha: Tensor | float,
    beta: Tensor | float,
    wanted: Collection[str],
) -> Stepped:
    """The step whose vertices have all `received` [n] from the values before."""
    values = (alpha * received + beta * coefficients.bias).to(before.dtype)
    return _told(coefficients, values, scaled(values, coefficients.scale), before, wanted)


def _told(coefficients: Coefficients, values: Tensor, sent: Tensor, before: Tensor, wanted: Collection[str]) -> Stepped:
    return Stepped(
        values,
        sent,
        distance(before, values),
        total(values, coefficients.measure) if "total" in wanted else None,
        unsent(values, coefficients.scale) if "unsent" in wanted else None,
    )


def row_blocks(offset: Tensor, blocks: int) -> list[tuple[int, int]]:
    """(first, last) rows of `blocks` blocks of about equal work, which is a row or an arc."""
    num_rows = len(offset) - 1
    if blocks == 1:
        return [(0, num_rows)]
    work_before = offset + torch.arange(num_rows + 1, device=offset.device)
    size, rest = divmod(int(work_before[-1]), blocks)
    ends = torch.tensor([size * (i + 1) + min(i + 1, rest) for i in range(blocks)], device=offset.device)
    return list(itertools.pairwise([0, *torch.searchsorted(work_before, ends).tolist()]))


def _received(sub: Subgraph, heard: Tensor, weights: Tensor | None, first: int, last: int) -> Tensor:
    """What the rows from `first` to `last` receive."""
    offset = sub.offset[first : last + 1]
    whole = last - first == len(sub.offset) - 1
    begin, end = (0, sub.num_arcs) if whole else (int(offset[0]), int(offset[-1]))
    messages = heard.index_select(0, sub.neighbors[begin:end])
    if weights is not None:
        messages = messages * weights[begin:end]
    return reduce_rows(messages, offset - begin, lambda: sub.row_of_arc[begin:end] - first, REDUCTIONS["sum"])


def scaled(values: Tensor, scale: Tensor | None, first: int = 0, last: int | None = None) -> Tensor:
    """scale * values, for the values of the vertices from `first` to `last`."""
    return values if scale is None else scale[first:last] * values


def distance(before: Tensor, after: Tensor) -> Tensor:
    """The L1 distance, without gradient."""
    return (widened(after.detach()) - widened(before.detach())).abs().sum()


def total(values: Tensor, measure: Tensor | None) -> Tensor:
    """The sum of the values, weighed by the measure."""
    return wide_sum(values) if measure is None else (widened(values) * measure).sum()


def unsent(values: Tensor, scale: Tensor | None) -> Tensor:
    """The sum of the values whose scale is 0."""
    return wide_sum(values.new_zeros(()) if scale is None else values * (scale == 0).to(values.dtype))


def wide_sum(values: Tensor) -> Tensor:
    """Their sum in float64, without a copy of them that is twice as large."""
    return values.sum(dtype=devices.widest_float(values))


def widened(values: Tensor) -> Tensor:
    """The values in float64."""
    return values.to(devices.widest_float(values))
