"""What databases survive of their disks: no room for a server, and bits that flip in their files."""

import json
import re
import shutil
import subprocess
import sys

import forking_databases
import psycopg
import pytest
import torch
from forking_databases import read_again, values, write

from bench.servers import PASSWORD, PostgresServer, running
from tgraph import stores
from tgraph.errors import FileFormatError, ServerError
from tgraph.stores.blocks import read

pytestmark = pytest.mark.fault


class LoggingServer(PostgresServer):
    """With its write-ahead log in a folder of its own, in small files that are kept."""

    def __init__(self, folder, log):
        super().__init__(folder)
        self.layout = (f"--waldir={log}", "--wal-segsize=1")

    def command(self):
        return [*super().command(), "--min_wal_size=2MB", "--max_wal_size=1GB"]


def owned(folder):
    """Let the user that servers run as write in a folder."""
    if owner := PostgresServer("").owner():
        shutil.chown(folder, owner["user"], owner["group"])


def test_a_server_whose_log_finds_no_room_has_what_was_there_once_there_is(mounted):
    """PostgreSQL stops where a change at hand finds no room in its log, or refuses the statement where it makes a
    segment of the log ahead of time; it recovers from both."""
    if PostgresServer.missing():
        pytest.skip(PostgresServer.missing())
    log = mounted("8m")
    owned(log)
    with running(lambda folder: LoggingServer(folder, log)) as server:
        store = stores.PostgresStore(server.url(), patience=0.5)
        store.put("x", torch.ones(1000))
        with pytest.raises(ServerError, match=r"'x'") as caught:
            store.put("x", torch.zeros(4_000_000))
        says = "see whether the server runs" if caught.value.lost else r"No space left on device.*see what its log says"
        assert re.search(says, str(caught.value), re.DOTALL)
        mounted("64m")  # before it is stopped, for which it writes its log
        server.stop()
        server.start()
        assert torch.equal(read(store, "x")[1], torch.ones(1000)) and store.keys() == ["x"]
        store.put("x", torch.zeros(4_000_000))
        assert not read(store, "x")[1].any()


def test_a_put_that_finds_no_room_for_its_table_changes_nothing(postgres_server, mounted):
    """The server says so, and is asked once."""
    folder = mounted("12m")
    owned(folder)
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
        try:
            store = stores.open(postgres_server.url() + "?options=-cdefault_tablespace%3Dsmall", prefix="small")
            store.put("x", torch.ones(1000))
            for _ in range(2):
                with pytest.raises(ServerError, match=r"No space left on device.*see what its log says") as caught:
                    store.put("x", torch.zeros(4_000_000))
                assert not caught.value.lost and PASSWORD not in str(caught.value)
                assert torch.equal(read(store, "x")[1], torch.ones(1000)) and store.keys() == ["x"]
            mounted("24m")
            connection.execute("VACUUM small_blocks")  # as the server does by itself after a while
            store.put("x", torch.ones(1500))
            assert len(read(store, "x")[1]) == 1500
        finally:
            connection.execute("DROP TABLE IF EXISTS small_heads, small_blocks")
            connection.execute("DROP TABLESPACE small")


@pytest.fixture(scope="module")
def apart():
    """Calls `write` or `read_again` in a process of its own: (exit status, what it returned)."""
    with subprocess.Popen(
        [sys.executable, forking_databases.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:

        def call(function, url):
            print(function.__name__, url, file=server.stdin, flush=True)
            return tuple(json.loads(server.stdout.readline()))

        yield call
        server.stdin.close()


def damaged(whole, place):
    data = bytearray(whole)
    data[place // 8] ^= 1 << place % 8
    return bytes(data)


@pytest.fixture(params=["lmdb", "rocksdb"])
def database(request, tmp_path, apart):
    """(URL of a database that has a tensor, its folder), which this process has not opened."""
    pytest.importorskip({"lmdb": "lmdb", "rocksdb": "rocksdict"}[request.param])
    url = f"{request.param}:{tmp_path / 'store'}"
    assert apart(write, url)[0] == 0
    return url, tmp_path / "store"


def test_flipped_bits_in_the_values_of_a_database_are_found(database, apart):
    url, folder = database
    file = max(folder.iterdir(), key=lambda each: each.stat().st_size)
    whole = file.read_bytes()
    begin = 8 * whole.index(values()[100_000:100_004].numpy().tobytes())
    for bit in (0, 9, 255):
        file.write_bytes(damaged(whole, begin + bit))
        status, said = apart(read_again, url)
        assert status == 0 and str(folder) in said and "put the tensor again" in said
        assert "'features/x'" in said or "rocksdb" in url  # which says where in its files
    file.write_bytes(whole)
    assert apart(read_again, url) == (0, True)


@pytest.mark.parametrize(
    "flips", [pytest.param(8, marks=pytest.mark.thorough), pytest.param(50, marks=pytest.mark.soak)]
)
def test_flipped_bits_anywhere_in_a_database_yield_no_other_values(database, flips, apart):
    """LMDB has no checksums of its own pages: what flips there may be any error, or end the process."""
    url, folder = database
    random = torch.Generator().manual_seed(4)
    for file in sorted(folder.iterdir()):
        whole = file.read_bytes()
        for place in torch.randint(8 * len(whole), (flips,), generator=random).tolist() if whole else ():
            file.write_bytes(damaged(whole, place))
            assert apart(read_again, url)[1] is not False
        file.write_bytes(whole)
    assert apart(read_again, url) == (0, True)


def test_errors_of_a_damaged_database_are_raised_in_this_process_too(tmp_path, make):
    store = make("rocksdb")
    store.put("features/x", torch.arange(200_000))
    store._writer().flush()
    store.close()
    file = max((tmp_path / "store").glob("*.sst"), key=lambda each: each.stat().st_size)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(FileFormatError, match="put the tensor again"):
        read(make("rocksdb"), "features/x")
