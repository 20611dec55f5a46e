"""Transposing and checking rows that are in CSR already."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import csr as csr_operators
from tgraph.core.building import symmetry as symmetry_operators
from tgraph.errors import ArgumentError
from tgraph.kernels.native.base.support import attach, compiled, implements, refuses_first, refuses_tensors
from tgraph.kernels.operators.csr import arc_lookup as lookup_operators


def refuses_transpose(offset: Tensor, neighbors: Tensor, num_columns: int, numbered: bool) -> str | None:
    """Why `transpose_arcs` does not support a call, None if it does."""
    if max(num_columns, offset.shape[0]) >= 2**31 or neighbors.shape[0] >= 2**32:
        return "it sorts records of 64 bits"
    return refuses_tensors(offset, neighbors)


@implements(csr_operators._transpose_arcs, refuses_transpose)
def transpose_arcs(
    offset: Tensor, neighbors: Tensor, num_columns: int, numbered: bool
) -> tuple[Tensor, Tensor, Tensor]:
    size = neighbors.shape[0]
    back_offset = torch.zeros(num_columns + 1, dtype=torch.int64, device="cpu")
    back_neighbors = torch.empty(size, dtype=neighbors.dtype, device="cpu")
    number = torch.empty(size if numbered else 0, dtype=torch.int64, device="cpu")
    given = (offset, neighbors, back_offset, back_neighbors, number if numbered else None)
    if size and not compiled().transpose(*given, False):
        raise ArgumentError(f"neighbors: some are not among 0..{num_columns - 1}, see num_columns")
    return back_offset, back_neighbors, number


attach(symmetry_operators.symmetry_hash, refuses_first, kernel="mirror")
attach(lookup_operators.arc_lookup, refuses_first)
