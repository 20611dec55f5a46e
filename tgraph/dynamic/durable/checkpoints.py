"""Checkpoints: the newest version in files, which make the log before it superfluous."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import cast

from tgraph.dynamic.background import Worker
from tgraph.dynamic.compaction import Claims, Pace
from tgraph.dynamic.durable.commit import CommitLog
from tgraph.dynamic.durable.levels import LevelArcs, LevelRun, level_of
from tgraph.dynamic.durable.loading import Contents
from tgraph.dynamic.durable.record import Ids
from tgraph.dynamic.durable.room import Room
from tgraph.dynamic.guarded import Guarded
from tgraph.dynamic.runs import Arcs, Run

LEAST_LOG = 1 << 26  # bytes of the log, after which there is a checkpoint,
LOG_SHARE = 2  # or this fraction of the bytes of the arcs,
MEMORY_SHARE = 4  # but at most this fraction of the memory that the arcs may take
_BEHIND = 3  # times as many, and a writer waits for the checkpoint
_BUSY = 0.05  # seconds since the last sync of the log, in which it is in use
_SPARED = 4  # times as long as a piece of a checkpoint takes, the disk is left to the log, at most


class Checkpoints:
    """Writes checkpoints of a folder, one at a time, when the log has grown or the CSR lies in new files."""

    def __init__(self, contents: Contents, log: CommitLog, claims: Guarded[Claims], pace: Pace, room: Room):
        self._contents, self._head, self._levels = contents, contents.head, contents.levels
        self._log, self._claims, self._pace, self._room = log, claims, pace, room
        self._covered = 0  # bytes of the log that a checkpoint covers
        self._writing = threading.Lock()
        self._levels.pause = self._pause
        self.worker = Worker(self._step)

    def keep_pace(self, size: int) -> None:
        """Begin a checkpoint where the log is long, and wait after a batch of `size` arcs where it is far too long."""
        if (behind := self._behind()) > 1:
            self.worker.wake()
            self._pace.slow_down(behind / _BEHIND - 1, size)

    def base_is_new(self) -> bool:
        """Whether the CSR lies in files that the manifest does not name, so that the old ones take room, too."""
        return level_of(self._head.version.base) not in (None, self._contents.manifest.base)

    def write(self) -> None:
        """Write the newest version to files, and remove the part of the log and the older files that these replace."""
        with self._writing:
            appended, version, levels = self._log.file.appended, self._head.version, self._levels
            assert isinstance(version.base, LevelArcs)
            base = levels.keep_arcs(version.base)
            stored = next((place for place, run in enumerate(version.runs) if not levels.has(run)), len(version.runs))
            runs = list(version.runs[:stored])
            if stored < len(version.runs):
                runs.append(levels.keep_run(version.runs[stored:]))
            ids = None
            if self._head.ids is not None and version.num_vertices:
                ids = levels.write_ids(cast(Ids, self._head.ids.since(0)[: version.num_vertices]))
            self._contents.manifest = replace(
                self._contents.manifest,
                number=version.number,
                num_vertices=version.num_vertices,
                base=base,
                runs=tuple(run.level for run in runs if isinstance(run, LevelRun)),
                ids=ids,
                last=version.number,
            )
            self._log.file.flush()  # the log must reach as far on the disk as the checkpoint
            self._contents.manifest.write(self._contents.path)
            with self._claims as claims, self._head.publishing as publication:  # claimed runs are replaced by others
                if claims.merging <= stored < len(version.runs) and claims.flushing is None:
                    publication.replace(version, (stored, len(version.runs)), runs[-1])
            self._covered = appended
            self._log.file.cut(version.number, self._pause)
            now = self._head.version
            others: list[Arcs | Run] = [now.base, now.known()[0], *now.runs]
            levels.remove_others([*self._contents.manifest.levels, *map(level_of, others)])

    def close(self) -> None:
        """Note the last version in the manifest, which helps to notice damage."""
        if self._contents.manifest.last < self._log.number:
            with self._room.attempt():
                replace(self._contents.manifest, last=self._log.number).write(self._contents.path)

    def _step(self) -> bool:
        if self._behind() > 1 or self.base_is_new():
            with self._room.attempt():
                self.write()
                self._room.found()
        return False

    def _behind(self) -> float:
        """Length of the log behind the last checkpoint, relative to the length that begins one."""
        share = min(self._head.version.base.nbytes // LOG_SHARE, self._levels.memory // MEMORY_SHARE)
        return (self._log.file.appended - self._covered) / max(LEAST_LOG, share)

    def _pause(self) -> float | None:
        """Share of its time for which a checkpoint leaves the disk to the log: the less, the further it is behind."""
        if time.monotonic() - self._log.file.synced_at > _BUSY:
            return None
        return _SPARED * max(1 - self._behind() / _BEHIND, 0)
