"""Bitmaps by the kernels in `bitmaps.cpp`: see `tgraph.primitives.bitmaps`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.native.relaxation.relaxation import DTYPES
from tgraph.kernels.operators.relaxation import bitmaps as declared


def _refuses_rows(offset: Tensor, neighbors: Tensor, *others: Tensor) -> str | None:
    if neighbors.dtype != torch.int32:
        return "it needs int32 neighbours"
    return refuses_data(neighbors)


def _refuses(first: Tensor, *others: Any) -> str | None:
    return refuses_data(first)


def _refuses_values(bits: Tensor, values: Tensor, value: float) -> str | None:
    if values.dtype not in DTYPES or not values.is_contiguous():
        return f"it has no kernel for {values.dtype}, or for values that are not contiguous"
    return refuses_data(values)


@implements(declared.pull_bits, _refuses_rows)
def pull(offset: Tensor, neighbors: Tensor, front: Tensor, wanted: Tensor, reached: Tensor) -> None:
    """See the portable twin, as for all of these."""
    compiled().pull_bits(offset, neighbors, front, wanted, reached)


@implements(declared.push_bits, _refuses_rows)
def push(offset: Tensor, neighbors: Tensor, active: Tensor, reached: Tensor) -> None:
    """Add the neighbors of the `active` vertices to `reached`."""
    compiled().push_bits(offset, neighbors, active, reached)


@implements(declared.choose_bits, _refuses)
def choose(bits: Tensor, places: Tensor, chosen: Tensor) -> None:
    """Bit i of `chosen` becomes that of places[i]."""
    compiled().choose_bits(bits, places, chosen)


@implements(declared.spread_bits, _refuses)
def spread(bits: Tensor, places: Tensor, into: Tensor) -> None:
    """Add the `places` of the bits that are set to `into`."""
    compiled().spread_bits(bits, places, into)


@implements(declared.move_bits, _refuses)
def move(bits: Tensor, begin: int, size: int, into: Tensor, first: int) -> None:
    """Add `size` bits from number `begin` on to `into`, from number `first` on."""
    compiled().move_bits(bits, begin, size, into, first)


@implements(declared.measure_bits, _refuses)
def measure(bits: Tensor, numbers: Tensor | None = None) -> tuple[int, int]:
    """(how many bits are set, the sum of their `numbers`)."""
    count, total = compiled().measure_bits(bits, numbers)
    return count, total


@implements(declared.list_bits, _refuses)
def members(bits: Tensor) -> Tensor:
    """The numbers of the bits that are set, int64 [k] ascending."""
    found = torch.empty(measure(bits)[0], dtype=torch.int64, device="cpu")
    compiled().list_bits(bits, found)
    return found


@implements(declared.fill_bits, _refuses_values)
def fill(bits: Tensor, values: Tensor, value: float) -> None:
    """values[v] = value for the vertices of a bitmap."""
    compiled().fill_bits(bits, values, value)
