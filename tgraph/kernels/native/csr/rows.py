"""Transposing and checking rows that are in CSR already."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.kernels.native.base.support import refuses_data, refuses_tensors


def refuses_transpose(offset: Tensor, neighbors: Tensor, num_columns: int, numbered: bool) -> str | None:
    """Why `transpose_arcs` does not serve a call, None where it does."""
    if max(num_columns, offset.shape[0]) >= 2**31 or neighbors.shape[0] >= 2**32:
        return "it sorts records of 64 bits"
    return refuses_tensors(offset, neighbors)


def transpose_arcs(
    offset: Tensor, neighbors: Tensor, num_columns: int, numbered: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """As the portable one, `tgraph.core.csr._transpose_arcs`."""
    size = neighbors.shape[0]
    back_offset = torch.zeros(num_columns + 1, dtype=torch.int64, device="cpu")
    back_neighbors = torch.empty(size, dtype=neighbors.dtype, device="cpu")
    number = torch.empty(size if numbered else 0, dtype=torch.int64, device="cpu")
    given = (offset.contiguous(), neighbors.contiguous(), back_offset, back_neighbors, number if numbered else None)
    if size and not _kernels().transpose(*given, False):
        raise ArgumentError(f"neighbors: some are not among 0..{num_columns - 1}, see num_columns")
    return back_offset, back_neighbors, number


def symmetry_hash(offset: Tensor, neighbors: Tensor, words: Tensor | None, begin: int, end: int) -> int:
    """As the portable one, `tgraph.core.building.symmetry.symmetry_hash`."""
    return _kernels().mirror(offset, neighbors, words, begin, end)


def _kernels() -> Any:
    return cast(Any, native.load())


def arc_lookup(offset: Tensor, neighbors: Tensor) -> Any:
    """As the portable one, `tgraph.io.arc_lookup`."""
    return cast(Any, native.load()).arc_lookup(offset, neighbors)


OPERATORS = {
    "arc_lookup": Implementation(arc_lookup, lambda offset, neighbors: refuses_data(offset)),
    "transpose_arcs": Implementation(transpose_arcs, refuses_transpose),
    "symmetry_hash": Implementation(symmetry_hash, lambda offset, *others: refuses_data(offset)),
}
