"""The arcs of a store for its followers: rows of a CSR, and the changes since."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.dynamic import tiers
from tgraph.dynamic.runs import WEIGHTS, Arcs, Run, merged
from tgraph.dynamic.snapshots import SnapshotCsr
from tgraph.dynamic.version import Version
from tgraph.kernels.following import FollowedRows, Report
from tgraph.kernels.operators.changes import columns_of, inserts, rows_of


class FollowedGraph:
    """The rows of the version that a follower has reached: those of its CSR, by reference, and the changes of its runs
    sorted by row, some 60 bytes for each change beside 8 for each vertex.

    weighted : whether weights are read. counts : whether arcs are counted. records : whether `since_base` is used,
        which takes 16 bytes for each change.

    The rows of the reversed arcs of a directed graph are made at their first use, which merges the runs of the version,
    and take memory of their own: 4 bytes and a weight for each arc.
    """

    directed: bool

    def __init__(self, version: Version, directed: bool, weighted: bool, counts: bool = True, records: bool = False):
        self._counts, self._records = counts, records
        self._since: list[tuple[Tensor, Tensor]] = []
        self.schema, self.directed = version.schema, directed
        names = list(self.schema.columns)
        self._column = names.index(WEIGHTS) if weighted and WEIGHTS in names else None
        self.rows: FollowedRows = FollowedRows(self.schema.parallel, self._counts)
        self._reversed: FollowedRows | None = None
        self._reversed_base = 0  # bytes of their CSR
        self.version = version
        self._rebase()

    @property
    def weighted(self) -> bool:
        """Whether arcs have weights that are read."""
        return self._column is not None

    @property
    def nbytes(self) -> int:
        """Bytes beside the store."""
        return self.rows.nbytes + (0 if self._reversed is None else self._reversed.nbytes + self._reversed_base)

    @property
    def base(self) -> Arcs:
        """The CSR."""
        return self._base

    def advance(self, version: Version, runs: Sequence[Run], compares: bool = True) -> Report:
        """Apply the runs committed up to a version; returns their effect. compares : see `FollowedRows`."""
        run = merged(self.schema, runs)
        weights, n = self.weights_of(run.data), version.num_vertices
        report = self.rows.report(run.changes, weights, n, compares)
        if self._reversed is not None:
            self._reversed.apply(run.changes, weights, n, swapped=True)
            if self._reversed.num_changes > tiers.threshold(len(version.base.neighbors)):
                self._reversed = None
        self.version = version
        self._record(report)
        if version.base is not self._base:
            self._rebase()
        return report

    def since_base(self) -> tuple[Tensor, Tensor, Tensor]:
        """The changes to the CSR: (source, target, increase of the sum of the weights) for each pair of each run."""
        pairs, grown = zip(
            (torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.float64)), *self._since, strict=True
        )
        pair = torch.cat(pairs)
        return rows_of(pair), columns_of(pair), torch.cat(grown)

    def reversed(self) -> FollowedRows:
        """The rows of the reversed arcs; in an undirected graph the rows themselves."""
        if not self.directed:
            return self.rows
        if self._reversed is None:
            graph = Graph.of_storage(SnapshotCsr(self.version)).transpose()
            made = FollowedRows(self.schema.parallel, self._counts)
            weights = graph.weights if self.weighted else None
            made.rebase(graph.offset, graph.neighbors, weights)
            self._reversed_base = sum(
                part.nbytes for part in (graph.offset, graph.neighbors, weights) if part is not None
            )
            self._reversed = made
        return self._reversed

    def _rebase(self) -> None:
        version = self.version
        self._base, runs = version.known()
        self.rows.rebase(self._base.offset, self._base.neighbors, self.weights_of(self._base.data))
        self._since.clear()
        for run in runs:
            weights, n = self.weights_of(run.data), version.num_vertices
            if self._records:
                self._record(self.rows.report(run.changes, weights, n, False))
            else:
                self.rows.apply(run.changes, weights, n)

    def _record(self, report: Report) -> None:
        if self._records:
            self._since.append((report.pair, report.sum_after - report.sum_before))

    def weights_of(self, data: Sequence[Tensor]) -> Tensor | None:
        """The weights among columns of arc data, where they are read."""
        return None if self._column is None else data[self._column]

    def new_weights(self, runs: Sequence[Run], report: Report) -> Tensor:
        """The weights that runs insert; where weights are added up, the sums."""
        assert self._column is not None
        if self.schema.parallel == "sum":
            return report.sum_after[report.after > 0]  # of rows that count
        return torch.cat([run.data[self._column][inserts(run.changes)] for run in runs])

    def degree_sum(self, vertices: Tensor) -> int:
        """Number of arcs from and to these vertices."""
        return sum(rows.num_arcs(vertices) for rows in self._sides())

    def _sides(self) -> tuple[FollowedRows, ...]:
        return (self.rows, self.reversed()) if self.directed else (self.rows,)


def neighbors_of(graph: FollowedGraph, vertices: Tensor, each_way: bool = False) -> tuple[Tensor, Tensor]:
    """The neighbours of distinct vertices int64 [k] in either direction, once each and without the vertices themselves:
    (place in `vertices` int64 [e], neighbor int64 [e]), ascending. each_way : in a directed graph a neighbour by arcs
    in both directions occurs twice."""
    keys = []
    for rows in graph._sides():
        offset, column = rows.gather(vertices)
        place = torch.repeat_interleave(torch.arange(len(vertices)), offset.diff())
        keys.append(torch.unique_consecutive((place << 32 | column)[column != vertices[place]]))
    both = keys[0] if len(keys) == 1 else torch.cat(keys).sort().values
    both = both if each_way else torch.unique_consecutive(both)
    return both >> 32, both & 0xFFFFFFFF
