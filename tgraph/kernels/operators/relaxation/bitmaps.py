"""Sets of vertices as bitmaps, and steps of a search between them: see `tgraph.primitives.bitmaps`."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tgraph.core.dispatch import setup_operator
from tgraph.core.rows import gather_rows
from tgraph.core.system import devices


def pack(mask: Tensor) -> Tensor:
    """The bitmap of a mask bool [n]: uint8, the bits of a byte lowest first, padded to whole words of 8 bytes."""
    if devices.kind(mask) == "cpu":
        bits = np.packbits(mask.numpy(), bitorder="little")
        return torch.from_numpy(np.pad(bits, (0, -len(bits) % 8)))
    padded = torch.nn.functional.pad(mask.view(torch.uint8), (0, -len(mask) % 64)).view(-1, 8)
    return (padded << _places(mask)).sum(1, dtype=torch.uint8)


def unpack(bits: Tensor, size: int) -> Tensor:
    """The mask bool [size] of a bitmap."""
    if devices.kind(bits) == "cpu":
        return torch.from_numpy(np.unpackbits(bits.numpy(), count=size, bitorder="little")).view(torch.bool)
    mask = (bits[:, None] >> _places(bits) & 1).flatten()
    return torch.nn.functional.pad(mask, (0, size - len(mask))).view(torch.bool)


def _places(like: Tensor) -> Tensor:
    """The places of the bits of a byte, uint8 [8]."""
    return torch.arange(8, dtype=torch.uint8, device=like.device)


@setup_operator
def pull_bits(offset: Tensor, neighbors: Tensor, front: Tensor, wanted: Tensor, reached: Tensor) -> None:
    """Write to `reached` which of the vertices in `wanted`, none of which has an empty row, have a neighbor in
    `front`."""
    rows = unpack(wanted, len(offset) - 1).nonzero().flatten()
    bounds, arcs = gather_rows(offset, rows)
    hits = unpack(front, 8 * len(front)).index_select(0, neighbors.index_select(0, arcs)).cumsum(0)
    found = torch.cat((hits.new_zeros(1), hits)).index_select(0, bounds).diff() > 0
    mask = torch.zeros(8 * len(wanted), dtype=torch.bool, device=wanted.device)
    mask[rows[found]] = True
    reached.copy_(pack(mask))


@setup_operator
def push_bits(offset: Tensor, neighbors: Tensor, active: Tensor, reached: Tensor) -> None:
    """Add the neighbors of the `active` vertices to `reached`."""
    arcs = gather_rows(offset, unpack(active, len(offset) - 1).nonzero().flatten())[1]
    mask = unpack(reached, 8 * len(reached)).clone()
    mask[neighbors.index_select(0, arcs)] = True
    reached.copy_(pack(mask))


@setup_operator
def choose_bits(bits: Tensor, places: Tensor, chosen: Tensor) -> None:
    """Bit i of `chosen` becomes that of places[i], int64 [c]."""
    chosen[:] = 0
    found = pack(unpack(bits, 8 * len(bits)).index_select(0, places))
    chosen[: len(found)] = found


@setup_operator
def spread_bits(bits: Tensor, places: Tensor, into: Tensor) -> None:
    """Add the `places`, int64 [c], of the bits that are set, to `into`."""
    mask = unpack(into, 8 * len(into)).clone()
    mask[places[unpack(bits, len(places))]] = True
    into.copy_(pack(mask))


@setup_operator
def move_bits(bits: Tensor, begin: int, size: int, into: Tensor, first: int) -> None:
    """Add `size` bits from number `begin` on to `into`, from number `first` on."""
    mask = unpack(into, 8 * len(into)).clone()
    mask[first : first + size] |= unpack(bits, begin + size)[begin:]
    into.copy_(pack(mask))


@setup_operator
def measure_bits(bits: Tensor, numbers: Tensor | None = None) -> tuple[int, int]:
    """(how many bits are set, the sum of their `numbers`, int64 [n], 0 without)."""
    chosen = list_bits.portable(bits)
    return len(chosen), 0 if numbers is None else int(numbers.index_select(0, chosen).sum())


@setup_operator
def list_bits(bits: Tensor) -> Tensor:
    """The numbers of the bits that are set, int64 [k] ascending."""
    return unpack(bits, 8 * len(bits)).nonzero().flatten()


@setup_operator
def fill_bits(bits: Tensor, values: Tensor, value: float) -> None:
    """values[v] = value for the vertices of a bitmap, of values [n]."""
    values.masked_fill_(unpack(bits, len(values)), value)
