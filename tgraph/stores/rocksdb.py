"""Tensors in a RocksDB database: one process writes, many read."""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from tgraph.errors import BusyError, FileFormatError
from tgraph.files import PathLike
from tgraph.stores.blocks import Stat, check_version
from tgraph.stores.keyvalue import REMEDY, KeyValueStore, NewVersion, Wanted, block_name, client, disk_full, head_name

LOG = 1 << 27  # bytes of the write-ahead log, about, on the disk beside the tables
# Databases by folder, as a process may open each once: as primary, and as secondary beside another process's.
_WRITERS: dict[str, Any] = {}
_READERS: dict[str, Any] = {}
_LOCK = threading.RLock()  # of both, and of the commit of a put


class RocksDbStore(KeyValueStore):
    """Tensors in a RocksDB database, for frequent puts.

    The process of the first put holds the database until it ends or calls `close`; puts of others raise BusyError
    meanwhile. Other processes read by secondary instances, in the state of their last `stat` or `keys`. A put writes
    the blocks in batches, then the head in one with the removal of the previous version; the first put of a process
    removes the blocks of killed ones. A put raises OSError before it writes where the disk has no room.

    path : of the folder, created if missing.
    Raises MissingDependencyError where the package rocksdict is not installed.

    >>> from tgraph import stores
    >>> store = stores.RocksDbStore("folder")
    >>> store.put("x", torch.arange(6.0).view(3, 2))
    >>> store.get_rows(store.stat("x"), torch.tensor([2]))
    tensor([[4., 5.]])
    >>> store.close()
    """

    def __init__(self, path: PathLike):
        self.place: str = os.fspath(path)
        if not os.path.exists(os.path.join(self.place, "CURRENT")):
            self._open(_rocksdict().AccessType.read_write()).close()

    def _delete(self, key: str) -> bool:
        database, batch = self._writer(), _batch()
        with _LOCK:
            head = database.get(head_name(key))
            batch.delete(head_name(key))
            _delete_blocks(batch, self._present(key, head))
            _write(database, batch)
        return head is not None

    def _keys(self, beginning: str) -> list[str]:
        return sorted(name[1:].decode() for name in _names(self._caught_up(), head_name(beginning)))

    def close(self) -> None:
        """Release the database, so that other processes can put. The store stays usable.

        >>> from tgraph import stores
        >>> store = stores.RocksDbStore("folder")
        >>> store.put("x", torch.zeros(3))
        >>> store.close()
        >>> store.keys()
        ['x']
        """
        with _LOCK:
            for opened in (_WRITERS, _READERS):
                database = opened.pop(os.path.realpath(self.place), None)
                if database is not None:
                    database.close()

    def _heads_of(self, keys: Sequence[str]) -> list[bytes | None]:
        return self._get(self._caught_up(), [head_name(key) for key in keys])

    def _values(self, wanted: Wanted) -> list[bytes | None]:
        return self._get(
            self._reader(), [block_name(stat.version, number) for stat, numbers in wanted for number in numbers]
        )

    def _replace(self, new: NewVersion, replacing: Stat | None) -> None:
        needed = new.tensor.nbytes + min(new.tensor.nbytes, LOG)
        if shutil.disk_usage(self.place).free < needed:  # after RocksDB's own error it has to be opened again
            raise disk_full(self.place, needed, "no space left")
        database, version = self._writer(), new.stat.version
        for blocks in new.chunks():
            batch = _batch()
            batch.put(_unfinished(version), b"")
            for number, value in blocks:
                batch.put(block_name(version, number), value)
            database.write(batch)
        batch = _batch()
        removed: str | None = version  # if this put fails
        with _LOCK:
            try:
                present = self._present(new.stat.key, database.get(head_name(new.stat.key)))
                check_version(new.stat.key, present, replacing)
                batch.put(head_name(new.stat.key), new.head)
                removed = present
            finally:
                batch.delete(_unfinished(version))
                _delete_blocks(batch, removed)
                _write(database, batch)

    def _get(self, database: Any, names: Any) -> Any:
        try:
            return database.get(names)
        except Exception as fault:  # rocksdict has no errors of its own
            if "Corruption" in str(fault):
                raise FileFormatError(self.place, str(fault), REMEDY) from fault
            raise

    def _writer(self) -> Any:
        """The primary database, now held by this process, without the blocks of killed puts."""
        place = os.path.realpath(self.place)
        with _LOCK:
            if place not in _WRITERS:
                database = self._open(_rocksdict().AccessType.read_write())
                batch = _batch()
                for name in _names(database, _unfinished("")):
                    _delete_blocks(batch, name[1:].decode())
                    batch.delete(name)
                _write(database, batch)
                _WRITERS[place] = database
            return _WRITERS[place]

    def _reader(self) -> Any:
        place = os.path.realpath(self.place)
        with _LOCK:
            if place in _WRITERS:
                return _WRITERS[place]
            if place not in _READERS:
                with tempfile.TemporaryDirectory() as folder:  # of its unused log
                    _READERS[place] = self._open(_rocksdict().AccessType.secondary(folder))
            return _READERS[place]

    def _caught_up(self) -> Any:
        """The database in its present state."""
        database = self._reader()
        if database is not _WRITERS.get(os.path.realpath(self.place)):
            database.try_catch_up_with_primary()
        return database

    def _open(self, access: Any) -> Any:
        rocksdict = _rocksdict()
        options = rocksdict.Options(raw_mode=True)
        options.set_keep_log_file_num(1)
        try:
            return rocksdict.Rdict(self.place, options, access_type=access)
        except Exception as fault:
            if "lock" in str(fault).lower():
                remedy = "let one process put, or call the close() of its store"
                raise BusyError(f"{self.place}: another process holds the database to put; {remedy}") from fault
            if "Corruption" in str(fault):
                raise FileFormatError(self.place, str(fault), REMEDY) from fault
            raise

    def __repr__(self) -> str:
        return f"RocksDbStore({self.place!r})"


def _unfinished(version: str) -> bytes:
    """The name that marks an unfinished put."""
    return b"u" + version.encode()


def _names(database: Any, beginning: bytes) -> Iterator[bytes]:
    """The names in the database with this beginning."""
    return itertools.takewhile(lambda name: name.startswith(beginning), database.keys(from_key=beginning))


def _batch() -> Any:
    return _rocksdict().WriteBatch(raw_mode=True)


def _delete_blocks(batch: Any, version: str | None) -> None:
    if version is not None:
        batch.delete_range(block_name(version, 0), block_name(version, 2**64 - 1))


def _write(database: Any, batch: Any) -> None:
    """Write and sync, including all previous writes."""
    options = _rocksdict().WriteOptions()
    options.sync = True
    database.write(batch, options)


def _forget() -> None:
    """Leak the databases of the parent process: closing one would wait for threads missing in a fork."""
    global _LOCK
    for database in (*_WRITERS.values(), *_READERS.values()):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(database))
    _WRITERS.clear()
    _READERS.clear()
    _LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


_rocksdict = functools.partial(client, "rocksdict", "RocksDbStore", "rocksdb")
