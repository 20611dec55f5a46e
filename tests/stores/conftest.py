"""Stores of every kind, over servers that are started once."""

import os
import shutil
import subprocess
import sys
import tempfile
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


@pytest.fixture
def mounted():
    """A function that mounts a file system of so many megabytes and returns its folder; called again, the same one has
    so many from then on. It is where other users find it: a server may run as one."""
    folder = Path(tempfile.mkdtemp(prefix="tgraph-disk-"))

    def mount(megabytes):
        options = f"{'remount,' if os.path.ismount(folder) else ''}size={megabytes}m"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", os.fspath(folder)]
        if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("no file system can be mounted here")
        return folder

    yield mount
    if os.path.ismount(folder):
        subprocess.run(["umount", "-l", os.fspath(folder)], check=True)  # LMDB keeps its files open
    folder.rmdir()
