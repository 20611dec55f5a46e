"""The adjacency of an edge_index that torch.compile only knows the shape of: it is sorted by an operator, each time the
compiled code runs. A `tgraph.Graph` is sorted once (`compiled.py`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from tgraph import csr
from tgraph.kernels.bipartite import transpose_arcs
from tgraph.kernels.library import register
from tgraph.nn.adjacency import Adjacency

T = TypeVar("T")


class Rows(NamedTuple):
    """What layers take of a Graph."""

    offset: Tensor
    neighbors: Tensor
    num_vertices: int
    transpose_permutation: Tensor | None = None


class TracedAdjacency(Adjacency):
    """An adjacency of which nothing is kept."""

    def _sort(self) -> Any:
        square = max(self.num_sources, self.num_targets)
        offset, neighbors, position = sort_arcs(self.target, self.source, square)
        columns = transpose_arcs(offset, neighbors, square, True)
        return Rows(offset, neighbors, square, columns[2]), position, Rows(columns[0], columns[1], square)

    @property
    def _sorted(self) -> Any:
        if "sorted" not in self._kept:
            self._kept["sorted"] = self._sort()
        return self._kept["sorted"]

    @property
    def columns(self) -> Any:
        return self._sorted[2]

    @property
    def unreached(self) -> Tensor:
        return (self.degree == 0)[:, None]

    def kept(self, name: Hashable, compute: Callable[[], T]) -> T:
        return compute()


def _sort(target: Tensor, source: Tensor, num_vertices: int) -> tuple[Tensor, Tensor, Tensor]:
    offset, neighbors, position = csr.sort_edges(target, source, num_vertices, permutation=True)
    assert position is not None
    return offset, neighbors, position


def _sort_fake(target: Tensor, source: Tensor, num_vertices: int) -> tuple[Tensor, Tensor, Tensor]:
    neighbors = source.new_empty(len(source), dtype=csr.index_dtype(2**31 - 1))
    offset = source.new_empty(num_vertices + 1, dtype=torch.int64)
    return offset, neighbors, source.new_empty(len(source), dtype=torch.int64)


sort_arcs = register(
    "sort_arcs(Tensor target, Tensor source, SymInt num_vertices) -> (Tensor, Tensor, Tensor)", _sort, _sort_fake
)
