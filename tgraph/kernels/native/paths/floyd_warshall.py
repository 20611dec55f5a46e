"""Shortest paths between all pairs by the kernel in `floyd_warshall.cpp`."""

from __future__ import annotations

from typing import Any, cast

from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_data


def floyd_warshall(distance: Tensor, predecessor: Tensor | None) -> int:
    """As the portable one, `tgraph.kernels.operators.paths.floyd_warshall.floyd_warshall`."""
    return int(cast(Any, native.load()).floyd_warshall(distance, predecessor, len(distance)))


OPERATORS = {"floyd_warshall": Implementation(floyd_warshall, lambda distance, *others: refuses_data(distance))}
