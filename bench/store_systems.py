"""The systems that bench.stores compares, with one tensor of float32 rows: our stores, and those without them."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import mmap
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from bench.process import drop
from bench.servers import PostgresServer, RedisServer, Server, running
from tgraph.stores import CachedStore, DiskStore, FeatureStore, LmdbStore, MemoryStore, PostgresStore, RedisStore
from tgraph.stores.blocks import BlockStore
from tgraph.stores.rocksdb import RocksDbStore

GROUP, NAME = "vertex", "x"
AT_ONCE = 10_000  # rows of a request of the peers
CACHED = 10  # a cache has memory for this part of the rows
PREFIX = "bench"


@dataclass
class System:
    """put : store the tensor. read : all of it. rows : those at an index [k]. cool : have none of it in memory, and
    with False also forget what was verified. hits : the hit rate of a cache so far, as (hits, rows)."""

    name: str
    put: Callable[[Tensor], object]
    read: Callable[[], Tensor]
    rows: Callable[[Tensor], Tensor]
    cool: Callable[[bool], None] | None = None
    hits: Callable[[], tuple[int, int]] | None = None


def ours(name: str, store: BlockStore) -> System:
    """A store of ours, as loaders read it."""
    features = FeatureStore(store)

    def put(tensor: Tensor) -> None:
        features[GROUP, NAME, None] = tensor

    system = System(
        name, put, lambda: features[GROUP, NAME, None], lambda index: features.get_tensor(GROUP, NAME, index)
    )
    if isinstance(store, CachedStore):
        system.hits = lambda: (store.stats().hits, store.stats().hits + store.stats().misses)
    if isinstance(store, DiskStore):

        def cool(is_verified: bool) -> None:
            if not is_verified:
                store._held.clear()
                gc.collect()
            for held in store._held.values():
                held._map.madvise(mmap.MADV_DONTNEED)  # the system keeps pages that a process has mapped
            for file in store.path.rglob("*.safetensors"):
                drop(file)

        system.cool = cool
    return system


def in_memory() -> System:
    """A tensor: the upper limit."""
    held: list[Tensor] = []
    return System(
        "torch, in memory",
        lambda tensor: held.append(tensor.clone()),
        lambda: held[-1],
        lambda index: held[-1].index_select(0, index),
    )


def in_pyg() -> System:
    """PyTorch Geometric's own feature store: a Data."""
    data = Data()
    return System(
        "PyTorch Geometric's Data",
        lambda tensor: data.put_tensor(tensor, attr_name=NAME, index=None),
        lambda: data.get_tensor(attr_name=NAME, index=None),
        lambda index: data.get_tensor(attr_name=NAME, index=index),
    )


def in_memmap(folder: Path) -> System:
    """A .npy file, mapped by numpy."""
    path = folder / "x.npy"
    held: dict[str, Any] = {}

    def put(tensor: Tensor) -> None:
        held.clear()
        with open(path, "wb") as file:
            np.save(file, tensor.numpy())
            os.fsync(file.fileno())
        held["x"] = np.load(path, mmap_mode="r")

    def cool(is_verified: bool) -> None:
        held.clear()
        drop(path)
        held["x"] = np.load(path, mmap_mode="r")

    return System(
        "numpy memmap",
        put,
        lambda: torch.from_numpy(np.array(held["x"])),
        lambda index: torch.from_numpy(held["x"][index.numpy()]),
        cool,
    )


class Joined:
    """Rows from values that a database has of each, in order."""

    def __init__(self) -> None:
        self.columns = 0

    def values(self, tensor: Tensor) -> Iterator[tuple[int, bytes]]:
        """(number, bytes) of each row."""
        self.columns = tensor.shape[1]
        data, size = tensor.numpy().tobytes(), 4 * self.columns
        return ((row, data[row * size : (row + 1) * size]) for row in range(len(tensor)))

    def rows(self, values: list[bytes]) -> Tensor:
        return torch.frombuffer(bytearray(b"".join(values)), dtype=torch.float32).view(-1, self.columns)


