"""What stores that outlast a process survive: killed puts, several writers, damage."""

import errno
import multiprocessing
import subprocess
import sys
import time

import pytest
import torch

from tgraph import stores
from tgraph.errors import FileFormatError, ServerError
from tgraph.stores.blocks import read, repeated

pytestmark = pytest.mark.fault
DATABASES = ["lmdb", "rocksdb", "redis", "postgres"]
FORK = multiprocessing.get_context("fork")
LASTING = ["disk", *DATABASES]


@pytest.fixture(params=LASTING)
def lasting(request):
    return request.param


def stored(store):
    """The names of all blocks that a store holds, but for those that a server is going to remove by itself."""
    if isinstance(store, stores.DiskStore):
        return [file.name for file in store.path.iterdir()]
    if isinstance(store, stores.RedisStore):
        names = [name for name in store._client.scan_iter(f"{store.prefix}:*") if store._client.ttl(name) < 0]
        return [field for name in names if not name.endswith(b":heads") for field in store._client.hkeys(name)]
    if isinstance(store, stores.PostgresStore):
        return store._fetched("", f"SELECT version, number FROM {store._blocks}")
    if isinstance(store, stores.RocksDbStore):
        return [name for name in store._reader().keys(from_key=b"") if name[:1] != b"k"]
    with store._environment().begin() as transaction:
        return [name for name in transaction.cursor().iternext(values=False) if name[:1] == b"b"]


def puts(url, options):
    store = stores.open(url, **options)
    for value in range(1, 100_000):
        store.put("x", torch.full((50_000, 10), float(value)))


@pytest.mark.parametrize("kills", [4, pytest.param(24, marks=pytest.mark.soak)])
def test_a_put_that_is_killed_has_happened_wholly_or_not_at_all(named, make, lasting, kills):
    store, seen = make(lasting), set()
    store.put("x", torch.zeros(50_000, 10))
    if lasting == "rocksdb":
        store.close()
    for number in range(kills):
        before = store.stat("x")
        writer = FORK.Process(target=puts, args=named(lasting))
        writer.start()
        while number % 2 and store.stat("x") == before:  # kill it in a later put than its first
            time.sleep(0.002)
        time.sleep(0.02 + 0.2 * number / kills)
        writer.kill()
        writer.join(60)
        assert writer.exitcode == -9
        found = read(store, "x")[1]
        assert bool((found == found[0, 0]).all())
        seen.add(float(found[0, 0]))
    assert len(seen) > 1
    store.put("x", torch.zeros(50_000, 10))
    assert len(stored(store)) == (1 if lasting == "disk" else store.stat("x").num_blocks)


@pytest.mark.parametrize("kind", ["disk", "lmdb", "rocksdb"])
def test_a_put_on_a_full_disk_changes_nothing(mounted, kind):
    small_disk = mounted("12m")
    store = stores.open(f"{kind}:{small_disk / 'store'}")
    store.put("x", torch.ones(1000))
    for _ in range(2):
        with pytest.raises(OSError, match=r"\d+ bytes are needed, \d+ are free; make room") as caught:
            store.put("x", torch.zeros(4_000_000))
        assert caught.value.errno == errno.ENOSPC
        assert torch.equal(read(store, "x")[1], torch.ones(1000)) and store.keys() == ["x"]
    store.put("x", torch.ones(1500))
    assert len(read(store, "x")[1]) == 1500
    if kind == "rocksdb":
        store.close()


def test_a_full_database_of_lmdb_changes_nothing(tmp_path):
    pytest.importorskip("lmdb")
    store = stores.LmdbStore(tmp_path / "store", max_bytes=1 << 20)
    store.put("x", torch.ones(1000))
    with pytest.raises(OSError, match="may take 1048576 bytes; give a larger max_bytes"):
        store.put("x", torch.zeros(4_000_000))
    store.put("y", torch.ones(1000))
    assert torch.equal(read(store, "x")[1], torch.ones(1000)) and store.keys() == ["x", "y"]


def test_a_redis_server_without_memory_changes_nothing(make):
    store = make("redis")
    store.put("x", torch.ones(1000))
    store._client.config_set("maxmemory", store._client.info("memory")["used_memory"] + 1_000_000)
    try:
        with pytest.raises(ServerError, match=r"used memory > .maxmemory."):
            store.put("x", torch.zeros(4_000_000))
        assert torch.equal(read(store, "x")[1], torch.ones(1000)) and store.keys() == ["x"]
    finally:
        store._client.config_set("maxmemory", 0)
    store.put("x", torch.ones(1500))
    assert len(stored(store)) == store.stat("x").num_blocks


def reads(url, options, ready):
    store, seen = stores.open(url, **options), set()
    while 12.0 not in seen:
        for select in (lambda size: None, lambda size: torch.randint(size, (1000,))):
            stat, found = read(store, "x", select)
            assert (found == found[0, 0]).all() and stat.shape[0] == 20_000 + found[0, 0]
            seen.add(float(found[0, 0]))
        ready.set()
    assert len(seen) > 1


