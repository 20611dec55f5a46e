"""Stores over databases: heads that name the present version of each key, and blocks, with checksums."""

from __future__ import annotations

import errno
import importlib
import json
import shutil
import uuid
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
import xxhash
from torch import Tensor

from tgraph.core.system.pages import fresh
from tgraph.errors import FileFormatError, MissingDependencyError
from tgraph.files.checksummed import DTYPE_NAMES, DTYPES, as_bytes
from tgraph.stores.blocks import (
    BlockStore,
    ReplacedError,
    Stat,
    begins_key,
    check_blocks,
    check_key,
    checked,
    rows_per_block,
)

# Bytes of a block. Random rows are read several times faster than from blocks of 64 KiB, whole tensors about as fast.
# With its checksum and the database's overhead, a block fills a page of LMDB or half a page of PostgreSQL.
BLOCK = 4024
CHUNK = 1 << 22  # bytes of blocks read or written at once, about
SEAL = 8  # bytes of a checksum
Wanted = Sequence[tuple[Stat, Sequence[int]]]  # versions, and the numbers of blocks of each
REMEDY = "put the tensor again, or fetch the database from a copy"


@dataclass(frozen=True)
class NewVersion:
    """A tensor to be put. stat : of it. head : its sealed head."""

    stat: Stat
    tensor: Tensor
    head: bytes

    def chunks(self) -> Iterator[list[tuple[int, bytes]]]:
        """The numbers and sealed blocks, in order, in lists of about CHUNK bytes."""
        data, size = as_bytes(self.tensor.view(-1)), self.stat.rows * self.stat.row_bytes
        for numbers in chunks(self.stat, range(self.stat.num_blocks)):
            yield [(number, sealed(data[number * size : (number + 1) * size])) for number in numbers]


@dataclass(frozen=True)
class Blocks:
    """Blocks of a version to be read. rows : of all of them, to be filled. chosen : (tensor, index, source): then
    tensor[index] = rows[source]."""

    stat: Stat
    numbers: Sequence[int]
    rows: Tensor
    chosen: tuple[Tensor, Tensor, Tensor] | None = None

    def finish(self) -> None:
        """Copy the chosen rows."""
        if self.chosen is not None:
            found, place, index = self.chosen
            found.index_copy_(0, place, self.rows.index_select(0, index))


class KeyValueStore(BlockStore):
    """A BlockStore over a database with a head for each key, JSON that describes the present version, and the blocks of
    each version. Heads and blocks are sealed: the XXH3 (64 bits) precedes the data. Blocks are named by version, so
    that a reader finds the blocks of the head it has read, or none."""

    place: str  # of the database, for errors

    def put(
        self, key: str, tensor: Tensor, notes: Mapping[str, str] | None = None, replacing: Stat | None = None
    ) -> None:
        tensor = checked(key, tensor)
        stat = Stat(
            key, tensor.dtype, tuple(tensor.shape), rows_per_block(tensor, BLOCK), uuid.uuid4().hex, dict(notes or {})
        )
        head = {"dtype": DTYPE_NAMES[stat.dtype], "shape": stat.shape, "rows": stat.rows, "version": stat.version}
        self._replace(NewVersion(stat, tensor, sealed(json.dumps(head | {"notes": stat.notes}).encode())), replacing)

    def delete(self, key: str) -> bool:
        return self._delete(check_key(key))

    def keys(self, beginning: str = "") -> list[str]:
        return self._keys(beginning) if begins_key(beginning) else []

    def stat(self, key: str) -> Stat | None:
        return self.stat_many([key])[0]

    def stat_many(self, keys: Sequence[str]) -> list[Stat | None]:
        heads = zip(keys, self._heads_of([check_key(key) for key in keys]), strict=True)
        return [None if value is None else self._opened(key, value) for key, value in heads]

    def get_blocks(self, stat: Stat, numbers: Sequence[int]) -> list[Tensor]:
        check_blocks(stat, numbers)
        sizes = [stat.block_shape(number)[0] for number in numbers]
        return list(self.get_joined(stat, numbers).split(sizes)) if sizes else []

    def get_joined(self, stat: Stat, numbers: Sequence[int]) -> Tensor:
        check_blocks(stat, numbers)
        lacking = (stat.num_blocks * stat.rows - stat.shape[0]) * numbers.count(stat.num_blocks - 1)
        found = fresh((len(numbers) * stat.rows - lacking, *stat.shape[1:]), stat.dtype)
        begin = 0
        for some in chunks(stat, numbers):
            end = begin + sum(stat.block_shape(number)[0] for number in some)
            self._take([Blocks(stat, some, found[begin:end])])
            begin = end
        return found

    def _rows_of(self, wanted: Sequence[tuple[Stat, Tensor | None]]) -> list[Tensor]:
        sizes = (stat.shape[0] if index is None else len(index) for stat, index in wanted)
        found = [fresh((size, *stat.shape[1:]), stat.dtype) for size, (stat, _) in zip(sizes, wanted, strict=True)]
        both = zip(wanted, found, strict=True)
        for some in groups(blocks for (stat, index), rows in both for blocks in blocks_of(stat, index, rows)):
            self._take(some)
        return found

    def _take(self, wanted: Sequence[Blocks]) -> None:
        """Read blocks of several tensors in one request, and verify them."""
        values = iter(self._values([(blocks.stat, blocks.numbers) for blocks in wanted]))
        for blocks in wanted:
            data, end = as_bytes(blocks.rows.view(-1)), 0
            for number in blocks.numbers:
                value = next(values)
                block = memoryview(value or b"")[SEAL:]
                if value is None or xxhash.xxh3_64_digest(block) != value[:SEAL]:
                    self._refuse(blocks.stat, number, value)
                begin, end = end, end + len(block)
                data[begin:end] = block
            blocks.finish()

    @abstractmethod
    def _delete(self, key: str) -> bool:
        """As `delete`, of a checked key."""

    @abstractmethod
    def _keys(self, beginning: str) -> list[str]:
        """As `keys`, of a possible beginning."""

    @abstractmethod
    def _heads_of(self, keys: Sequence[str]) -> Sequence[bytes | None]:
        """The sealed head of each key, None without a tensor."""

    @abstractmethod
    def _values(self, wanted: Wanted) -> Iterable[bytes | memoryview | None]:
        """The sealed blocks of versions in order, None for missing ones; each is used before the next is taken."""

    @abstractmethod
    def _replace(self, new: NewVersion, replacing: Stat | None) -> None:
        """Write a version and make it the present one, atomically, after `check_version`; remove the previous one."""

    def _present(self, key: str, head: bytes | None) -> str | None:
        """The version of a head; None without a head, and for a damaged one, so that a put repairs it."""
        try:
            return None if head is None else self._opened(key, head).version
        except FileFormatError:
            return None

    def _opened(self, key: str, value: bytes) -> Stat:
        data = memoryview(value)[SEAL:]
        if xxhash.xxh3_64_digest(data) != value[:SEAL]:
            raise FileFormatError(self.place, f"the checksum of the head of {key!r} differs", REMEDY)
        head = json.loads(bytes(data))
        return Stat(key, DTYPES[head["dtype"]], tuple(head["shape"]), head["rows"], head["version"], head["notes"])

    def _refuse(self, stat: Stat, number: int, value: bytes | memoryview | None) -> NoReturn:
        """Raise the error of a block that is missing or damaged."""
        if value is not None:
            raise FileFormatError(self.place, f"the checksum of block {number} of {stat.key!r} differs", REMEDY)
        if self._present(stat.key, self._heads_of([stat.key])[0]) == stat.version:
            raise FileFormatError(self.place, f"block {number} of {stat.key!r} is missing", REMEDY)
        raise ReplacedError(f"{stat.key}: replaced meanwhile; ask for its stat again")


