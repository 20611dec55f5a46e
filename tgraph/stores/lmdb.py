"""Tensors in an LMDB database: many processes read, one writes at a time."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
from collections.abc import Iterator, Sequence
from typing import Any

from tgraph.files import PathLike
from tgraph.stores.blocks import Stat, check_version
from tgraph.stores.keyvalue import KeyValueStore, NewVersion, Wanted, block_name, client, disk_full, head_name

_OPENED: dict[str, tuple[int, Any]] = {}  # the process that opened a database, and the database


class LmdbStore(KeyValueStore):
    """Tensors in an LMDB database. A put is one transaction, and raises OSError, with nothing changed, where the disk
    or `max_bytes` has no room for it.

    path : of the folder. max_bytes : the largest size of the database; space is taken as it is filled.
    Raises MissingDependencyError where the package lmdb is not installed.

    >>> from tgraph import stores
    >>> store = stores.LmdbStore("folder", max_bytes=1 << 26)
    >>> store.put("x", torch.arange(6.0).view(3, 2))
    >>> store.get_rows(store.stat("x"), torch.tensor([2]))
    tensor([[4., 5.]])
    """

    def __init__(self, path: PathLike, max_bytes: int = 1 << 40):
        self.place: str = os.fspath(path)
        self.max_bytes: int = max_bytes
        self._environment()

    def _delete(self, key: str) -> bool:
        with self._environment().begin(write=True) as transaction:
            _delete_blocks(transaction, self._present(key, transaction.get(head_name(key))))
            return bool(transaction.delete(head_name(key)))

    def _keys(self, beginning: str) -> list[str]:
        with self._environment().begin() as transaction:
            return sorted(name[1:].decode() for name in _names(transaction, head_name(beginning)))

    def _heads_of(self, keys: Sequence[str]) -> list[bytes | None]:
        with self._environment().begin() as transaction:
            return [transaction.get(head_name(key)) for key in keys]

    def _values(self, wanted: Wanted) -> Iterator[memoryview | None]:
        with self._environment().begin(buffers=True) as transaction:
            for stat, numbers in wanted:
                for number in numbers:
                    yield transaction.get(block_name(stat.version, number))

    def _replace(self, new: NewVersion, replacing: Stat | None) -> None:
        import lmdb

        try:
            self._write(new, replacing)
        except lmdb.MapFullError as fault:
            what = f"{fault}: the database may take {self.max_bytes} bytes; give a larger max_bytes"
            raise OSError(errno.ENOSPC, what, self.place) from fault
        except lmdb.Error as fault:
            if shutil.disk_usage(self.place).free > new.tensor.nbytes:
                raise
            raise disk_full(self.place, new.tensor.nbytes, fault) from fault

    def _write(self, new: NewVersion, replacing: Stat | None) -> None:
        key = new.stat.key
        with self._environment().begin(write=True) as transaction:
            present = self._present(key, transaction.get(head_name(key)))
            check_version(key, present, replacing)
            _delete_blocks(transaction, present)
            transaction.put(head_name(key), new.head)
            for blocks in new.chunks():
                for number, value in blocks:
                    transaction.put(block_name(new.stat.version, number), value)

    def _environment(self) -> Any:
        """The database: opened once in a process, and again after a fork."""
        place = os.path.realpath(self.place)
        process, environment = _OPENED.get(place, (None, None))
        if process == os.getpid():
            return environment
        if environment is not None:
            environment.close()
        environment = client("lmdb", "LmdbStore", "lmdb").open(self.place, map_size=self.max_bytes)
        _OPENED[place] = os.getpid(), environment
        return environment

    def __repr__(self) -> str:
        return f"LmdbStore({self.place!r})"


def _delete_blocks(transaction: Any, version: str | None) -> None:
    if version is not None:
        for name in _names(transaction, b"b" + version.encode()):
            transaction.delete(name)


def _names(transaction: Any, beginning: bytes) -> list[bytes]:
    """The names in the database with this beginning."""
    cursor = transaction.cursor()
    names = cursor.iternext(values=False) if cursor.set_range(beginning) else ()
    return list(itertools.takewhile(lambda name: name.startswith(beginning), names))
