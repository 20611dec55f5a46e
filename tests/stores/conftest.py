"""Stores of every kind, over servers that are started once."""

import uuid

import pytest
from servers import PostgresServer, RedisServer, running

from tgraph import stores

KINDS = ["memory", "disk", "lmdb", "cached", "redis", "postgres"]

SERVED = {"redis": stores.RedisStore, "postgres": stores.PostgresStore}


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
def make(request, tmp_path):
    """A function that makes a store of a kind, empty at first; a second of the kind shares its contents."""
    prefix = f"t{uuid.uuid4().hex}"

    def store(kind, **options):
        if kind == "memory":
            return stores.MemoryStore()
        if kind == "disk":
            return stores.DiskStore(tmp_path / "store")
        if kind == "cached":
            return stores.CachedStore(stores.DiskStore(tmp_path / "store"), 100_000)
        if kind == "lmdb":
            pytest.importorskip("lmdb")
            return stores.LmdbStore(tmp_path / "store", 1 << 30)
        url = request.getfixturevalue(f"{kind}_server").url()
        return SERVED[kind](url, prefix, **options)

    return store


@pytest.fixture(params=KINDS)
def store(request, make):
    """A store of each kind, empty."""
    return make(request.param)
