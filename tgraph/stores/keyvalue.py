"""What stores over a database share: heads that name the present version of each key, and sealed blocks of versions."""

from __future__ import annotations

import json
import uuid
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import xxhash
from torch import Tensor

from tgraph.errors import FileFormatError
from tgraph.files.checksummed import DTYPE_NAMES, DTYPES, as_bytes
from tgraph.kernels.native.base.pages import fresh
from tgraph.stores.blocks import BlockStore, ReplacedError, Stat, checked, rows_per_block

# Bytes of a block. Random rows are read several times faster than from blocks of 64 KiB, tensors as a whole about as
# fast. With its seal and what the database keeps beside it, a block fills a page of LMDB or half of one of PostgreSQL.
BLOCK = 4024
CHUNK = 1 << 22  # bytes of blocks that are read or written at once, about
SEAL = 8  # bytes of a checksum
REMEDY = "put the tensor again, or fetch the database from a copy"


@dataclass(frozen=True)
class NewVersion:
    """A tensor that is to be put. stat : of it. head : its sealed head."""

    stat: Stat
    tensor: Tensor
    head: bytes

    def chunks(self) -> Iterator[list[tuple[int, bytes]]]:
        """The numbers and sealed blocks, in order, in lists of about CHUNK bytes."""
        data, size = as_bytes(self.tensor.view(-1)), self.stat.rows * self.stat.row_bytes
        for numbers in chunks(self.stat, range(self.stat.num_blocks)):
            yield [(number, sealed(data[number * size : (number + 1) * size])) for number in numbers]


class KeyValueStore(BlockStore):
    """A BlockStore over a database that holds, for each key, a head: JSON that describes the present version; and for
    each version its blocks. Heads and blocks are sealed: they begin with the XXH3 (64 bits) of what follows. Blocks are
    named by their version, so that a reader finds those of the version whose head it has read, or none."""

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

    def stat(self, key: str) -> Stat | None:
        value = self._head(key)
        return None if value is None else self._opened(key, value)

    def get_blocks(self, stat: Stat, numbers: Sequence[int]) -> list[Tensor]:
        sizes = [stat.block_shape(number)[0] for number in numbers]
        return list(self.get_joined(stat, numbers).split(sizes)) if sizes else []

    def get_joined(self, stat: Stat, numbers: Sequence[int]) -> Tensor:
        lacking = (stat.num_blocks * stat.rows - stat.shape[0]) * numbers.count(stat.num_blocks - 1)
        found = fresh((len(numbers) * stat.rows - lacking, *stat.shape[1:]), dtype=stat.dtype)
        data, end = as_bytes(found.view(-1)), 0
        for some in chunks(stat, numbers):
            for number, value in zip(some, self._values(stat, some), strict=True):
                block = memoryview(value or b"")[SEAL:]
                if value is None or xxhash.xxh3_64_digest(block) != value[:SEAL]:
                    self._refuse(stat, number, value)
                begin, end = end, end + len(block)
                data[begin:end] = block
        return found

    @abstractmethod
    def _head(self, key: str) -> bytes | None:
        """The sealed head of a key, None where there is no tensor."""

    @abstractmethod
    def _values(self, stat: Stat, numbers: Sequence[int]) -> Iterable[bytes | memoryview | None]:
        """The sealed blocks of a version, None for those that are not there. Each is used before the next is taken."""

    @abstractmethod
    def _replace(self, new: NewVersion, replacing: Stat | None) -> None:
        """Write a version and make it the present one, all or nothing, after `check_version`; remove the one before."""

    def _present(self, key: str, head: bytes | None) -> str | None:
        """The version that a head names; None without one, and for one that is damaged, so that a put repairs it."""
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
        if self._present(stat.key, self._head(stat.key)) == stat.version:
            raise FileFormatError(self.place, f"block {number} of {stat.key!r} is missing", REMEDY)
        raise ReplacedError(f"{stat.key}: replaced meanwhile; ask for its stat again")


def sealed(data: bytes | memoryview) -> bytes:
    """Bytes after their checksum."""
    return b"".join((xxhash.xxh3_64_digest(data), data))


def chunks(stat: Stat, numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Numbers of blocks in pieces of about CHUNK bytes."""
    count = max(1, CHUNK // max(1, stat.rows * stat.row_bytes))
    for begin in range(0, len(numbers), count):
        yield numbers[begin : begin + count]