def disk_full(place: str, nbytes: int, said: object) -> OSError:
    """The error of a put to a database on a full disk."""
    free = shutil.disk_usage(place).free
    what = f"{said}: {nbytes} bytes are needed, {free} are free; make room, or put the database on another disk"
    return OSError(errno.ENOSPC, what, place)


def sealed(data: bytes | memoryview) -> bytes:
    """The checksum followed by the data."""
    return b"".join((xxhash.xxh3_64_digest(data), data))


def head_name(key: str) -> bytes:
    """The name of a head in an embedded database."""
    return b"k" + key.encode()


def block_name(version: str, number: int) -> bytes:
    """The name of a block in an embedded database, in the order of numbers."""
    return b"b" + version.encode() + number.to_bytes(8, "big")


def client(package: str, store: str, extra: str) -> Any:
    """The client of a database. Raises MissingDependencyError where its package is not installed."""
    try:
        return importlib.import_module(package)
    except ImportError as fault:
        raise MissingDependencyError(package, store, extra) from fault


def chunks(stat: Stat, numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Numbers of blocks in parts of about CHUNK bytes."""
    count = max(1, CHUNK // max(1, stat.rows * stat.row_bytes))
    for begin in range(0, len(numbers), count):
        yield numbers[begin : begin + count]


def blocks_of(stat: Stat, index: Tensor | None, found: Tensor) -> Iterator[Blocks]:
    """The blocks with the rows at `index`, by default all, to be copied into `found`. The rows of a chunk are copied
    together, while it is in the processor's cache."""
    if index is None:
        for some in chunks(stat, range(stat.num_blocks)):
            yield Blocks(stat, some, found[some[0] * stat.rows : (some[-1] + 1) * stat.rows])
        return
    rows, order = index.sort()
    blocks, counts = torch.unique_consecutive(rows // stat.rows, return_counts=True)
    numbers, ends, first = blocks.tolist(), [0, *counts.cumsum(0).tolist()], 0
    for some in chunks(stat, numbers):
        last = first + len(some)
        here = slice(ends[first], ends[last])
        before = torch.repeat_interleave(torch.arange(len(some)) - blocks[first:last], counts[first:last])
        place = rows[here] + before * stat.rows  # all blocks but the last are whole
        size = len(some) * stat.rows - max(0, (some[-1] + 1) * stat.rows - stat.shape[0])
        yield Blocks(stat, some, torch.empty((size, *stat.shape[1:]), dtype=stat.dtype), (found, order[here], place))
        first = last


def groups(wanted: Iterable[Blocks]) -> Iterator[list[Blocks]]:
    """Blocks in groups of about CHUNK bytes, in order."""
    group: list[Blocks] = []
    for blocks in wanted:
        if group and sum(each.rows.nbytes for each in group) + blocks.rows.nbytes > CHUNK:
            yield group
            group = []
        group.append(blocks)
    if group:
        yield group
