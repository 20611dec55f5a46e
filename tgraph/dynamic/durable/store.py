"""The store of a graph that changes, in a folder: the one in memory, with a log before it and checkpoints behind it."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from tgraph.core.graph import Graph
from tgraph.dynamic import compaction
from tgraph.dynamic.durable.levels import LevelArcs, LevelRun, Levels, level_of
from tgraph.dynamic.durable.locking import FolderLock
from tgraph.dynamic.durable.log import Log, Sync, segments
from tgraph.dynamic.durable.manifest import REMEDY, Manifest, arguments_of
from tgraph.dynamic.durable.reading import LogReader, ReplacedError, Torn
from tgraph.dynamic.durable.record import Batch, Ids
from tgraph.dynamic.runs import Arcs, Run, no_arcs
from tgraph.dynamic.snapshots import SnapshotCsr, StreamedSnapshot
from tgraph.dynamic.store import Store
from tgraph.dynamic.version import Version
from tgraph.errors import ArgumentError, FileFormatError

LEAST_LOG = 1 << 26  # bytes of the log, after which there is a checkpoint,
LOG_SHARE = 2  # or this fraction of the bytes of the arcs,
MEMORY_SHARE = 4  # but at most this fraction of the memory that the arcs may take
RUNS_SHARE = 8  # runs are moved to files when they take this fraction of it, and writers wait at half of it
_WAIT = 1e-3  # seconds
_BEHIND = 3  # times as many, and a writer waits for the checkpoint
_BUSY = 0.05  # seconds since the last sync of the log, in which it is in use
_SPARED = 4  # times as long as a piece of a checkpoint takes, the disk is left to the log, at most
# What a system lacks, and has again when others give it back.
_PASSES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
_OF_MEMORY = re.compile("can't (allocate memory|start new thread)")


class TornRecordWarning(UserWarning):
    """The log ended in the midst of a batch, which was not committed: it was dropped."""


class Coming(NamedTuple):
    """A batch that is in the log, and is published when the log is on the disk."""

    number: int
    num_vertices: int
    run: Run


class StoreOfFolder(Store):
    """A `Store` that begins with what a checkpoint in a folder and the log behind it have.

    Not made by callers: `tgraph.dynamic.open` does.
    """

    def __init__(self, path: Path, manifest: Manifest, memory: int, verify: bool, writes: bool = True):
        super().__init__(**arguments_of(manifest.schema))
        self.path = path
        self._manifest = manifest
        self._process = os.getpid()
        self._memory = memory
        self._levels = Levels(path, manifest.store, self._schema, memory, verify, writes)
        self._change_size = 8 + sum(dtype.itemsize for dtype in self._schema.columns.values())  # bytes
        self._dropped = 0  # bytes of a torn record
        self._load(manifest)

    def _load(self, manifest: Manifest) -> None:
        """Begin with a checkpoint; the log is read by `_follow_log`."""
        levels = self._levels
        base = levels.arcs(no_arcs(self._schema)) if manifest.base is None else levels.open_arcs(manifest.base)
        runs = tuple(levels.open_run(level) for level in manifest.runs)
        if self._ids is not None and manifest.ids is not None:
            self._ids.extend(levels.read_ids(manifest.ids)[len(self._ids) :])
        num_vertices = manifest.num_vertices if manifest.number else self._version.num_vertices
        with self._publishing:
            self._manifest = manifest
            self._show(Version(self._schema, manifest.number, num_vertices, base, runs))
        self._reader = LogReader(self.path, manifest.store, self._schema, manifest.number)

    def _follow_log(self) -> None:
        """Publish the batches that the log has behind the newest version."""
        for batch in self._reader.batches():
            if self._ids is not None:
                self._ids.extend(batch.ids)
            super()._publish(batch.run, batch.num_vertices)

    def refresh(self) -> int:
        """Go on to the newest batch, if another process may write some; returns its version."""
        return self.version

    def _storage_of(self, version: Version, ids: Any) -> SnapshotCsr | StreamedSnapshot:
        """Arcs that are larger than what memory is for them are streamed."""
        if version.nbytes <= self._memory:
            return super()._storage_of(version, ids)
        return StreamedSnapshot(version, self.directed, ids, self._memory, self.path)

    def info(self) -> dict[str, Any]:
        """As of `Store`, and what lies in the folder: bytes of files and of the log, the version of the newest
        checkpoint, and the bytes of a torn record that were dropped when it was opened."""
        return super().info() | {
            "folder": os.fspath(self.path),
            "bytes of files": self._levels.nbytes,
            "bytes of log": sum(size for _, size in _sizes(self.path)),
            "version of the checkpoint": self._manifest.number,
            "bytes dropped": self._dropped,
        }


def _sizes(path: Path) -> Iterator[tuple[Path, int]]:
    for _, segment in segments(path):
        with contextlib.suppress(FileNotFoundError):  # a checkpoint has it now
            yield segment, segment.stat().st_size


class WrittenStore(StoreOfFolder):
    """A store in a folder that this process changes."""

    def __init__(self, path: Path, manifest: Manifest, lock: FolderLock, sync: Sync, memory: int, verify: bool):
        super().__init__(path, manifest, memory, verify)
        self._lock = lock
        self._coming: deque[Coming] = deque()
        self._syncing, self._checkpointing = threading.Lock(), threading.Lock()
        self._checkpointer = compaction.Compactor(self._checkpoint_step)
        self._flusher = compaction.Compactor(self._flush_step)
        self._claiming = threading.Lock()
        self._claimed = 0  # how many runs, from the oldest on, are being merged,
        self._flushed_from: int | None = None  # and from which on some are being moved to files
        self._checkpointed = 0  # bytes of the log of which there is a checkpoint
        self._waits: Exception | None = None
        self._log = self._recovered_log(sync)
        self._last = (self._version.number, self._version.num_vertices)
        self._levels.pause = self._pause

    # ---- recovery --------------------------------------------------------------------------------------------------

    def _recovered_log(self, sync: Sync) -> Log:
        """Publish what the log has, drop a torn record at its end, and go on behind it."""
        for left in self.path.glob(".*.part"):  # of a killed process, for this one has the lock
            left.unlink()
        self._levels.remove_others(self._manifest.levels)
        reader = self._reader
        try:
            self._follow_log()
        except ReplacedError:
            raise FileFormatError(self.path, "the log does not follow the checkpoint", REMEDY) from None
        number, last = self._version.number, self._manifest.last
        if number < last:
            place, where = reader.path or self.path, f"byte {reader.position}"
            raise FileFormatError(place, f"the log ends with batch {number}, at {where}; {last} were there", REMEDY)
        self._drop(reader.torn)
        reader.close()
        goes_on = reader.next_number == number + 1 and reader.path is not None
        for first, path in segments(self.path):
            if first > number + 1 or not goes_on:  # without a batch that was promised, or all in the checkpoint
                path.unlink()
        end = (reader.path, reader.position) if goes_on else (None, 0)
        return Log(self.path, self._manifest.store, number, reader.previous if goes_on else 0, sync, *end)

    def _drop(self, torn: Torn | None) -> None:
        if torn is None:
            return
        self._dropped = torn.nbytes
        warnings.warn(
            f"{torn.path}: the log ends in the midst of batch {self._version.number + 1}, which was not committed: its "
            f"{torn.nbytes} bytes from byte {torn.position} are dropped",
            TornRecordWarning,
            stacklevel=5,
        )
        if torn.position:
            os.truncate(torn.path, torn.position)
        else:
            torn.path.unlink()

    # ---- changes ---------------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        super()._check_open()
        if os.getpid() != self._process:
            raise ArgumentError(f"{self.path}: opened by process {self._process}; open it here once that has closed it")
        for thread in (self._flusher, self._checkpointer):
            if thread.fault is not None:
                what = (
                    f"writing a checkpoint in the background failed ({thread.fault}); close the store and open it again"
                )
                raise RuntimeError(f"{self.path}: {what}") from thread.fault

    def _vertices_before(self) -> int:
        return self._last[1]

    def _publish(self, run: Run, num_vertices: int) -> int:
        number, before = self._last[0] + 1, self._last[1]
        ids: Any = () if self._ids is None else self._ids.since(before)
        self._log.append(Batch(number, num_vertices, run, ids))
        self._last = (number, num_vertices)
        self._coming.append(Coming(number, num_vertices, run))
        return number

    def _await(self, number: int) -> None:
        """Have the log on the disk, up to the version at least, and publish what is; one thread does so for all that
        wait."""
        while self._version.number < number:
            with self._syncing:
                if self._version.number >= number:
                    return
                count = len(self._coming)
                self._log.sync()
                for _ in range(count):
                    batch = self._coming[0]
                    if batch.number > self._version.number:
                        super()._publish(batch.run, batch.num_vertices)
                    self._coming.popleft()

    def _publish_all(self) -> None:
        self._await(self._last[0])

    def delete_arcs(self, arcs: Any, graph: Graph) -> int:
        """See `Store.delete_arcs`."""
        return self._alone(lambda: super(WrittenStore, self).delete_arcs(arcs, graph))

    def delete_vertices(self, vertices: Any) -> int:
        """See `Store.delete_vertices`."""
        return self._alone(lambda: super(WrittenStore, self).delete_vertices(vertices))

    def _alone(self, change: Callable[[], int]) -> int:
        """The number of a batch that is made of the newest version."""
        with self._writing:
            self._check_open()
            self._publish_all()
            number = change()
            self._await(number)
        return number

    # ---- checkpoints -----------------------------------------------------------------------------------------------

    def _keep_pace(self, begun: float, size: int) -> None:
        with self._room():  # the batch is committed, whatever becomes of merging
            super()._keep_pace(begun, size)
            self._await_room()
            if (behind := self._log.appended - self._checkpointed) > (limit := self._limit()):
                self._checkpointer.wake()
                if behind > _BEHIND * limit:
                    self._slow_down(behind / (_BEHIND * limit) - 1, self._usual * size)

    def _pause(self) -> float | None:
        """How long a checkpoint leaves the disk to the log: the less, the further it is behind."""
        if time.monotonic() - self._log.synced_at > _BUSY:
            return None
        behind = (self._log.appended - self._checkpointed) / self._limit()
        return _SPARED * max(1 - behind / _BEHIND, 0)

    def _limit(self) -> int:
        """Bytes of the log, after which there is a checkpoint."""
        return max(LEAST_LOG, min(self._version.base.nbytes // LOG_SHARE, self._levels.memory // MEMORY_SHARE))

    def _merged(self, runs: Sequence[Run]) -> Run:
        return self._levels.merged(runs)

    def _compact_step(self) -> bool:
        worked = False
        with self._room():
            try:
                worked = self._worked(super()._compact_step())
            finally:
                self._claimed = 0
        if worked and self._base_is_new():
            self._checkpointer.wake()
        return worked

    def _next_work(self) -> tuple[Version, tuple[int, int], bool] | None:
        with self._claiming:
            work = super()._next_work()
            self._claimed = 0 if work is None else work[1][1]
        return work

    def _left_alone(self, version: Version) -> int:
        most = super()._left_alone(version)
        return most if self._flushed_from is None else min(most, self._flushed_from)

    def _threshold(self, base: Arcs) -> int:
        assert isinstance(base, LevelArcs)
        share = compaction.SHARE_OF_FILES if base.mapped else compaction.SHARE
        return compaction.threshold(len(base.neighbors), share)

    def _flush_step(self) -> bool:
        """Move runs to files, where they take more than a share of the memory, whatever is merged meanwhile; False
        where they do not."""
        with self._claiming:
            version = self._version
            first, last = self._held(version)
            first = max(first, self._claimed)
            if first >= last or not self._exceed(version.runs[first:last], RUNS_SHARE):
                return False
            self._flushed_from = first
        worked = False
        try:
            with self._room():
                made = self._levels.keep_run(version.runs[first:last])
                worked = self._worked(self._replace(version, (first, last), made))
        finally:
            self._flushed_from = None
        self._compactor.wake()
        return worked

    def _held(self, version: Version) -> tuple[int, int]:
        """The runs that are in memory alone, but for small ones that writers merge: (the first, the one behind the
        last)."""
        stable = compaction.stable(version.runs)
        return next((place for place in range(stable) if not self._levels.has(version.runs[place])), stable), stable

    def _exceed(self, runs: Sequence[Run], share: int) -> bool:
        """Whether runs take more than such a fraction of the memory."""
        return sum([run.size for run in runs]) * self._change_size * share > self._levels.memory

    def _await_room(self) -> None:
        """Wait for runs to be moved to files, where they take much of the memory."""
        version = self._version
        if not self._exceed(version.runs, RUNS_SHARE):
            return
        while not self._closed and self._flusher.fault is None and self._waits is None:
            self._flusher.wake()
            version = self._version
            if not self._exceed(version.runs[slice(*self._held(version))], 2):
                return
            time.sleep(_WAIT)

    def _base_is_new(self) -> bool:
        """Whether the arcs lie in files that the manifest does not name, so that the old ones take room, too."""
        return level_of(self._version.base) not in (None, self._manifest.base)

    def _checkpoint_step(self) -> bool:
        if self._log.appended - self._checkpointed > self._limit() or self._base_is_new():
            with self._room():
                self._checkpoint()
                self._worked(True)
        return False

    def _worked(self, worked: bool) -> bool:
        """Note that nothing is waited for, where some work was done."""
        self._waits = None if worked else self._waits
        return worked

    @contextlib.contextmanager
    def _room(self) -> Iterator[None]:
        """Leave work undone for which the disk or the memory has no room, or the system no open file, until there is
        more to do."""
        try:
            yield
        except (OSError, MemoryError, RuntimeError) as fault:
            if not _passes(fault):
                raise
            self._waits = fault

    def _checkpoint(self) -> None:
        """Write the newest version to files, and remove what of the log and of older files it makes superfluous."""
        with self._checkpointing:
            appended, version, levels = self._log.appended, self._version, self._levels
            assert isinstance(version.base, LevelArcs)
            base = levels.keep_arcs(version.base)
            kept = next((place for place, run in enumerate(version.runs) if not levels.has(run)), len(version.runs))
            runs = list(version.runs[:kept])
            if kept < len(version.runs):
                runs.append(levels.keep_run(version.runs[kept:]))
            ids = None
            if self._ids is not None and version.num_vertices:
                ids = levels.write_ids(cast(Ids, self._ids.since(0)[: version.num_vertices]))
            made = tuple(run.level for run in runs if isinstance(run, LevelRun))
            number = version.number
            self._manifest = replace(
                self._manifest,
                number=number,
                num_vertices=version.num_vertices,
                base=base,
                runs=made,
                ids=ids,
                last=number,
            )
            self._log.flush()  # so that what the checkpoint has is whole there, too
            self._manifest.write(self.path)
            with self._claiming:  # what others are merging they replace themselves
                if max(kept, self._claimed) == kept < len(version.runs) and self._flushed_from is None:
                    self._replace(version, (kept, len(version.runs)), runs[-1])
            self._checkpointed = appended
            self._log.cut(version.number, self._pause)
            now = self._version
            others: list[Arcs | Run] = [now.base, now.known()[0], *now.runs]
            levels.remove_others([*self._manifest.levels, *map(level_of, others)])

    def compact(self) -> None:
        """As of `Store`, and have the arcs in files, and nothing in the log."""
        with self._writing:
            self._check_open()
            self._await(self._last[0])
            super().compact()
        self._checkpoint()
        self._worked(True)

    def close(self) -> None:
        """End the threads, and let other processes change the store. Snapshots stay; changes are refused from then
        on."""
        with self._writing:
            if self._closed or os.getpid() != self._process:  # the lock and the threads are those of another
                return
            super().close()
            self._flusher.stop()
            self._checkpointer.stop()
            try:
                self._await(self._last[0])
                self._log.close()
                if self._manifest.last < self._last[0]:
                    with self._room():  # it only helps to notice damage
                        replace(self._manifest, last=self._last[0]).write(self.path)
            finally:
                self._lock.release()

    def info(self) -> dict[str, Any]:
        """As of `StoreOfFolder`, and what merging in the background waits for, None for nothing."""
        return super().info() | {"waits for room": None if self._waits is None else str(self._waits)}


def _passes(fault: Exception) -> bool:
    """Whether a fault is a lack that may end: of space, memory, threads or open files."""
    if isinstance(fault, OSError):
        return fault.errno in _PASSES
    return isinstance(fault, MemoryError) or _OF_MEMORY.search(str(fault)) is not None
