"""The placement of a store's arcs and runs, the same for all that memory holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tgraph.dynamic import tiers
from tgraph.dynamic.runs import Arcs, Run, Schema, merged
from tgraph.dynamic.snapshots import SnapshotCsr, StreamedSnapshot
from tgraph.dynamic.version import Version


class Levels(Protocol):
    """Policy of a log-structured merge-tree: where a merged run lies, and how large runs become."""

    def merged(self, runs: Sequence[Run]) -> Run:
        """Runs, oldest first, as one."""

    def threshold(self, base: Arcs) -> int:
        """The number of changes above which all are merged into the CSR."""

    def storage(self, version: Version, directed: bool, ids: Any) -> SnapshotCsr | StreamedSnapshot:
        """The arcs of a snapshot."""


class MemoryLevels:
    """Arcs and runs in memory, see `Levels`."""

    def __init__(self, schema: Schema):
        self._schema = schema

    def merged(self, runs: Sequence[Run]) -> Run:
        return merged(self._schema, runs)

    def threshold(self, base: Arcs) -> int:
        return tiers.threshold(len(base.neighbors))

    def storage(self, version: Version, directed: bool, ids: Any) -> SnapshotCsr:
        return SnapshotCsr(version)
