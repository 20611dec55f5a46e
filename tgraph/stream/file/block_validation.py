"""Validation of the entries of a block. A checksum detects damage since a block was written, not entries that were
invalid then, which kernels would follow out of bounds."""

from __future__ import annotations

from torch import Tensor

from tgraph.core.building import soundness
from tgraph.errors import ArgumentError


def entries_error(first_row: int, end_row: int, offset: Tensor, neighbors: Tensor, num_vertices: int) -> str | None:
    """The fault in the rows of a block in CPU memory; None for a valid block.

    first_row, end_row : the range of rows. offset : int64 [rows + 1]. neighbors : [arcs]. One pass over the entries,
    without the GIL.
    """
    if why := row_range_error(first_row, end_row, num_vertices):
        return why
    return None if soundness.is_sound(offset, neighbors, num_vertices) else _fault(offset, neighbors, num_vertices)


def _fault(offset: Tensor, neighbors: Tensor, num_vertices: int) -> str | None:
    try:
        soundness.check(offset, neighbors, num_vertices)
    except ArgumentError as found:
        return f"has entries that no graph has: {found}"
    return None


def row_range_error(first_row: int, end_row: int, num_vertices: int) -> str | None:
    """The fault in the range of rows of a block; None for a valid range."""
    if 0 <= first_row <= end_row <= num_vertices:
        return None
    return f"has the rows {first_row} to {end_row - 1} of {num_vertices} vertices"
