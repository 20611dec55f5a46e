"""Shortest paths between all pairs by the kernel in `floyd_warshall.cpp`."""

from __future__ import annotations

from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_first
from tgraph.kernels.operators.paths import floyd_warshall as declared


@implements(declared.floyd_warshall, refuses_first)
def floyd_warshall(distance: Tensor, predecessor: Tensor | None) -> int:
    return int(compiled().floyd_warshall(distance, predecessor, len(distance)))
