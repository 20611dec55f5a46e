"""Values of all vertices in torch operators: see `tgraph.primitives.values`. All of them work in place."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator


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
