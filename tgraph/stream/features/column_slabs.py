"""A matrix that no memory holds, some columns of all rows at a time: a slab [n, w]."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from tgraph.stream.features.matrix import FeatureFile, TensorFeatures
from tgraph.stream.memory import PAGE

# What is read or written at once, at least where the memory allows: in all, and of each column, so that a disk seeks
# little. More makes nothing faster.
_PIECE = 4 << 20
_STRETCH = 1 << 16

# Columns that kernels take at once.
_TOGETHER = 8


def stretches(count: int, step: int) -> Iterator[slice]:
    """0..count in stretches of `step` at most."""
    for begin in range(0, count, step):
        yield slice(begin, min(begin + step, count))


def pieces(features: FeatureFile | TensorFeatures, budget: int) -> tuple[int, int]:
    """(how many bytes to copy at once between a file of such rows and a slab, how many at least)"""
    least = max(PAGE, 4 * features.shape[1] * features.dtype.itemsize)
    return max(min(max(_PIECE, features.shape[1] * _STRETCH), budget // 32), least), least


def even_width(total: int, most: int) -> int:
    """Columns at a time, `most` at most, so that all passes over `total` have about as many."""
    if total <= most:
        return max(total, 1)
    even = -(-total // -(-total // most))
    return min(-(-even // _TOGETHER) * _TOGETHER, most)


def read_columns(features: FeatureFile | TensorFeatures, columns: slice, data: Tensor, piece: int) -> Tensor:
    """Fill data [n, w] with some columns, by buffers of about `piece` bytes, and return it."""
    step = max(1, piece // max(1, features.row_bytes(data.shape[1])))
    for rows in stretches(len(data), step if isinstance(features, FeatureFile) else max(1, len(data))):
        data[rows].copy_(features.read(rows, columns))
    return data
