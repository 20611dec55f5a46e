"""Sets of vertices as bitmaps, and steps of a search between them: see `tgraph.primitives.bitmaps`."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


def pack(mask: Tensor) -> Tensor:
    """The bitmap of a mask bool [n]: uint8, the bits of a byte lowest first, padded to whole words of 8 bytes."""
    bits = np.packbits(mask.cpu().numpy(), bitorder="little")
    return torch.from_numpy(np.pad(bits, (0, -len(bits) % 8)))


def unpack(bits: Tensor, size: int) -> Tensor:
    """The mask bool [size] of a bitmap."""
    return torch.from_numpy(np.unpackbits(bits.numpy(), count=size, bitorder="little")).view(torch.bool)


def pull(offset: Tensor, neighbors: Tensor, front: Tensor, wanted: Tensor, reached: Tensor) -> None:
    """Write to `reached` which of the vertices in `wanted`, none of which has an empty row, have a neighbor in
    `front`."""
    rows = unpack(wanted, len(offset) - 1).nonzero().flatten()
    hits = unpack(front, 8 * len(front)).index_select(0, neighbors).cumsum(0)
    before = torch.cat((hits.new_zeros(1), hits)).index_select
    found = before(0, offset.index_select(0, rows + 1)) > before(0, offset.index_select(0, rows))
    mask = torch.zeros(8 * len(wanted), dtype=torch.bool)
    mask[rows[found]] = True
    reached.copy_(pack(mask))


def push(offset: Tensor, neighbors: Tensor, active: Tensor, reached: Tensor) -> None:
    """Add the neighbors of the `active` vertices to `reached`."""
    sends = unpack(active, len(offset) - 1).repeat_interleave(offset.diff())
    mask = unpack(reached, 8 * len(reached)).clone()
    mask[neighbors[sends]] = True
    reached.copy_(pack(mask))


def choose(bits: Tensor, places: Tensor, chosen: Tensor) -> None:
    """Bit i of `chosen` becomes that of places[i], int64 [c]."""
    chosen[:] = 0
    found = pack(unpack(bits, 8 * len(bits)).index_select(0, places))
    chosen[: len(found)] = found


def spread(bits: Tensor, places: Tensor, into: Tensor) -> None:
    """Add the `places`, int64 [c], of the bits that are set, to `into`."""
    mask = unpack(into, 8 * len(into)).clone()
    mask[places[unpack(bits, len(places))]] = True
    into.copy_(pack(mask))


def move(bits: Tensor, begin: int, size: int, into: Tensor, first: int) -> None:
    """Add `size` bits from number `begin` on to `into`, from number `first` on."""
    mask = unpack(into, 8 * len(into)).clone()
    mask[first : first + size] |= unpack(bits, begin + size)[begin:]
    into.copy_(pack(mask))


def measure(bits: Tensor, numbers: Tensor | None = None) -> tuple[int, int]:
    """(how many bits are set, the sum of their `numbers`, int64 [n], 0 without)."""
    chosen = members(bits)
    return len(chosen), 0 if numbers is None else int(numbers.index_select(0, chosen).sum())


def members(bits: Tensor) -> Tensor:
    """The numbers of the bits that are set, int64 [k] ascending."""
    return unpack(bits, 8 * len(bits)).nonzero().flatten()


def fill(bits: Tensor, values: Tensor, value: float) -> None:
    """values[v] = value for the vertices of a bitmap, of values [n]."""
    values.masked_fill_(unpack(bits, len(values)), value)
