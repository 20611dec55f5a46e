"""Whether the entries of a block are those of a graph. A checksum tells what was damaged since it was written, not what
was wrong then; kernels that follow such an entry would read and write memory that is not theirs."""

from __future__ import annotations

from typing import Any, cast

from torch import Tensor

from tgraph.core import native
from tgraph.core.validate import check_offset, check_range
from tgraph.errors import ArgumentError


def entries_error(first_row: int, end_row: int, offset: Tensor, neighbors: Tensor, num_vertices: int) -> str | None:
    """What is wrong with the rows of a block in the memory of the CPU, None where nothing is.

    first_row, end_row : which vertices' rows. offset : int64 [rows + 1]. neighbors : [arcs]. One pass over the entries,
    without the GIL.
    """
    if why := row_range_error(first_row, end_row, num_vertices):
        return why
    kernels = native.load()
    if kernels is not None and cast(Any, kernels).is_sound(offset, neighbors, num_vertices):
        return None
    if int(offset[0]) or int(offset[-1]) != len(neighbors):
        return f"has offsets from {int(offset[0])} to {int(offset[-1])} for its {len(neighbors)} arcs"
    try:
        check_offset(offset)
        check_range(neighbors, num_vertices)
    except ArgumentError as found:
        return f"has entries that no graph has: {found}"
    return None


def row_range_error(first_row: int, end_row: int, num_vertices: int) -> str | None:
    """What is wrong with the vertices whose rows a block says to have, None where nothing is."""
    if 0 <= first_row <= end_row <= num_vertices:
        return None
    return f"has the rows {first_row} to {end_row - 1} of {num_vertices} vertices"
