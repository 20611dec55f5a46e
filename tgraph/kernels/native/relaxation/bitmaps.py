"""Bitmaps by the kernels in `bitmaps.cpp`: see `tgraph.primitives.bitmaps`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import attach, compiled, implements, refuses_data, refuses_first
from tgraph.kernels.native.relaxation.relaxation import DTYPES
from tgraph.kernels.operators.relaxation import bitmaps as declared


def _refuses_rows(offset: Tensor, neighbors: Tensor, *others: Tensor) -> str | None:
    if neighbors.dtype != torch.int32:
        return "it needs int32 neighbours"
    return refuses_data(neighbors)


def _refuses_values(bits: Tensor, values: Tensor, value: float) -> str | None:
    if values.dtype not in DTYPES or not values.is_contiguous():
        return f"it has no kernel for {values.dtype}, or for values that are not contiguous"
    return refuses_data(values)


attach(declared.pull_bits, _refuses_rows)
attach(declared.push_bits, _refuses_rows)
attach(declared.choose_bits, refuses_first)
attach(declared.spread_bits, refuses_first)
attach(declared.move_bits, refuses_first)
attach(declared.fill_bits, _refuses_values)


@implements(declared.measure_bits, refuses_first)
def measure(bits: Tensor, numbers: Tensor | None = None) -> tuple[int, int]:
    """(how many bits are set, the sum of their `numbers`)."""
    count, total = compiled().measure_bits(bits, numbers)
    return count, total


@implements(declared.list_bits, refuses_first)
def members(bits: Tensor) -> Tensor:
    """The numbers of the bits that are set, int64 [k] ascending."""
    found = torch.empty(measure(bits)[0], dtype=torch.int64, device="cpu")
    compiled().list_bits(bits, found)
    return found
