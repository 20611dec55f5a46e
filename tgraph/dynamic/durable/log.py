"""The log of a store: a record for each batch, in segments, which are files named after their first version.

A batch is in the log, and on the disk where that is asked for, before it is published. A checkpoint lets the segments
that it covers be removed.
"""

from __future__ import annotations

import contextlib
import os
import struct
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO, Literal

import xxhash

from tgraph.dynamic.durable import record
from tgraph.dynamic.guarded import Guarded
from tgraph.errors import FileFormatError
from tgraph.files import Pause
from tgraph.files.atomic_write import room_for, sync_folder
from tgraph.files.positioned import write_at
from tgraph.files.removal import remove

Sync = Literal["always", "never"]

FORMAT = 1
SEGMENT = 1 << 24  # bytes, after which the next record begins a new one; some disks take long to forget a large file
_FIELDS = struct.Struct("<8s4Q")  # magic, format, store, first version, checksum of these fields
_MAGIC = b"tgraphlg"
BEGIN = _FIELDS.size


def segment_path(folder: Path, first: int) -> Path:
    """The path of the segment that begins with the batch of version `first`."""
    return folder / f"log-{first:020d}"


def segments(folder: Path) -> list[tuple[int, Path]]:
    """(first version, path) of the segments in a folder, ascending."""
    return sorted((int(path.name[4:]), path) for path in folder.glob("log-" + "[0-9]" * 20))


def segment_header(store: int, first: int) -> bytes:
    """The first bytes of a segment."""
    fields = _FIELDS.pack(_MAGIC, FORMAT, store, first, 0)[:-8]
    return fields + struct.pack("<Q", xxhash.xxh3_64_intdigest(fields))


def check_segment(path: Path, head: bytes | bytearray, store: int, first: int) -> bool:
    """Whether the header of a segment is whole. Raises FileFormatError for another store or format."""
    if len(head) < BEGIN or xxhash.xxh3_64_intdigest(head[: BEGIN - 8]) != struct.unpack("<Q", head[BEGIN - 8 :])[0]:
        return False
    magic, format, of_store, of_first, _ = _FIELDS.unpack(head)
    if magic == _MAGIC and format != FORMAT:
        raise FileFormatError(
            path, f"version {format} of the log, this release reads {FORMAT}", "open it with a newer release of tgraph"
        )
    if (magic, of_store, of_first) != (_MAGIC, store, first):
        raise FileFormatError(path, "a log of another store, or renamed", "take the folder from a copy")
    return True


class Appending:
    """The right to append to a log and to end its last segment, which one thread at a time has."""


