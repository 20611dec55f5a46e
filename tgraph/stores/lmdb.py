"""Tensors in an LMDB database: many processes read, one writes at a time."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import xxhash
from torch import Tensor

from tgraph.errors import FileFormatError, MissingDependencyError
from tgraph.files import PathLike
from tgraph.files.checksummed import DTYPE_NAMES, DTYPES, as_bytes
from tgraph.stores.blocks import BlockStore, ReplacedError, Stat, check_version, checked, rows_per_block

REMEDY = "put the tensor again, or fetch the database from a copy"
_OPENED: dict[str, tuple[int, Any]] = {}  # the process that opened a database, and the database


class LmdbStore(BlockStore):
    """Tensors in an LMDB database, each block of rows a value with its checksum. A put is one transaction.

    path : of the folder. max_bytes : which the database may take at most; the space is only taken as it is filled.
    Raises MissingDependencyError where the package lmdb is not installed.
    """

    def __init__(self, path: PathLike, max_bytes: int = 1 << 40):
        self.path, self.max_bytes = os.fspath(path), max_bytes
        self._environment()

    def put(
        self, key: str, tensor: Tensor, notes: Mapping[str, str] | None = None, replacing: Stat | None = None
    ) -> None:
        tensor = checked(key, tensor)
        rows, version = rows_per_block(tensor), uuid.uuid4().hex
        head = {"dtype": DTYPE_NAMES[tensor.dtype], "shape": list(tensor.shape), "rows": rows, "version": version}
        with self._environment().begin(write=True) as transaction:
            present = transaction.get(_head(key))
            check_version(key, present and _parsed(present)["version"], replacing)
            _delete_blocks(transaction, present)
            transaction.put(_head(key), _sealed(json.dumps(head | {"notes": dict(notes or {})}).encode()))
            for number, block in enumerate(tensor.split(rows) if len(tensor) else ()):
                transaction.put(_block(version, number), _sealed(bytes(as_bytes(block.reshape(-1)))))

    def delete(self, key: str) -> bool:
        with self._environment().begin(write=True) as transaction:
            _delete_blocks(transaction, transaction.get(_head(key)))
            return bool(transaction.delete(_head(key)))

    def keys(self, beginning: str = "") -> list[str]:
        found = []
        with self._environment().begin() as transaction:
            cursor = transaction.cursor()
            if cursor.set_range(_head(beginning)):
                for key in cursor.iternext(values=False):
                    if not key.startswith(_head(beginning)):
                        break
                    found.append(key[1:].decode())
        return sorted(found)

    def stat(self, key: str) -> Stat | None:
        with self._environment().begin() as transaction:
            sealed = transaction.get(_head(key))
        if sealed is None:
            return None
        head = json.loads(self._unsealed(sealed, key, "the head"))
        shape = tuple(head["shape"])
        return Stat(key, DTYPES[head["dtype"]], shape, head["rows"], head["version"], head["notes"])

    def get_blocks(self, stat: Stat, numbers: Sequence[int]) -> list[Tensor]:
        with self._environment().begin() as transaction:
            values = [transaction.get(_block(stat.version, number)) for number in numbers]
        found = []
        for number, value in zip(numbers, values, strict=True):
            if value is None:
                raise ReplacedError(f"{stat.key}: replaced meanwhile; ask for its stat again")
            data = bytearray(self._unsealed(value, stat.key, f"block {number}"))
            block = torch.frombuffer(data, dtype=stat.dtype) if data else torch.empty(0, dtype=stat.dtype)
            found.append(block.view(stat.block_shape(number)))
        return found

    def _unsealed(self, value: bytes, key: str, what: str) -> bytes:
        if xxhash.xxh3_64_digest(value[8:]) != value[:8]:
            raise FileFormatError(self.path, f"the checksum of {what} of {key!r} differs", REMEDY)
        return value[8:]

    def _environment(self) -> Any:
        """The database, which a process may open once, and has to open anew where another process forked it."""
        place = os.path.realpath(self.path)
        process, environment = _OPENED.get(place, (None, None))
        if process == os.getpid():
            return environment
        if environment is not None:
            environment.close()
        try:
            import lmdb
        except ImportError as fault:
            raise MissingDependencyError("lmdb", "LmdbStore", "lmdb") from fault
        environment = lmdb.open(self.path, map_size=self.max_bytes)
        _OPENED[place] = os.getpid(), environment
        return environment

    def __repr__(self) -> str:
        return f"LmdbStore({self.path!r})"


def _head(key: str) -> bytes:
    return b"k" + key.encode()


def _block(version: str, number: int) -> bytes:
    return b"b" + version.encode() + number.to_bytes(8, "big")


def _sealed(data: bytes) -> bytes:
    return xxhash.xxh3_64_digest(data) + data


def _parsed(sealed: bytes) -> dict[str, Any]:
    return json.loads(sealed[8:])


def _delete_blocks(transaction: Any, sealed: bytes | None) -> None:
    """Delete the blocks of the version whose head is given."""
    if sealed is None:
        return
    head = _parsed(sealed)
    for number in range(-(-head["shape"][0] // head["rows"])):
        transaction.delete(_block(head["version"], number))
