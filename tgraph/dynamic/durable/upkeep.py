"""Upkeep of a folder by the process that changes it: merging, flushing and checkpoints."""

from __future__ import annotations

import os
from typing import Any

from tgraph.dynamic.compaction import Merging
from tgraph.dynamic.durable.checkpoints import Checkpoints
from tgraph.dynamic.durable.commit import CommitLog
from tgraph.dynamic.durable.flushing import Flushing
from tgraph.dynamic.durable.loading import Contents
from tgraph.dynamic.durable.locking import FolderLock
from tgraph.dynamic.durable.room import Room
from tgraph.dynamic.guarded import Guarded
from tgraph.dynamic.writing import Writer
from tgraph.errors import ArgumentError
from tgraph.stream.memory import trim_heap


class FolderUpkeep:
    """The `Compaction` of a store in a folder: runs are merged, and moved to files, of which checkpoints are written.

    contents : of the folder. log : its log. lock : held by this process.
    """

    def __init__(self, contents: Contents, log: CommitLog, lock: FolderLock):
        self.contents, self._log, self._lock, self._process = contents, log, lock, os.getpid()
        self.room = Room()
        self.merging = Merging(contents.head, contents.levels, self.room.attempt, self._merged)
        claims, wake = self.merging.claims, self.merging.worker.wake
        self.flushing = Flushing(contents.head, contents.levels, claims, self.room, wake)
        self.checkpoints = Checkpoints(contents, log, claims, self.merging.pace, self.room)

    def _merged(self) -> None:
        self.room.found()
        if self.checkpoints.base_is_new():
            self.checkpoints.worker.wake()

    def check(self) -> None:
        """See `Compaction.check`; ArgumentError in another process, too."""
        self.merging.check()
        path = self.contents.path
        if os.getpid() != self._process:
            raise ArgumentError(f"{path}: opened by process {self._process}; open it here once that has closed it")
        for worker in (self.flushing.worker, self.checkpoints.worker):
            if (fault := worker.fault) is not None:
                failed = f"writing a checkpoint in the background failed ({fault})"
                raise RuntimeError(f"{path}: {failed}; close the store and open it again") from fault

    def keep_pace(self, begun: float, size: int) -> None:
        with self.room.attempt():  # the batch is committed, whatever becomes of merging
            self.merging.keep_pace(begun, size)
            self.flushing.wait()
            self.checkpoints.keep_pace(size)

    def compact(self, writing: Guarded[Writer]) -> None:
        """See `Compaction.compact`; afterwards all arcs lie in files, and nothing in the log."""
        with writing as writer:
            self.check()
            writer.newest()
            self.merging.merge_all()
        trim_heap()
        self.checkpoints.write()
        self.room.found()

    def close(self, writing: Guarded[Writer]) -> None:
        """See `Compaction.close`; other processes may change the folder then."""
        with writing as writer:
            if self.merging.closed or os.getpid() != self._process:  # the threads are those of another process
                return
            self.merging.close(writing)
            self.flushing.worker.stop()
            self.checkpoints.worker.stop()
            try:
                writer.newest()
                self._log.file.close()
                self.checkpoints.close()
            finally:
                self._lock.release()

    def info(self) -> dict[str, Any]:
        lacking = self.room.lacking
        return self.contents.info() | {"waits for room": None if lacking is None else str(lacking)}
