"""Versions of a graph that changes, and the snapshot that a program runs on."""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.deferred_csr import DeferredCsr
from tgraph.core.storage import Rows
from tgraph.dynamic.runs import WEIGHTS, Arcs, Run, Schema, rows_added_up
from tgraph.kernels.portable.changes import read_rows


class Version:
    """A state of the graph: arcs in CSR, and the runs of changes that came after, oldest first. Immutable, so that
    readers take no locks; versions share the tensors that they have in common.

    number : of batches since the store was made. num_vertices : n; the CSR may have fewer rows.
    """

    def __init__(self, schema: Schema, number: int, num_vertices: int, base: Arcs, runs: tuple[Run, ...] = ()):
        self.schema, self.number, self.num_vertices, self.base, self.runs = schema, number, num_vertices, base, runs
        self._settling = threading.Lock()
        self._settled: Arcs | None = base if not runs and len(base.offset) == num_vertices + 1 else None

    @property
    def pending(self) -> int:
        """The number of changes in runs."""
        return sum([run.size for run in self.runs])

    @property
    def nbytes(self) -> int:
        """Bytes of the arcs and the runs."""
        return self.base.nbytes + sum(run.nbytes for run in self.runs)

    def known(self) -> tuple[Arcs, tuple[Run, ...]]:
        """A CSR and the runs that came after it: none, if all have been merged."""
        settled = self._settled
        return (self.base, self.runs) if settled is None else (settled, ())

    def after(self, run: Run, num_vertices: int) -> Version:
        """The next version. It begins with the CSR of this one, if a snapshot has asked for it."""
        base, runs = self.known()
        return Version(self.schema, self.number + 1, num_vertices, base, (*runs, run))

    def with_runs(self, base: Arcs, runs: tuple[Run, ...]) -> Version:
        """The same state in other tensors."""
        return Version(self.schema, self.number, self.num_vertices, base, runs)

    def settled(self) -> Arcs:
        """All arcs in CSR; the first call merges the runs, the others return what it made."""
        if self._settled is None:
            with self._settling:
                if self._settled is None:
                    self._settled = self.base.changed(self.schema, self.runs, self.num_vertices)
        return self._settled

    def rows(self, vertices: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
        """The rows of the vertices int64 [k], as a CSR of k rows with the columns of arc data; costs what they are
        long, and a search in each run."""
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


class SnapshotCsr(DeferredCsr):
    """The CSR of a version, made from its runs at first use and kept while the version lives.

    Before that, `rows` reads what it is asked for from the runs.
    """

    version: Version

    def __init__(self, version: Version):
        super().__init__(version.num_vertices, version=version)

    def _at_first_use(self, name: str) -> Tensor | None:
        return getattr(self.version.settled(), name) if name != WEIGHTS else self.column(WEIGHTS)

    def column(self, name: str) -> Tensor | None:
        """A column of arc data, [m] in the order of the arcs; None where there is none of that name."""
        columns = list(self.version.schema.columns)
        return self.version.settled().data[columns.index(name)] if name in columns else None

    @property
    def weight_dtype(self) -> torch.dtype | None:
        return self.version.schema.columns.get(WEIGHTS)

    @property
    def device(self) -> torch.device:
        return self.version.base.neighbors.device

    @property
    def nbytes(self) -> int:
        return self.version.nbytes

    def rows(self, vertices: Tensor) -> Rows:
        """See `Storage.rows`."""
        offset, neighbors, data = self.version.rows(vertices)
        columns = list(self.version.schema.columns)
        return offset, neighbors, data[columns.index(WEIGHTS)] if WEIGHTS in columns else None

    def __reduce__(self) -> Any:
        return Csr.unchecked, (self.offset, self.neighbors, None, self.num_columns, self.weights)
