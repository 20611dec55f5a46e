"""Versions of a graph that changes."""

from __future__ import annotations

import threading

from torch import Tensor

from tgraph.dynamic.runs import Arcs, Run, Schema, rows_added_up
from tgraph.kernels.operators.changes import inserted_rows, read_rows


class Version:
    """A state of the graph: arcs in CSR, and the runs of changes since, oldest first. Immutable, so that readers take
    no locks; versions share tensors.

    number : of batches since the store was made. num_vertices : n; the CSR may have fewer rows.
    """

    def __init__(self, schema: Schema, number: int, num_vertices: int, base: Arcs, runs: tuple[Run, ...] = ()):
        self.schema: Schema = schema
        self.number: int = number
        self.num_vertices: int = num_vertices
        self.base: Arcs = base
        self.runs: tuple[Run, ...] = runs
        self._merging = threading.Lock()
        self._arcs: Arcs | None = base if not runs and len(base.offset) == num_vertices + 1 else None

    @property
    def pending(self) -> int:
        """The number of changes in runs."""
        return sum([run.size for run in self.runs])

    @property
    def nbytes(self) -> int:
        """Bytes of the arcs and the runs."""
        return self.base.nbytes + sum(run.nbytes for run in self.runs)

    @property
    def is_merged(self) -> bool:
        """Whether all arcs are in CSR."""
        return self._arcs is not None

    def known(self) -> tuple[Arcs, tuple[Run, ...]]:
        """A CSR and the runs since: the arcs without runs, if all have been merged."""
        arcs = self._arcs
        return (self.base, self.runs) if arcs is None else (arcs, ())

    def after(self, run: Run, num_vertices: int) -> Version:
        """The next version. Its CSR is the merged one of this version, if a snapshot has asked for that."""
        base, runs = self.known()
        return Version(self.schema, self.number + 1, num_vertices, base, (*runs, run))

    def with_runs(self, base: Arcs, runs: tuple[Run, ...]) -> Version:
        """The same state with other tensors."""
        return Version(self.schema, self.number, self.num_vertices, base, runs)

    def arcs(self) -> Arcs:
        """All arcs in CSR; the first call merges the runs, and its result is cached. The columns of arc data are merged
        when they are first read, or when later runs are merged."""
        if self._arcs is None:
            with self._merging:
                if self._arcs is None:
                    self._arcs = self.base.changed(self.schema, self.runs, self.num_vertices)
        return self._arcs

    def insertions(self) -> tuple[Tensor, Tensor] | None:
        """The arcs of the runs as rows, (offset int64 [n + 1], neighbors int32), not in order within a row; None where
        they are merged into the CSR, and where one deletes."""
        if self.is_merged or not self.runs:
            return None
        self.base.verified(self.runs)
        return inserted_rows([run.changes for run in self.runs], self.num_vertices)

    def merge(self) -> Arcs:
        """All arcs in CSR, with all columns of arc data there."""
        return self.arcs().settled()

    def rows(self, vertices: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
        """The rows of the vertices int64 [k], as a CSR of k rows with the columns of arc data. Costs the length of the
        rows, and a search in each run."""
        arcs, runs = self.known()
        adds = self.schema.parallel == "sum"
        offset, neighbors, *data = read_rows(
            (arcs.offset, arcs.neighbors, *arcs.data),
            [run.readable() for run in runs],
            vertices,
            "keep" if adds else self.schema.parallel,
        )
        if adds and runs:
            return rows_added_up(self.schema, offset, neighbors, data)
        return offset, neighbors, tuple(data)