class Log:
    """The end of a log, for the one process that appends to it.

    folder : of the store. store : its number, which the segments repeat. last : the newest version that the log or a
    checkpoint has. previous : the checksum of its record, 0 where the log has none. sync : whether `sync` has the disk
    sync. path, end : the last segment and where its last record ends, None where the next record begins one.

    appended : bytes of the records that were there and that came. synced_at : when the disk last synced some, as
    `time.monotonic` says.
    """

    def __init__(
        self, folder: Path, store: int, last: int, previous: int, sync: Sync, path: Path | None = None, end: int = 0
    ):
        self._folder, self._store, self._syncs = folder, store, sync == "always"
        self._last, self._synced, self._previous = last, last, previous
        self._path, self._end = path, end
        self._file: BinaryIO | None = None
        if path is not None:
            self._file = open(path, "r+b", buffering=0)  # noqa: SIM115 - as long as it is the last one
        self.appending = Guarded(Appending())
        self._syncing = threading.Lock()
        self.appended: int = sum(path.stat().st_size for _, path in segments(folder))
        self.synced_at: float = 0.0
        self.failed: OSError | None = None

    def append(self, batch: record.Batch) -> None:
        """Append the record of a batch, in the order of versions.

        Raises OSError, with the bytes needed where the disk is full; then the log is as before. Raises ArgumentError
        for ids that the log cannot hold.
        """
        with self.appending as appending:
            self.check()
            synced = self._synced if self._syncs else self._last
            header, parts = record.encoded(batch, synced, self._previous)
            file, begin = self._segment(appending, batch.number)
            nbytes = record.HEADER + header.nbytes
            assert self._path is not None
            try:
                with room_for(self._path, nbytes):
                    _write(file.fileno(), parts, begin)
            except BaseException:
                self._take_back(appending, file, begin)
                raise
            self._end, self.appended = begin + nbytes, self.appended + nbytes
            self._last, self._previous = batch.number, header.checksum

    def _segment(self, appending: Appending, number: int) -> tuple[BinaryIO, int]:
        """The file that the record of a version belongs to, and where it ends."""
        if self._file is not None and self._end < SEGMENT:
            return self._file, self._end
        path, begun = segment_path(self._folder, number), None
        try:
            with room_for(path, BEGIN):
                begun = open(path, "w+b", buffering=0)  # noqa: SIM115 - as long as it is the last one
                _write(begun.fileno(), [segment_header(self._store, number)], 0)
                if self._syncs:
                    sync_folder(self._folder)
        except BaseException:
            if begun is not None:
                begun.close()
                path.unlink(missing_ok=True)
            raise
        self.finish_segment(appending)
        self._path, self._file, self._end = path, begun, BEGIN
        return begun, BEGIN

    def finish_segment(self, appending: Appending) -> None:
        """Sync and close the last segment."""
        with self._syncing:
            if self._file is not None:
                file, self._file = self._file, None
                with file:
                    self._sync_file(file)
                self._synced = self._last

    def _take_back(self, appending: Appending, file: BinaryIO, end: int) -> None:
        """Cut off a record that could not be written."""
        try:
            os.ftruncate(file.fileno(), end)
        except OSError as fault:
            self.failed = fault

    def sync(self) -> None:
        """Sync the log to the disk, for all writers that wait. Raises OSError where that fails: the contents of the
        disk are unknown then, and the log takes no more."""
        with self._syncing:
            self.check()
            last = self._last
            if self._file is not None and self._synced < last:
                self._sync_file(self._file)
            self._synced = last

    def flush(self) -> None:
        """Sync to the disk a log that `sync` leaves to the system, while others append."""
        file = self._file
        if file is not None and not self._syncs:
            with contextlib.suppress(OSError, ValueError):  # closed meanwhile: synced, or covered by a checkpoint
                getattr(os, "fdatasync", os.fsync)(file.fileno())

    def _sync_file(self, file: BinaryIO) -> None:
        try:
            if self._syncs:
                getattr(os, "fdatasync", os.fsync)(file.fileno())
                self.synced_at = time.monotonic()
        except OSError as fault:
            self.failed = fault
            raise

    def check(self) -> None:
        """Raise OSError after a failure that leaves the contents of the log unknown."""
        if self.failed is not None:
            what = f"an earlier write failed ({self.failed.strerror}), what is on the disk is unknown; open it again"
            raise OSError(self.failed.errno, what, os.fspath(self._folder)) from self.failed

    def cut(self, number: int, pause: Pause | None = None) -> None:
        """Remove the segments that a checkpoint of version `number` covers. pause : meanwhile."""
        with self.appending as appending:
            if self._last <= number:
                self.finish_segment(appending)
            found = segments(self._folder)
            follows = [first for first, _ in found[1:]] + [number + 2 if self._file else number + 1]
        for (_, path), following in zip(found, follows, strict=bool(found)):
            if following <= number + 1:
                remove(path, pause)

    def close(self) -> None:
        """Sync the log to the disk, even with sync="never", and close it. Raises OSError where that fails."""
        with self.appending as appending:
            self._syncs = True
            self.finish_segment(appending)


def _write(file: int, parts: list[Any], position: int) -> None:
    """Write all the parts, which the system may do in pieces."""
    left = [memoryview(part) for part in parts]
    while left:
        done = os.pwritev(file, left, position) if hasattr(os, "pwritev") else write_at(file, left[0], position)
        position += done
        while left and done >= len(left[0]):
            done -= len(left.pop(0))
        if left:
            left[0] = left[0][done:]
