"""Group commit: batches are appended to the log, and published once it is on the disk."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from tgraph.dynamic.durable.log import Log
from tgraph.dynamic.durable.record import Batch
from tgraph.dynamic.head import Head
from tgraph.dynamic.runs import Run
from tgraph.dynamic.writing import Writer


class CommitLog:
    """The `tgraph.dynamic.writing.Log` of a store in a folder: one sync of the disk for all writers that wait."""

    def __init__(self, head: Head, file: Log):
        self.file, self._head = file, head
        self._last = (head.version.number, head.version.num_vertices)
        self._unpublished: deque[tuple[int, Run, int]] = deque()  # (version, run, n)
        self._syncing = threading.Lock()

    @property
    def number(self) -> int:
        """The version of the last batch appended."""
        return self._last[0]

    @property
    def num_vertices(self) -> int:
        """n after the last batch appended."""
        return self._last[1]

    def append(self, writer: Writer, run: Run, num_vertices: int) -> int:
        """Append a batch; returns the number of its version. Raises as `Log.append` of the file."""
        number, before = self._last[0] + 1, self._last[1]
        ids: Any = () if writer.ids is None else writer.ids.since(before)
        self.file.append(Batch(number, num_vertices, run, ids))
        self._last = (number, num_vertices)
        self._unpublished.append((number, run, num_vertices))
        return number

    def wait(self, number: int | None = None) -> None:
        """Return once the log is on the disk up to a version, None for the last one appended, and readers see it; one
        thread syncs and publishes for all that wait."""
        number = self.number if number is None else number
        while self._head.version.number < number:
            with self._syncing:
                if self._head.version.number >= number:
                    return
                count = len(self._unpublished)
                self.file.sync()
                for _ in range(count):
                    following, run, num_vertices = self._unpublished[0]
                    if following > self._head.version.number:
                        with self._head.publishing as publication:
                            publication.commit(run, num_vertices)
                    self._unpublished.popleft()
