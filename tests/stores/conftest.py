"""Stores of every kind, over servers that are started once."""

import sys
import uuid
from pathlib import Path

import pytest

from tgraph import stores

sys.path.append(str(Path(__file__).parents[2]))

from bench.servers import PostgresServer, RedisServer, running

PACKAGES = {"lmdb": "lmdb", "rocksdb": "rocksdict", "redis": "redis", "postgres": "psycopg"}


@pytest.fixture(scope="session")
def redis_server():
    yield from server(RedisServer, "redis")


@pytest.fixture(scope="session")
def postgres_server():
    yield from server(PostgresServer, "psycopg")


def server(kind, package):
    pytest.importorskip(package)
    if kind.missing():
        pytest.skip(kind.missing())
    with running(kind) as started:
        yield started


@pytest.fixture
def named(request, tmp_path):
    """A function from a kind of store to the arguments of stores.open for one that is empty at first."""
    prefix = f"t{uuid.uuid4().hex}"

    def arguments(kind):
        if kind in PACKAGES:
            pytest.importorskip(PACKAGES[kind])
        if kind in ("redis", "postgres"):
            return request.getfixturevalue(f"{kind}_server").url(), {"prefix": prefix}
        url = "memory:" if kind == "memory" else f"{kind}:{tmp_path / 'store'}"
        return url, {"max_bytes": 1 << 30} if kind == "lmdb" else {}

    return arguments


@pytest.fixture
def make(named):
    """A function that makes a store of a kind; all but those in memory that a test makes share their contents."""
    made = []

    def store(kind):
        if kind == "cached":
            return stores.CachedStore(store("disk"), 100_000)
        url, options = named(kind)
        made.append(stores.open(url, **options))
        return made[-1]

    yield store
    for one in made:
        if isinstance(one, stores.RocksDbStore):
            one.close()


@pytest.fixture(params=["memory", "disk", "lmdb", "rocksdb", "cached", "redis", "postgres"])
def store(request, make):
    """A store of each kind, empty."""
    return make(request.param)
