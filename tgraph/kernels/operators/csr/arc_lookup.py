"""Look-up of single arcs in ascending rows, for views that replace dicts."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from torch import Tensor

from tgraph.core.dispatch import setup_operator


class ArcLookup:
    """Ascending rows as sequences of Python's numbers; the compiled one holds no references to tensors."""

    def __init__(self, offset: Tensor, neighbors: Tensor):
        self._offset, self._neighbors = memoryview(offset.numpy()), memoryview(neighbors.numpy())  # type: ignore[arg-type]

    def find(self, begin: int, end: int, target: int) -> int:
        """The first arc to `target` among the arcs from `begin` to `end` of a row, -1 without any."""
        arc = bisect_left(self._neighbors, target, begin, end)
        return arc if arc < end and self._neighbors[arc] == target else -1

    def arc(self, source: int, target: int) -> int:
        """The first arc from `source` to `target`, -1 without any, or for `source` out of range."""
        if not 0 <= source < len(self._offset) - 1:
            return -1
        return self.find(self._offset[source], self._offset[source + 1], target)

    def degree(self, vertex: int) -> int:
        """The number of arcs of a row."""
        return self._offset[vertex + 1] - self._offset[vertex]


@setup_operator
def arc_lookup(offset: Tensor, neighbors: Tensor) -> Any:
    """The `ArcLookup` of rows on the CPU, int64 [n + 1] and int32 or int64 [m]; the caller keeps the tensors."""
    return ArcLookup(offset, neighbors)