def in_lmdb(folder: Path) -> System:
    """The package lmdb, a value for each row."""
    import lmdb

    environment, joined = lmdb.open(str(folder), map_size=1 << 40), Joined()

    def put(tensor: Tensor) -> None:
        items = ((row.to_bytes(8, "big"), value) for row, value in joined.values(tensor))
        with environment.begin(write=True) as transaction:
            transaction.cursor().putmulti(items)

    def read() -> Tensor:
        with environment.begin() as transaction:
            return joined.rows(list(transaction.cursor().iternext(keys=False)))

    def rows(index: Tensor) -> Tensor:
        with environment.begin(buffers=True) as transaction:
            return joined.rows([transaction.get(row.to_bytes(8, "big")) for row in index.tolist()])

    return System("lmdb, a value for each row", put, read, rows)


def in_redis(server: Server) -> System:
    """redis-py, a key for each row, read by MGET."""
    import redis

    client, joined, size = redis.Redis.from_url(server.url()), Joined(), [0]

    def put(tensor: Tensor) -> None:
        items, size[0] = joined.values(tensor), len(tensor)
        for some in range(0, len(tensor), AT_ONCE):
            client.mset(
                {str(row): value for row, value in (next(items) for _ in range(min(AT_ONCE, len(tensor) - some)))}
            )

    def rows(index: Tensor) -> Tensor:
        return joined.rows([value for some in index.split(AT_ONCE) for value in client.mget(some.tolist())])

    return System("redis-py, MGET of rows", put, lambda: rows(torch.arange(size[0])), rows)


def in_postgres(server: Server) -> System:
    """psycopg, a table with a row for each."""
    import psycopg

    connection, joined = psycopg.connect(server.url(), autocommit=True), Joined()
    connection.execute("CREATE TABLE x (id int4 PRIMARY KEY, value bytea NOT NULL)")

    def put(tensor: Tensor) -> None:
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute("TRUNCATE x")
            with cursor.copy("COPY x FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(["int4", "bytea"])
                for item in joined.values(tensor):
                    copy.write_row(item)

    def read() -> Tensor:
        with connection.cursor(binary=True) as cursor:
            return joined.rows([value for (value,) in cursor.execute("SELECT value FROM x ORDER BY id")])

    def rows(index: Tensor) -> Tensor:
        with connection.cursor(binary=True) as cursor:
            found = dict(cursor.execute("SELECT id, value FROM x WHERE id = ANY(%s::int4[])", [index.tolist()]))
        return joined.rows([found[row] for row in index.tolist()])

    return System("psycopg, SELECT of rows", put, read, rows)


# The package of each.
KINDS = {"memory": "torch", "disk": "torch", "lmdb": "lmdb", "rocksdb": "rocksdict", "redis": "redis"}
KINDS["postgres"] = "psycopg"
SERVERS: dict[str, type[Server]] = {"redis": RedisServer, "postgres": PostgresServer}


def missing(kind: str) -> str | None:
    """Why a kind of store cannot be measured here, None where it can."""
    if importlib.util.find_spec(KINDS[kind]) is None:
        return f"the package {KINDS[kind]} is not installed"
    return SERVERS[kind].missing() if kind in SERVERS else None


@contextlib.contextmanager
def systems_of(kind: str, folder: Path, room: int) -> Iterator[list[System]]:
    """A store of ours, its peers, and a cache of `room` bytes before it where that is worth while."""
    folder.mkdir()
    with contextlib.ExitStack() as held:
        if kind == "memory":
            yield [in_memory(), in_pyg(), ours("MemoryStore", MemoryStore())]
        elif kind == "disk":
            store: BlockStore = DiskStore(folder / "ours")
            yield [ours("DiskStore", store), ours("DiskStore, cached", CachedStore(store, room)), in_memmap(folder)]
        elif kind == "lmdb":
            yield [ours("LmdbStore", LmdbStore(folder / "ours")), in_lmdb(folder)]
        elif kind == "rocksdb":
            database = RocksDbStore(folder / "ours")
            held.callback(database.close)
            yield [ours("RocksDbStore", database)]
        elif kind == "redis":
            server = held.enter_context(running(RedisServer))
            store = RedisStore(server.url(), PREFIX)
            yield [ours("RedisStore", store), ours("RedisStore, cached", CachedStore(store, room)), in_redis(server)]
        else:
            server = held.enter_context(running(PostgresServer))
            store = PostgresStore(server.url(), PREFIX)
            cached = ours("PostgresStore, cached", CachedStore(store, room))
            yield [ours("PostgresStore", store), cached, in_postgres(server)]
