"""Bitmaps by the kernels in `bitmaps.cpp`: see `tgraph.primitives.bitmaps`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_data
from tgraph.kernels.native.relaxation.relaxation import DTYPES


def _kernels() -> Any:
    return cast(Any, native.load())


def pull(offset: Tensor, neighbors: Tensor, front: Tensor, wanted: Tensor, reached: Tensor) -> None:
    """See the portable twin, as for all of these."""
    _kernels().pull_bits(offset, neighbors, front, wanted, reached)


def push(offset: Tensor, neighbors: Tensor, active: Tensor, reached: Tensor) -> None:
    """Add the neighbors of the `active` vertices to `reached`."""
    _kernels().push_bits(offset, neighbors, active, reached)


def choose(bits: Tensor, places: Tensor, chosen: Tensor) -> None:
    """Bit i of `chosen` becomes that of places[i]."""
    _kernels().choose_bits(bits, places, chosen)


def spread(bits: Tensor, places: Tensor, into: Tensor) -> None:
    """Add the `places` of the bits that are set to `into`."""
    _kernels().spread_bits(bits, places, into)


def move(bits: Tensor, begin: int, size: int, into: Tensor, first: int) -> None:
    """Add `size` bits from number `begin` on to `into`, from number `first` on."""
    _kernels().move_bits(bits, begin, size, into, first)


def measure(bits: Tensor, numbers: Tensor | None = None) -> tuple[int, int]:
    """(how many bits are set, the sum of their `numbers`)."""
    count, total = _kernels().measure_bits(bits, numbers)
    return count, total


def members(bits: Tensor) -> Tensor:
    """The numbers of the bits that are set, int64 [k] ascending."""
    found = torch.empty(measure(bits)[0], dtype=torch.int64, device="cpu")
    _kernels().list_bits(bits, found)
    return found


def fill(bits: Tensor, values: Tensor, value: float) -> None:
    """values[v] = value for the vertices of a bitmap."""
    _kernels().fill_bits(bits, values, value)


def _refuses_values(bits: Tensor, values: Tensor, value: float) -> str | None:
    if values.dtype not in DTYPES or not values.is_contiguous():
        return f"it has no kernel for {values.dtype}, or for values that are not contiguous"
    return refuses_data(values)


def _refuses(first: Tensor, *others: Any) -> str | None:
    return refuses_data(first)


def _refuses_rows(offset: Tensor, neighbors: Tensor, *others: Tensor) -> str | None:
    if neighbors.dtype != torch.int32:
        return "it needs int32 neighbours"
    return refuses_data(neighbors)


OPERATORS = {
    "pull_bits": Implementation(pull, _refuses_rows),
    "push_bits": Implementation(push, _refuses_rows),
    "choose_bits": Implementation(choose, _refuses),
    "spread_bits": Implementation(spread, _refuses),
    "move_bits": Implementation(move, _refuses),
    "measure_bits": Implementation(measure, _refuses),
    "fill_bits": Implementation(fill, _refuses_values),
    "list_bits": Implementation(members, _refuses),
}
