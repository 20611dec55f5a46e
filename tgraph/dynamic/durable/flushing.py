"""Flushing: runs are moved from memory to files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tgraph.dynamic import tiers
from tgraph.dynamic.background import Worker
from tgraph.dynamic.compaction import Claims
from tgraph.dynamic.durable.levels import FileLevels
from tgraph.dynamic.durable.room import Room
from tgraph.dynamic.guarded import Guarded
from tgraph.dynamic.head import Head
from tgraph.dynamic.runs import Run
from tgraph.dynamic.version import Version

SHARE = 8  # runs are moved to files when they take this fraction of the memory, and writers wait at half of it
_WAIT = 1e-3  # seconds


class Flushing:
    """Moves runs to files where they exceed a share of the memory, even during a merge.

    flushed : called after some work.
    """

    def __init__(
        self, head: Head, levels: FileLevels, claims: Guarded[Claims], room: Room, flushed: Callable[[], None]
    ):
        self._head, self._levels, self._claims, self._room, self._flushed = head, levels, claims, room, flushed
        self._change_size = 8 + sum(dtype.itemsize for dtype in head.version.schema.columns.values())  # bytes
        self.worker = Worker(self._step)

    def wait(self) -> None:
        """Wait for runs to be moved, where they take much of the memory."""
        if not self._exceed(self._head.version.runs, SHARE):
            return
        while not self.worker.stopped and self.worker.fault is None and self._room.lacking is None:
            self.worker.wake()
            version = self._head.version
            if not self._exceed(version.runs[slice(*self._unflushed(version))], 2):
                return
            time.sleep(_WAIT)

    def _step(self) -> bool:
        with self._claims as claims:
            version = self._head.version
            first, last = self._unflushed(version)
            first = max(first, claims.merging)
            if first >= last or not self._exceed(version.runs[first:last], SHARE):
                return False
            claims.flushing = first
        worked = False
        try:
            with self._room.attempt():
                made = self._levels.keep_run(version.runs[first:last])
                with self._head.publishing as publication:
                    publication.replace(version, (first, last), made)
                self._room.found()
                worked = True
        finally:
            with self._claims as claims:
                claims.flushing = None
        self._flushed()
        return worked

    def _unflushed(self, version: Version) -> tuple[int, int]:
        """The runs [first, last) that lie in memory alone, without small ones that writers merge."""
        last = tiers.stable(version.runs)
        return next((place for place in range(last) if not self._levels.has(version.runs[place])), last), last

    def _exceed(self, runs: Sequence[Run], share: int) -> bool:
        """Whether runs exceed a fraction 1 / share of the memory."""
        return sum([run.size for run in runs]) * self._change_size * share > self._levels.memory
