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
from tgraph.kernels.operators.sampling import negatives as operators
from tgraph.sampling.distinct_negatives import choose_listed, draw_distinct, draw_distinct_for, list_free
from tgraph.sampling.seeds import Seeded, checked_vertices

_LISTED = 2**32  # the random stream of pairs chosen from lists; below are the streams of rounds


class NegativeSampler(Seeded):
    """Draws pairs of vertices without an edge, and never an edge, however dense the graph.

    Parameters
    ----------
    graph : a Graph, or a Csr with sources as rows, for edges between two types of vertices.
    by : "uniform" draws all pairs alike; "degree" draws the source by out-degree and the destination by in-degree, and
        after 64 edges in a row a uniform pair. Parallel edges count once.
    self_loops : whether pairs (v, v) may be drawn; always, where sources and destinations are different vertices.
    distinct : whether a call draws no pair twice. By degree, repeated pairs are rejected; the pairs that are missing
        after 16 rounds are uniform.
    seed : with the number of the call, determines the draws, on any number of threads.

    Raises ArgumentError for another `by`.

    >>> sampler = tg.sampling.NegativeSampler(tg.generators.star(3), distinct=True)
    >>> sampler.sample(3)
    tensor([[2, 1, 2],
            [1, 2, 3]])
    """

    distinct: bool
    seed: int

    def __init__(
        self,
        graph: Graph | Csr,
        *,
        by: Literal["uniform", "degree"] = "uniform",
        self_loops: bool = False,
        distinct: bool = False,
        seed: int = 0,
    ):
        if by not in ("uniform", "degree"):
            raise ArgumentError(f"by: expected 'uniform' or 'degree', got {by!r}")
        self.by, self.distinct, self.seed = by, distinct, seed
        self._offset, self._neighbors, self._columns = _different_arcs(graph)
        is_square = isinstance(graph, Graph) or graph.num_rows == graph.num_columns
        self._loops = None if self_loops or not is_square else _loops_before(self._offset, self._neighbors)

    def sample(self, count: int, *, draw: int | None = None) -> Tensor:
        """`count` pairs, int64 [2, count]: sources and destinations; with repetitions unless `distinct`.

        draw : the number of the call, by default counted; with the sampler's seed, determines the draws. Raises
        ArgumentError where all pairs are edges, or fewer than `count` distinct pairs have none.

        >>> sampler = tg.sampling.NegativeSampler(tg.generators.complete(4), self_loops=True)
        >>> source, target = sampler.sample(5)
        >>> source.equal(target)
        True
        """
        if count < 0:
            raise ArgumentError(f"count: must not be negative, got {count}")
        rows = len(self._offset) - 1
        loops = 0 if self._loops is None else rows - int(self._loops[-1])
        free = rows * self._columns - len(self._neighbors) - loops
        if count and free <= 0:
            raise ArgumentError("graph: it has an edge between all pairs of vertices; no negative pair exists")
        if not self.distinct:
            return self._drawn(None, count, self.by == "degree", self._key(draw))
        if count > free:
            raise ArgumentError(f"count: the graph has {free} pairs without an edge, got {count}; distinct=False")
        if 2 * count <= free:
            return draw_distinct(self._drawn, self._columns, count, self.by == "degree", self._key(draw))
        row, column = self._listed(torch.arange(rows))
        chosen = self._chosen(torch.zeros_like(row), row, column, torch.tensor([count]), self._key(draw))
        return torch.stack((row[chosen], column[chosen]))

    def sample_for(self, sources: Tensor | Sequence[int], *, draw: int | None = None) -> Tensor:
        """A pair for each of the `sources`, int64 [2, k], without an edge to its destination (structured sampling).

        draw : as for `sample`. Raises ArgumentError for sources out of range, with an edge to all vertices, or more
        frequent than their `distinct` destinations.

        >>> sampler = tg.sampling.NegativeSampler(tg.Graph.from_edges([0, 0], [1, 2], num_vertices=4))
        >>> sampler.sample_for([0, 0])
        tensor([[0, 0],
                [3, 3]])
        """
        index = checked_vertices(sources, len(self._offset) - 1, "sources")
        free = self._free(index)
        if len(full := (free <= 0).nonzero()):
            place = int(full[0])
            raise ArgumentError(f"sources[{place}]: vertex {int(index[place])} has an edge to all; leave it out")
        key, by_degree = self._key(draw), self.by == "degree"
        if not self.distinct:
            return self._drawn(index, len(index), by_degree, key)
        times = torch.bincount(index, minlength=len(self._offset) - 1)
        if len(short := (times[index] > free).nonzero()):
            vertex, most = int(index[short[0]]), int(free[short[0]])
            raise ArgumentError(
                f"sources[{int(short[0])}]: vertex {vertex} occurs {int(times[vertex])} times, and has no edge to "
                f"{most} vertices; leave some out, or distinct=False"
            )
        is_listed = 2 * times[index] > free
        found = torch.empty_like(index)
        found[~is_listed] = draw_distinct_for(self._drawn, self._columns, index[~is_listed], by_degree, key)
        rows, place = index[is_listed].unique(return_inverse=True)
        at, column = self._listed(rows)
        chosen = self._chosen(at, rows[at], column, times[rows], random.key(key, _LISTED))
        found[is_listed.nonzero().squeeze(1)[place.argsort(stable=True)]] = column[chosen]
        return torch.stack((index, found))

    def _listed(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        return list_free(self._offset, self._neighbors, self._columns, rows, self._loops is None)

    def _chosen(self, group: Tensor, row: Tensor, column: Tensor, wanted: Tensor, key: int) -> Tensor:
        """The positions of `wanted` pairs of each group, by `choose_listed`."""
        weight = None
        if self.by == "degree":
            received = torch.bincount(self._neighbors, minlength=self._columns)
            weight = (self._offset[row + 1] - self._offset[row]).double() * received[column]
        return choose_listed(group, weight, wanted, key)

    def _free(self, rows: Tensor) -> Tensor:
        """The number of pairs without an edge in these rows."""
        free = self._columns - (self._offset[rows + 1] - self._offset[rows])
        return free if self._loops is None else free - 1 + (self._loops[rows + 1] - self._loops[rows])

    def _drawn(self, sources: Tensor | None, count: int, by_degree: bool, key: int) -> Tensor:
        arcs = self._offset, self._neighbors, self._columns, self._loops
        return operators.sample_negatives(*arcs, sources, count, by_degree, key)


def negative_edges(
    graph: Graph | Csr,
    count: int | None = None,
    *,
    sources: Tensor | Sequence[int] | None = None,
    by: Literal["uniform", "degree"] = "uniform",
    self_loops: bool = False,
    distinct: bool = False,
    seed: int = 0,
) -> Tensor:
    """`count` pairs of vertices without an edge, or one for each of `sources`, int64 [2, k]. `by`, `self_loops`,
    `distinct` and `seed` are those of `NegativeSampler`, faster for repeated draws.

    Raises ArgumentError as it does, and unless exactly one of `count` and `sources` is given.

    >>> graph = tg.generators.cycle(5)
    >>> tg.sampling.negative_edges(graph, 4, seed=1)
    tensor([[4, 0, 2, 3],
            [2, 2, 0, 0]])
    """
    if (count is None) == (sources is None):
        raise ArgumentError("count, sources: give one of both")
    sampler = NegativeSampler(graph, by=by, self_loops=self_loops, distinct=distinct, seed=seed)
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
    """Running count of self-loops, int64 [n + 1]."""
    row = sorting.expand_rows(offset, neighbors.dtype)
    return offset_of(torch.bincount(row[row == neighbors].long(), minlength=len(offset) - 1))
