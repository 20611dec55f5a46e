"""Reading the log of a store, with a torn record at its end or damage before it."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tgraph.dynamic.durable import log, record
from tgraph.dynamic.durable.manifest import REMEDY
from tgraph.dynamic.runs import Schema
from tgraph.errors import FileFormatError


class Torn(NamedTuple):
    """The remains of an uncommitted batch: the segment, the position there, and the bytes."""

    path: Path
    position: int
    nbytes: int


class ReplacedError(Exception):
    """The log no longer goes on from the batch that was read last: a checkpoint has the batches, or they were taken
    back."""


class LogReader:
    """Reads the batches after a version, and later the batches appended meanwhile.

    folder : of the store. store : its number. number : of the version. reads_all : whether earlier batches of a segment
    are read and yielded, too.
    """

    next_number: int

    def __init__(self, folder: Path, store: int, schema: Schema, number: int, reads_all: bool = False):
        self._folder, self._store, self._schema, self._reads_all = folder, store, schema, reads_all
        self.number: int = number
        self.previous: int = 0
        self.torn: Torn | None = None
        self.path: Path | None = None
        self.position: int = 0
        self._file: BinaryIO | None = None
        self.next_number = 0  # of the record at the position

    def batches(self) -> Iterator[record.Batch]:
        """The following complete batches; afterwards `torn` is the remainder behind them.

        Raises FileFormatError, with the segment, the batch and the position, for a damaged batch before others, and for
        a missing segment; ReplacedError where the log has been replaced since the last call.
        """
        self.torn = None
        while self._file is not None or self._open_first():
            assert self._file is not None
            yield from self._records(self._file)
            if self.torn is not None or not self._open_following():
                return

    def _records(self, file: BinaryIO) -> Iterator[record.Batch]:
        """The batches of a segment from the position on."""
        while (header := self._header(file)) is not None:
            size = record.HEADER + header.nbytes
            if header.number > self.number or self._reads_all:
                payload = _read(file, self.position + record.HEADER, header.nbytes)
                batch = record.decoded(self._schema, header, payload)
                if batch is None and self._is_end(file):
                    return
                if batch is None:
                    continue  # it was being written
                self._pass(header, size)
                self.number = header.number
                yield batch
            else:
                self._pass(header, size)

    def _pass(self, header: record.Header, size: int) -> None:
        self.position, self.next_number, self.previous = self.position + size, header.number + 1, header.checksum

    def _header(self, file: BinaryIO) -> record.Header | None:
        """The header of the next record; None at the end."""
        while True:
            found = record.decoded_header(_read(file, self.position, record.HEADER))
            if found is not None and found.number == self.next_number:
                if self.previous not in (0, found.previous):
                    raise ReplacedError
                return found
            if self._is_end(file):
                return None

    def _is_end(self, file: BinaryIO) -> bool:
        """Whether the log ends at the position; False where a record was completed there meanwhile. Raises
        FileFormatError before a batch that was written when the record here was promised to be on the disk."""
        size = os.fstat(file.fileno()).st_size
        self.torn = Torn(Path(file.name), self.position, size - self.position) if size > self.position else None
        following = log.segment_path(self._folder, self.next_number)
        is_whole_segment = size <= self.position and following.exists()
        later = None if is_whole_segment else self._later(file)
        if later is None:
            return True
        self.torn = None
        if self._is_whole(file):
            return False
        if size <= self.position and following.exists():
            return True
        if later < self.next_number:
            raise ReplacedError
        raise FileFormatError(
            file.name,
            f"the record of batch {self.next_number}, at byte {self.position}, is damaged, and others follow it",
            f"{REMEDY}; or keep the batches before it: cut this file to {self.position} bytes, and remove later ones",
        )

    def _is_whole(self, file: BinaryIO) -> bool:
        """Whether a complete record lies at the position."""
        header = record.decoded_header(_read(file, self.position, record.HEADER))
        if header is None or header.number != self.next_number or self.previous not in (0, header.previous):
            return False
        return record.is_whole(header, _read(file, self.position + record.HEADER, header.nbytes))

    def _later(self, file: BinaryIO) -> int | None:
        """Version of a later record, in this segment or a following one, written when the record at the position was
        promised to be on the disk; None for none."""
        for header in _headers(file, self.position + 8):
            if header.synced >= self.next_number or header.number < self.next_number:
                return header.number
        for begin, path in log.segments(self._folder):
            if begin > self.next_number and self._promises(path):
                return begin
        return None

    def _promises(self, path: Path) -> bool:
        """Whether a segment has a record that was written when the one at the position was promised."""
        try:
            with open(path, "rb", buffering=0) as file:
                return any(header.synced >= self.next_number for header in _headers(file, log.BEGIN))
        except FileNotFoundError:
            return False

    def _open_first(self) -> bool:
        """Open the segment with the next batch, or with `reads_all` the first segment; False for none."""
        while found := log.segments(self._folder):
            before = [place for place, (begin, _) in enumerate(found) if begin <= self.number + 1]
            if not before and not self._reads_all:
                raise ReplacedError
            with contextlib.suppress(FileNotFoundError):  # a checkpoint covers it
                return self._open(*found[0 if self._reads_all else before[-1]])
        return False

    def _open_following(self) -> bool:
        """Open the segment behind the one read to its end; False for none yet."""
        path = log.segment_path(self._folder, self.next_number)
        try:
            return path != self.path and path.exists() and self._open(self.next_number, path)
        except FileNotFoundError:
            raise ReplacedError from None

    def _open(self, begin: int, path: Path) -> bool:
        """Open a segment; False where its header is not whole, and nothing behind it."""
        file = open(path, "rb", buffering=0)  # noqa: SIM115 - as long as it is read
        if log.check_segment(path, _read(file, 0, log.BEGIN), self._store, begin):
            self.close()
            self._file, self.path, self.position, self.next_number = file, path, log.BEGIN, begin
            return True
        size = os.fstat(file.fileno()).st_size
        damaged = next(_headers(file, 0), None) is not None
        with file:
            head = _read(file, 0, log.BEGIN)
        if damaged and log.check_segment(path, head, self._store, begin):  # it was being written
            return self._open(begin, path)
        if damaged:
            raise FileFormatError(path, "the header of this segment of the log is damaged", REMEDY)
        self.torn = Torn(path, 0, size)
        return False

    def close(self) -> None:
        """Close the open segment."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _read(file: BinaryIO, position: int, size: int) -> bytearray:
    """At most `size` bytes of an unbuffered file, fewer at its end."""
    size = max(min(size, os.fstat(file.fileno()).st_size - position), 0)
    data, done = bytearray(size), 0
    file.seek(position)
    while done < size and (taken := file.readinto(memoryview(data)[done:])):  # type: ignore[attr-defined]
        done += taken
    return data if done == size else data[:done]


def _headers(file: BinaryIO, begin: int) -> Iterator[record.Header]:
    """Headers of the records from a position on, damaged ones among them."""
    size = os.fstat(file.fileno()).st_size
    if begin >= size:
        return
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place = data.find(record.MAGIC, begin)
        while place >= 0:
            found = record.decoded_header(data[place : place + record.HEADER])
            if found is not None:
                yield found
            place = data.find(record.MAGIC, place + 1)
