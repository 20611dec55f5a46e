"""The adjacency of an edge_index under torch.compile: a registered operator sorts it each time the compiled code runs.
The arcs of a `tgraph.Graph` are sorted once (`compiled.py`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.csr import Csr, transpose_arcs
from tgraph.core.system.library import register
from tgraph.errors import ArgumentError
from tgraph.nn.adjacency import Adjacency

T = TypeVar("T")


class TracedAdjacency(Adjacency):
    """An adjacency without caches."""

    @property
    def _num_rows(self) -> int:
        """The number of rows of the arcs."""
        return self.num_targets

    @property
    def num_edges(self) -> int:
        return self.source.shape[0]

    def _sort_traced(self) -> tuple[Csr, Tensor, Csr]:
        sizes = self.num_sources, self._num_rows
        # torch.export does not simplify max(n, n + 1), of n vertices and a sink
        square = self._num_rows if self.num_sources == self.num_targets else torch.sym_max(*sizes)
        offset, neighbors, position = sort_arcs(self.source, self.target, *sizes, square)
        by_column, rows, number = transpose_arcs(offset, neighbors, square, True)
        transpose = Csr.unchecked(by_column, rows, number, square)
        return Csr.unchecked(offset, neighbors, None, square), position, transpose

    @property
    def _both(self) -> tuple[Csr, Tensor, Csr]:
        if "both" not in self._cache:
            self._cache["both"] = self._sort_traced()
        return self._cache["both"]

    @property
    def rows(self) -> Any:
        return self._both[0]

    @property
    def position(self) -> Tensor:
        return self._both[1]

    @property
    def columns(self) -> Any:
        return self._both[2]

    @property
    def transpose_permutation(self) -> Tensor:
        return cast(Tensor, self._both[2].permutation)

    def _cut(self, of_edges: bool) -> Csr:
        position = self.position if of_edges else None
        return Csr(self.rows.offset[: self._num_rows + 1], self.rows.neighbors, position, self.num_sources)

    @property
    def unreached(self) -> Tensor:
        return (self.degree == 0)[:, None]

    def cached(self, name: Hashable, compute: Callable[[], T]) -> T:
        return compute()


class SunkAdjacency(TracedAdjacency):
    """An adjacency whose edges marked `sunk`, bool [E], lead to an additional target, the sink of index `num_targets`,
    with a discarded result: their number is unknown while tracing, so they cannot be removed."""

    def __init__(self, source: Tensor, target: Tensor, num_sources: int, num_targets: int, sunk: Tensor):
        super().__init__(source, target, num_sources, num_targets)
        self.sunk = sunk

    @property
    def _num_rows(self) -> int:
        return self.num_targets + 1

    def with_sink(self, target_data: Tensor) -> Tensor:
        return torch.cat((target_data, target_data.new_zeros((1, *target_data.shape[1:]))))

    def without_sink(self, received: Tensor) -> Tensor:
        return received[: self.num_targets]

    def without_sunk(self, edge_data: Tensor) -> Tensor:
        """Edge data [E, ...] without the sunk edges.

        Raises ArgumentError unless torch.compile is configured to trace data-dependent sizes.
        """
        if not torch._dynamo.config.capture_dynamic_output_shape_ops:
            raise ArgumentError(
                "return_attention_weights: the number of self-loops, and so of weights, is unknown while torch.compile "
                "traces; pass a tgraph.Graph instead of the edge_index, give add_self_loops=False, or set "
                "torch._dynamo.config.capture_dynamic_output_shape_ops = True"
            )
        return edge_data.index_select(0, (~self.sunk).nonzero().flatten())

    @property
    def edge_index(self) -> tuple[Tensor, Tensor]:
        return self.without_sunk(self.source.to(torch.int64)), self.without_sunk(self.target.to(torch.int64))


def _sort(
    source: Tensor, target: Tensor, num_sources: int, num_targets: int, square: int
) -> tuple[Tensor, Tensor, Tensor]:
    sorted_once = Adjacency(source, target, num_sources, num_targets)
    position = sorted_once.position
    if position is None:
        position = torch.arange(len(source), device=source.device)
    return sorted_once.rows.offset, sorted_once.rows.neighbors, position


def _sort_fake(
    source: Tensor, target: Tensor, num_sources: int, num_targets: int, square: int
) -> tuple[Tensor, Tensor, Tensor]:
    arcs = source.shape[0]
    neighbors = source.new_empty(arcs, dtype=sorting.index_dtype(2**31 - 1))
    return source.new_empty(square + 1, dtype=torch.int64), neighbors, source.new_empty(arcs, dtype=torch.int64)


sort_arcs = register(
    "sort_arcs(Tensor source, Tensor target, SymInt num_sources, SymInt num_targets, SymInt square) "
    "-> (Tensor, Tensor, Tensor)",
    _sort,
    _sort_fake,
)


def _sink_loops(
    source: Tensor, target: Tensor, num_sources: int, num_targets: int, num_loops: int
) -> tuple[Tensor, Tensor, Tensor]:
    Adjacency(source, target, num_sources, num_targets).check_ends()
    is_loop = source == target
    last = last_loops(source, is_loop, max(num_sources, num_loops))[:num_loops]
    return target.masked_fill(is_loop, num_targets), is_loop, last


def last_loops(source: Tensor, is_loop: Tensor, size: int) -> Tensor:
    """The position of the last self-loop of each of `size` vertices, or E without one, int64 [size]."""
    number = is_loop.nonzero().flatten()
    last = torch.full((size,), -1, dtype=torch.int64, device=source.device)
    last = last.scatter_reduce(0, source.index_select(0, number).to(torch.int64), number, "amax")
    return torch.where(last < 0, len(source), last)


def _sink_loops_fake(
    source: Tensor, target: Tensor, num_sources: int, num_targets: int, num_loops: int
) -> tuple[Tensor, Tensor, Tensor]:
    loop = source.new_empty(num_loops, dtype=torch.int64)
    return torch.empty_like(target), torch.empty_like(target, dtype=torch.bool), loop


sink_loops = register(
    "sink_loops(Tensor source, Tensor target, SymInt num_sources, SymInt num_targets, SymInt num_loops) "
    "-> (Tensor, Tensor, Tensor)",
    _sink_loops,
    _sink_loops_fake,
)
