"""Slabs [n, w] of a matrix that is larger than memory: some columns of all rows at a time."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from tgraph.stream.features.matrix import FeatureFile, TensorFeatures
from tgraph.stream.memory import PAGE

# The least bytes to read or write at once, where the budget allows: in all, and of each column, to limit seeks.
# More is not faster.
_PIECE = 4 << 20
_COLUMN_PIECE = 1 << 16

# The number of columns that kernels process together.
_TOGETHER = 8


def slices(count: int, step: int) -> Iterator[slice]:
    """The range 0..count in slices of at most `step`."""
    for begin in range(0, count, step):
        yield slice(begin, min(begin + step, count))


def pieces(features: FeatureFile | TensorFeatures, budget: int) -> tuple[int, int]:
    """(preferred, least) number of bytes to copy at once between a file of such rows and a slab."""
    least = max(PAGE, 4 * features.shape[1] * features.dtype.itemsize)
    return max(min(max(_PIECE, features.shape[1] * _COLUMN_PIECE), budget // 32), least), least


def even_width(total: int, most: int) -> int:
    """The width of a slab, at most `most`, so that all passes over `total` columns have about the same width."""
    if total <= most:
        return max(total, 1)
    even = -(-total // -(-total // most))
    return min(-(-even // _TOGETHER) * _TOGETHER, most)


def read_columns(features: FeatureFile | TensorFeatures, columns: slice, data: Tensor, piece: int) -> Tensor:
    """Fill data [n, w] with some columns, about `piece` bytes at a time, and return it."""
    step = max(1, piece // max(1, features.row_bytes(data.shape[1])))
    for rows in slices(len(data), step if isinstance(features, FeatureFile) else max(1, len(data))):
        data[rows].copy_(features.read(rows, columns))
    return data
