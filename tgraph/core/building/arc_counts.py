"""Self-loops and repeated arcs, counted over the rows of a graph as they come."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting


class ArcCounts:
    """Counts over stretches of adjacent rows, which are added in any order.

    loops : arcs from a vertex to itself. repeats : arcs that an equal one precedes in their row. repeated_loops : those
    of them that are self-loops. Rows ascend.
    """

    loops: int
    repeats: int
    repeated_loops: int

    def __init__(self) -> None:
        self.loops = self.repeats = self.repeated_loops = 0
        self._begins: dict[int, tuple[int, int]] = {}
        self._ends: dict[int, tuple[int, int]] = {}

    def see(
        self, first_arc: int, first_row: int, offset: Tensor, neighbors: Tensor, weights: Tensor | None = None
    ) -> None:
        """Count arcs from number `first_arc` on, of the rows from `first_row` on: those of the i-th are
        neighbors[offset[i]:offset[i + 1]]. The first and last row may have more in other stretches."""
        if not len(neighbors):
            return
        rows = sorting.expand_rows(offset, neighbors.dtype)
        is_loop = rows == neighbors - first_row
        repeats = (rows[1:] == rows[:-1]) & (neighbors[1:] == neighbors[:-1])
        found = torch.stack((is_loop.sum(), repeats.sum(), (repeats & is_loop[1:]).sum())).tolist()
        self._add(*found)
        begin, end = ((int(rows[place]) + first_row, int(neighbors[place])) for place in (0, -1))
        self._begins[first_arc], self._ends[first_arc + len(neighbors)] = begin, end

    def finish(self) -> ArcCounts:
        """Count the repeated arcs of which one stretch ends with one and the next begins with the other."""
        for place, (row, neighbor) in self._begins.items():
            if self._ends.get(place) == (row, neighbor):
                self._add(0, 1, int(row == neighbor))
        self._begins.clear()
        return self

    def parallel_edges(self, directed: bool) -> int:
        """How many edges repeat another."""
        return self.repeats if directed else (self.repeats + self.repeated_loops) // 2

    def _add(self, loops: int, repeats: int, repeated_loops: int) -> None:
        self.loops, self.repeats = self.loops + loops, self.repeats + repeats
        self.repeated_loops += repeated_loops
