"""Rows in Elias-Fano code by the kernel in `elias_fano.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.rows import offset_of
from tgraph.kernels.native.base.support import compiled, implements, refuses_data, refuses_first
from tgraph.kernels.operators.csr import elias_fano as declared
from tgraph.kernels.operators.csr.elias_fano import PADDING, damaged, descends


def _refuses(offset: Tensor, neighbors: Tensor, size: int) -> str | None:
    return refuses_data(neighbors)


@implements(declared.encode_ascending, _refuses)
def encode_ascending(offset: Tensor, neighbors: Tensor, size: int) -> tuple[Tensor, Tensor]:
    kernels, given = compiled(), (offset, neighbors, size)
    sizes = torch.empty(len(offset) - 1, dtype=torch.int64, device="cpu")
    if not kernels.elias_fano_measure(*given, sizes):
        falls = (neighbors[1:] < neighbors[:-1]).nonzero().view(-1) + 1
        row = torch.searchsorted(offset, falls, right=True) - 1
        raise descends(int(row[offset[row] != falls][0]))
    start = offset_of(sizes)
    bits = torch.zeros(int(start[-1]) + PADDING, dtype=torch.uint8, device="cpu")
    kernels.elias_fano_encode(*given, start, bits)
    return start, bits


@implements(declared.decode_ascending, refuses_first)
def decode_ascending(bits: Tensor, start: Tensor, rows: Tensor, offset: Tensor, size: int) -> Tensor:
    neighbors = torch.empty(int(offset[-1]), dtype=sorting.index_dtype(size), device="cpu")
    wrong = compiled().elias_fano_decode(bits, start, rows, offset, size, neighbors)
    if wrong >= 0:
        raise damaged(int(rows[wrong]))
    return neighbors
