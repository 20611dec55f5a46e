"""Rows in padded slices: SELL-C-sigma (Kreutzer et al., "A unified sparse matrix data format for efficient general
sparse matrix-vector multiplication on modern processors with wide SIMD units", SISC 2014)."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Slices(NamedTuple):
    """Rows in slices of `height`, each padded to the longest of its slice; arc j of the row in place p is the entry
    offset[p // height] + p % height + j * height.

    offset : int64 [slices + 1]. neighbors : int32 or int64 [entries], padding being any vertices. weights : [entries]
    or None. length : int32 [n], of the row in each place. order : int32 or int64 [n], that row; None for all in order.
    """

    offset: Tensor
    neighbors: Tensor
    weights: Tensor | None
    length: Tensor
    order: Tensor | None
    height: int
