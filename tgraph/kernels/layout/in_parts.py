"""The rows of a graph in a layout as Csr, as many at a time as the layout decodes at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.core.building.edge_index import with_loops_in_place
from tgraph.core.csr import Csr
from tgraph.core.derived import detached_cache_scope
from tgraph.core.graph import Graph
from tgraph.kernels.layout.arcs import layout_of, parts


class Part(NamedTuple):
    """Consecutive rows. first_arc : how many arcs earlier rows have."""

    rows: slice
    first_arc: int
    arcs: Csr


@dataclass(frozen=True)
class RowsInParts:
    """What operators take that go over the rows of a `Csr`, of a graph in a layout. Each use decodes the rows anew.

    graph : the rows are its own. loops : whether the self-loops of each row are replaced by one.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [0, 2, 0]).to_format("elias_fano")
    >>> rows = tg.primitives.attention.RowsInParts(graph, loops=True)
    >>> rows.visit(lambda part: print(part.rows, part.arcs.neighbors))
    slice(0, 3, None) tensor([0, 2, 0, 1, 2], dtype=torch.int32)
    """

    graph: Graph
    loops: bool = False

    @property
    def num_rows(self) -> int:
        """n."""
        return self.graph.num_vertices

    num_columns = num_rows

    @property
    def num_arcs(self) -> int:
        """The arcs of all rows; a bound of them with self-loops."""
        return self.graph.num_arcs + (self.num_rows if self.loops else 0)

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.graph.device

    def visit(self, work: Callable[[Part], None]) -> None:
        """Call work(part) for all rows in their order; one part is in memory at a time."""
        done = 0
        for rows, _ in parts(self.graph, None, layout_of(self.graph).arcs_at_once):
            done += self._visit(rows, done, work)

    def _visit(self, rows: Tensor, done: int, work: Callable[[Part], None]) -> int:
        arcs, low = self._decoded(rows), int(rows[0]) if len(rows) else 0
        work(Part(slice(low, low + len(rows)), done, arcs))
        return arcs.num_arcs

    def _decoded(self, rows: Tensor) -> Csr:
        offset, neighbors, _ = self.graph.storage.rows(rows)
        if self.loops:
            offset, neighbors = with_loops_in_place(offset, neighbors, int(rows[0]) if len(rows) else 0)
        return Csr.trusted(offset, neighbors, None, self.num_columns)

    def whole(self) -> Csr:
        """All rows at once, in memory of their size."""
        with detached_cache_scope():  # outside of what torch.func transforms
            return self._decoded(torch.arange(self.num_rows, device=self.device))
