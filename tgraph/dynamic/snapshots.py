"""The storages of a snapshot: a CSR in memory or on memory maps, or blocks that are streamed."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.deferred_csr import DeferredCsr
from tgraph.core.derived import AtFirstUse, computed_once
from tgraph.core.graph import Graph
from tgraph.core.storage import Rows
from tgraph.dynamic.blocks import VersionBlocks
from tgraph.dynamic.runs import WEIGHTS
from tgraph.dynamic.version import Version
from tgraph.errors import ArgumentError
from tgraph.stream.run.budget import COPIES, COPIES_IN_PLACE, budget_for, nbytes, vertex_bytes
from tgraph.stream.run.scheduler import Pipeline
from tgraph.stream.run.section import Section
from tgraph.stream.run.streamed import Streamed

LEAST = 1 << 23  # bytes for blocks, however little memory the arcs may take


class SnapshotCsr(DeferredCsr):
    """The CSR of a version, made from its runs at first use and cached while the version lives.

    Before that, `rows` reads single rows from the runs.
    """

    version: Version
    on_maps: bool

    def __init__(self, version: Version, on_maps: bool = False):
        """on_maps : the arcs may be larger than the memory, so that nothing is copied."""
        super().__init__(version.num_vertices, version=version, on_maps=on_maps)

    def _at_first_use(self, name: str) -> Tensor | None:
        return getattr(self.version.arcs(), name) if name != WEIGHTS else self.column(WEIGHTS)

    def given(self, name: str) -> Tensor | None:
        """A tensor for the graph of a user, who may write into the weights: in memory these are a copy."""
        found = getattr(self, name)
        return found.clone() if name == WEIGHTS and found is not None and not self.on_maps else found

    def column(self, name: str) -> Tensor | None:
        """A column of arc data, [m] in the order of the arcs; None for an unknown name."""
        columns = list(self.version.schema.columns)
        return self.version.arcs().data[columns.index(name)] if name in columns else None

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
        offset, neighbors, data = self.version.rows(vertices)
        columns = list(self.version.schema.columns)
        return offset, neighbors, data[columns.index(WEIGHTS)] if WEIGHTS in columns else None

    def blocks_within(self, graph: Graph, memory: int) -> VersionBlocks:
        return VersionBlocks(self.version, graph.directed, graph._ids, memory)

    def pieces(self) -> Sequence[Csr]:
        """See `Csr.pieces`: the CSR and the runs, while they are not merged and insert alone."""
        if self.on_maps or self.version.is_merged:
            self._cache.values.pop("pieces", None)
            return (self,)
        return self._cache.get("pieces", self._unmerged) or (self,)

    def _unmerged(self) -> Sequence[Csr]:
        """The CSR and the runs, none where they delete."""
        if (rows := self.version.insertions()) is None:
            return ()
        base, n = self.version.base, self.num_vertices
        offset, missing = base.offset, n + 1 - len(base.offset)
        if missing:
            offset = torch.cat((offset, offset[-1:].expand(missing)))
        return Csr.unchecked(offset, base.neighbors, None, n), Csr.trusted(*rows, None, n)

    def __reduce__(self) -> Any:
        return Csr.unchecked, (self.offset, self.neighbors, None, self.num_columns, self.weights)


class StreamedSnapshot(Streamed):
    """The arcs of a version, streamed from files and runs; planned at the first use.

    version, directed, ids : of the snapshot. memory : bytes for blocks, beside the vertex data. folder : of the store.

    Access to the arcs as CSR merges all runs into files, and gives memory maps of these.
    """

    version: Version
    source: VersionBlocks = cast(VersionBlocks, AtFirstUse())
    memory: int = cast(int, AtFirstUse())
    num_arcs: int = cast(int, AtFirstUse())
    pipeline: Pipeline = cast(Pipeline, AtFirstUse())
    section: Section = cast(Section, AtFirstUse())

    def __init__(self, version: Version, directed: bool, ids: Any, memory: int, folder: Path | None):
        self.version, self.num_vertices = version, version.num_vertices
        self._given = directed, ids, max(memory, LEAST), folder
        self._device, self._opening = torch.device("cpu"), threading.Lock()

    def _at_first_use(self, name: str) -> Any:
        with self._opening:
            if name not in self.__dict__:
                source = VersionBlocks(self.version, *self._given, beside=True)
                super().__init__(source, source.memory, self._device)
                weakref.finalize(self.pipeline, source.close)
        return self.__dict__[name]

    def blocks_within(self, graph: Graph, memory: int) -> VersionBlocks:
        return VersionBlocks(self.version, graph.directed, graph._ids, memory, self._given[3])

    def reserve(self, values: Any, in_place: bool) -> None:
        """Add the vertex data to the memory for blocks."""
        copies = COPIES_IN_PLACE if in_place else COPIES
        taken = vertex_bytes(self.source, copies * nbytes(values)) - self.source.working_bytes
        self.memory = self.pipeline.memory = budget_for(self._given[2] + taken + self.pipeline.states)
        super().reserve(values, in_place)

    @property
    def nbytes(self) -> int:
        """Bytes of the arcs and the runs, in memory or not."""
        return self.version.nbytes

    @property
    def weight_dtype(self) -> torch.dtype | None:
        """The dtype of the weights; None without weights."""
        return self.csr.weight_dtype

    # ---- arcs in CSR, and rows ---------------------------------------------------------------------------------------

    @computed_once
    def csr(self) -> SnapshotCsr:
        """The arcs on memory maps."""
        return SnapshotCsr(self.version, on_maps=True)

    def to_csr(self) -> Rows:
        """The arcs on memory maps: (offset int64 [n + 1], neighbors [m], weights [m] or None)."""
        return self.csr.offset, self.csr.neighbors, self.csr.weights

    def _rows(self, vertices: Tensor) -> Rows:
        return self.csr.rows(vertices)


def version_of(graph: Graph) -> Version:
    """The version of a snapshot. Raises ArgumentError for another graph."""
    if not isinstance(graph.storage, (SnapshotCsr, StreamedSnapshot)):
        raise ArgumentError("graph: expected a snapshot of a store, without at= and since=")
    return graph.storage.version
