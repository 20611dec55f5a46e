"""Pairs of vertices without an edge, the negative examples of link prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.building import sorting
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.core.rows import offset_of
from tgraph.errors import ArgumentError
from tgraph.kernels.portable.sampling import negatives as operators


class NegativeSampler:
    """Draws pairs of vertices without an edge; none of those that are edges, however dense the graph.

    Parameters
    ----------
    graph : a Graph, or a Csr whose rows are sources, for edges between two types of vertices.
    by : "uniform" draws all pairs alike; "degree" the source and the destination of one edge each, by out-degree and
        in-degree, and, after 64 pairs in a row that are edges, one of all. Parallel edges count once.
    self_loops : whether pairs (v, v) may be drawn; always, where sources and destinations are different vertices.
    seed : with the number of the call, determines what is drawn, on any number of threads.

    Raises ArgumentError for another `by`.
    """

    def __init__(
        self,
        graph: Graph | Csr,
        *,
        by: Literal["uniform", "degree"] = "uniform",
        self_loops: bool = False,
        seed: int = 0,
    ):
        if by not in ("uniform", "degree"):
            raise ArgumentError(f"by: expected 'uniform' or 'degree', got {by!r}")
        self.by, self.seed = by, seed
        self._offset, self._neighbors, self._columns = _different_arcs(graph)
        is_square = isinstance(graph, Graph) or graph.num_rows == graph.num_columns
        self._loops = None if self_loops or not is_square else _loops_before(self._offset, self._neighbors)
        self._calls = 0

    def sample(self, count: int, *, draw: int | None = None) -> Tensor:
        """`count` pairs, int64 [2, count]: sources and destinations. The same pair may be drawn again.

        draw : the number of the call, which with the sampler's seed determines what is drawn; by default that of the
        previous call and one more. Raises ArgumentError where all pairs are edges.
        """
        if count < 0:
            raise ArgumentError(f"count: must not be negative, got {count}")
        rows = len(self._offset) - 1
        loops = 0 if self._loops is None else rows - int(self._loops[-1])
        if count and rows * self._columns - len(self._neighbors) - loops <= 0:
            raise ArgumentError("graph: it has an edge between all pairs of vertices; there are no others to draw")
        return self._drawn(None, count, draw)

    def sample_for(self, sources: Tensor | Sequence[int], *, draw: int | None = None) -> Tensor:
        """A pair for each of the `sources`, int64 [2, k]: destinations that they have no edge to (structured sampling).

        draw : as for `sample`. Raises ArgumentError for sources that are no vertices or have an edge to all.
        """
        index = torch.as_tensor(sources).to(torch.int64)
        rows = len(self._offset) - 1
        if index.ndim != 1:
            raise ArgumentError(f"sources: expected [k], got {list(index.shape)}")
        wrong = (index < 0) | (index >= rows)
        if bool(wrong.any()):
            place = int(wrong.nonzero()[0])
            raise ArgumentError(f"sources[{place}] is {int(index[place])}; vertices are 0 to {rows - 1}")
        full = self._free(index) <= 0
        if bool(full.any()):
            place = int(full.nonzero()[0])
            raise ArgumentError(f"sources[{place}]: vertex {int(index[place])} has an edge to all; leave it out")
        return self._drawn(index, len(index), draw)

    def _free(self, rows: Tensor) -> Tensor:
        """How many pairs without an edge these rows have."""
        free = self._columns - (self._offset[rows + 1] - self._offset[rows])
        return free if self._loops is None else free - 1 + (self._loops[rows + 1] - self._loops[rows])

    def _drawn(self, sources: Tensor | None, count: int, draw: int | None) -> Tensor:
        if draw is None:
            draw = self._calls
            self._calls += 1
        key = random.key(self.seed, draw)
        arcs = self._offset, self._neighbors, self._columns, self._loops
        return operators.sample_negatives(*arcs, sources, count, self.by == "degree", key)


def negative_edges(
    graph: Graph | Csr,
    count: int | None = None,
    *,
    sources: Tensor | Sequence[int] | None = None,
    by: Literal["uniform", "degree"] = "uniform",
    self_loops: bool = False,
    seed: int = 0,
) -> Tensor:
    """`count` pairs of vertices without an edge, or one for each of `sources`, int64 [2, k]; see `NegativeSampler`,
    which to keep where pairs are drawn again and again.

    Raises ArgumentError as it does, and where not exactly one of `count` and `sources` is given.
    """
    if (count is None) == (sources is None):
        raise ArgumentError("count, sources: give one of both")
    sampler = NegativeSampler(graph, by=by, self_loops=self_loops, seed=seed)
    if sources is not None:
        return sampler.sample_for(sources)
    assert count is not None
    return sampler.sample(count)


def _different_arcs(graph: Graph | Csr) -> tuple[Tensor, Tensor, int]:
    """(offset, neighbors, columns) without parallel arcs, ascending in each row."""
    if isinstance(graph, Graph):
        arcs = graph.decoded()
        offset, neighbors, columns = arcs.offset, arcs.neighbors, graph.num_vertices
    else:
        offset, neighbors, columns = graph.offset, graph.neighbors, graph.num_columns
        order = sorting.lexical_order(graph.row_of_arc(), neighbors.long(), max(graph.num_rows, columns))
        neighbors = neighbors[order]
    offset, neighbors, _ = sorting.merge_parallel(offset, neighbors, None, "first")
    return offset, neighbors, columns


def _loops_before(offset: Tensor, neighbors: Tensor) -> Tensor:
    """How many of the rows before each have an arc to themselves, int64 [n + 1]."""
    row = sorting.expand_rows(offset, neighbors.dtype)
    return offset_of(torch.bincount(row[row == neighbors].long(), minlength=len(offset) - 1))
