"""Rows in padded slices: SELL-C-sigma (Kreutzer et al., "A unified sparse matrix data format for efficient general
sparse matrix-vector multiplication on modern processors with wide SIMD units", SISC 2014)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.rows import gather_stretches
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.operators.aggregation.rows import reduce_rows
from tgraph.kernels.operators.linear.linear import finished, widened
from tgraph.kernels.reductions import REDUCTIONS, Reduction


class Slices(NamedTuple):
    """Rows in slices of `height`, each padded to the longest of its slice; arc j of the row in place p is the entry
    offset[p // height] + p % height + j * height.

    offset : int64 [slices + 1]. neighbors : int32 or int64 [entries], padding being any vertices. weights : [entries]
    or None. length : int32 [n], of the row in each place. order : int32 or int64 [n], that row; None for all in order.
    """

    offset: Tensor
    neighbors: Tensor
    weights: Tensor | None
    length: Tensor
    order: Tensor | None
    height: int


def arcs_of(slices: Slices, places: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """The rows at the places int64 [k], or at all where None, as a CSR of k rows: (offset int64, neighbors, weights or
    None)."""
    length, height, stored = slices.length, slices.height, slices.weights
    if places is None:
        places = torch.arange(len(length), device=length.device)
    else:
        length = length[places]
    first = slices.offset[places // height] + places % height
    start, arc = gather_stretches(torch.zeros_like(first), length)  # the number of each arc within its row
    entries = first.repeat_interleave(length, output_size=len(arc)) + arc * height
    return start, sorting.take(slices.neighbors, entries), None if stored is None else sorting.take(stored, entries)


@operator
def pull_slices(slices: Slices, data: Tensor, reduction: Reduction, edge: str) -> Tensor:
    """The reduction of each row of slices over data [n, columns], whose dtype the weights have."""
    received = reduce_rows(*arcs_of(slices, None), data, reduction, edge)
    order = slices.order
    return received if order is None else torch.empty_like(received).index_copy_(0, order.long(), received)


@operator
def step_slices(slices: Slices, step: AffineStep) -> StepResult:
    """A step of an affine iteration over all rows of slices."""
    x, weights = widened(step.x)[:, None], slices.weights
    held = slices._replace(weights=None if weights is None or not step.weighted else weights.to(x.dtype))
    received = pull_slices(held, x, REDUCTIONS["sum"], "mul" if step.weighted else "copy")
    return finished(step, received[:, 0])