def test_processes_that_read_while_another_writes_find_old_or_new(named, make, lasting):
    store = make(lasting)
    store.put("x", torch.zeros(20_000, 10))
    ready = [FORK.Event() for _ in range(2)]
    readers = [FORK.Process(target=reads, args=(*named(lasting), event)) for event in ready]
    for reader in readers:
        reader.start()
    for event in ready:
        assert event.wait(60)
    for value in range(1, 13):
        store.put("x", torch.full((20_000 + value, 10), float(value)))
    for reader in readers:
        reader.join(60)
        assert reader.exitcode == 0


def increment(url, options, times):
    """Add one to a stored number, again where another has done so meanwhile."""
    store = stores.open(url, **options)

    def attempt():
        stat, found = read(store, "x")
        store.put("x", found + 1, replacing=stat)

    for _ in range(times):
        repeated("x", attempt)


def test_what_two_writers_change_is_all_kept(named, make, lasting):
    if lasting == "rocksdb":
        pytest.skip("one process writes")
    store = make(lasting)
    store.put("x", torch.zeros(1, dtype=torch.int64))
    writers = [FORK.Process(target=increment, args=(*named(lasting), 30)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    assert read(store, "x")[1].tolist() == [60]


SECOND = """
import sys, torch
from tgraph import stores
from tgraph.errors import BusyError
store = stores.open(sys.argv[1])
try:
    store.put("x", torch.ones(3))
except BusyError as fault:
    print(fault, store.get_rows(store.stat("x")).tolist(), flush=True)
sys.stdin.readline()
store.put("x", torch.ones(3))
"""


@pytest.mark.soak
def test_a_second_process_that_puts_is_refused_until_the_first_lets_go(named, make):
    store = make("rocksdb")
    store.put("x", torch.zeros(3))
    command = [sys.executable, "-c", SECOND, named("rocksdb")[0]]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        said = process.stdout.readline()
        assert "another process holds the database to put" in said and "[0.0, 0.0, 0.0]" in said
        store.close()
        process.communicate("go\n", 60)
    assert process.returncode == 0
    assert read(store, "x")[1].all()


def change(store, stat, number, function):
    """Replace the value of a block, None for the head, by what a function makes of it; None removes it."""
    if isinstance(store, stores.RedisStore):
        name, field = (store._heads, stat.key) if number is None else (store._blocks(stat.version), number)
        value = function(store._client.hget(name, field))
        store._client.hdel(name, field) if value is None else store._client.hset(name, field, value)
        return
    if isinstance(store, stores.PostgresStore):
        table, column, where = store._heads, "head", "key = %s"
        names = [stat.key]
        if number is not None:
            table, column, where, names = store._blocks, "value", "version = %s AND number = %s", [stat.version, number]
        value = function(store._fetched("", f"SELECT {column} FROM {table} WHERE {where}", *names)[0][0])
        query = (
            f"DELETE FROM {table} WHERE {where}" if value is None else f"UPDATE {table} SET {column} = %s WHERE {where}"
        )
        values = names if value is None else [value, *names]
        store._request("", lambda connection: connection.execute(query, values))
        return
    name = b"k" + stat.key.encode() if number is None else b"b" + stat.version.encode() + number.to_bytes(8, "big")
    if isinstance(store, stores.RocksDbStore):
        value, database = function(store._writer()[name]), store._writer()
        database.delete(name) if value is None else database.put(name, value)
        return
    with store._environment().begin(write=True) as transaction:
        value = function(bytes(transaction.get(name)))
        transaction.delete(name) if value is None else transaction.put(name, value)


def flipped(value):
    return value[:100] + bytes([value[100] ^ 1]) + value[101:]


@pytest.mark.parametrize("kind", DATABASES)
def test_damage_in_a_database_is_found_with_the_key(make, kind):
    store = make(kind)
    store.put("features/x", torch.arange(50_000))
    stat = store.stat("features/x")
    change(store, stat, 0, flipped)
    change(store, stat, 2, lambda value: None)
    damaged = (0, "the checksum of block 0 of 'features/x' differs"), (2 * stat.rows, "block 2 of .* is missing")
    for row, message in damaged:
        with pytest.raises(FileFormatError, match=message) as caught:
            read(store, "features/x", lambda size, row=row: torch.tensor([row]))
        assert caught.value.path == store.place
    assert read(store, "features/x", lambda size: torch.tensor([49_999]))[1].tolist() == [49_999]
    change(store, stat, None, flipped)
    with pytest.raises(FileFormatError, match="the checksum of the head of 'features/x' differs"):
        read(store, "features/x")
    store.put("features/x", torch.arange(3))
    assert read(store, "features/x")[1].tolist() == [0, 1, 2]
