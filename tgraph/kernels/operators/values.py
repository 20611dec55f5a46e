"""Values of all vertices in torch operators: see `tgraph.primitives.values`. All of them work in place."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.core.rows import partition


@operator
def fill(values: Tensor, value: float) -> None:
    """values[i] = value"""
    values.fill_(value)


@operator
def number(values: Tensor) -> None:
    """values[i] = i"""
    torch.arange(len(values), out=values)


@operator
def replace(values: Tensor, old: int, by: int) -> None:
    """values[i] = by where it is `old`"""
    values.masked_fill_(values == old, by)


@operator
def convert(values: Tensor, to: Tensor) -> None:
    """to[i] = values[i]"""
    to.copy_(values)


@operator
def write_changed(values: Tensor, vertices: Tensor, rows: Tensor, degree: Tensor) -> tuple[Tensor, int]:
    """values[vertices[i]] = rows[i], for distinct vertices int64 [r]. Returns those of which a value changed, in order,
    and the sum of their `degree`, int64 [n]; one small device-to-host read."""
    changed = differs(rows, values.index_select(0, vertices))
    values.index_copy_(0, vertices, rows)
    size, total = torch.stack((changed.sum(), (degree.index_select(0, vertices) * changed).sum())).tolist()
    return partition(vertices, changed, size)[0], total


def differs(new: Tensor, old: Tensor) -> Tensor:
    """Where a vertex changed, bool [r]. NaN equals NaN, so that a NaN cannot keep a program running."""
    differs = new != old
    if new.is_floating_point():
        differs &= ~(new.isnan() & old.isnan())
    return differs if differs.dim() == 1 else differs.flatten(1).any(1)
