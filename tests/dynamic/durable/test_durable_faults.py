"""What a store in a folder survives: kills, torn and damaged files, full disks, readers and writers at once."""

import contextlib
import errno
import multiprocessing
import os
import random
import shutil
import threading
import time
import warnings

import pytest
import torch
from dynamic_history import VERTICES, History, apply, listed
from faults import killed

import tgraph as tg
from tgraph.dynamic.durable.recovery import TornRecordWarning
from tgraph.errors import FileFormatError

pytestmark = pytest.mark.fault
FORK = multiprocessing.get_context("fork")

SMALL = """
from tgraph.dynamic import tiers
from tgraph.dynamic.durable import checkpoints, log, merging
tiers.LARGE, tiers._LEAST = 64, 300
log.SEGMENT, checkpoints.LEAST_LOG, merging.BLOCK = 4000, 6000, 100
"""

# Says in a file of bytes which version was acknowledged last.
WRITING = (
    """
import os, sys, warnings, torch
sys.path.insert(0, "tests")
import tgraph as tg
from dynamic_history import apply
"""
    + SMALL
    + """
os.fsync = os.fdatasync = lambda file: None  # a kill leaves what was written
folder, said, memory = sys.argv[1:]

def work():
    warnings.simplefilter("ignore")
    store = tg.dynamic.open(folder, torch.float64, num_vertices=60, memory=int(memory))
    saying = os.open(said, os.O_WRONLY | os.O_CREAT)
    for number in range(store.version + 1, 1 << 30):
        assert apply(store, number) == number
        os.pwrite(saying, number.to_bytes(8, "big"), 0)
        if number % 97 == 0:
            store.compact()
"""
)


@pytest.fixture(autouse=True)
def no_sync(monkeypatch):
    """What a process reads of another, or after it, does not depend on what the disk has."""
    monkeypatch.setattr(os, "fsync", lambda file: None)
    monkeypatch.setattr(os, "fdatasync", lambda file: None)


@pytest.fixture
def small(monkeypatch):
    """Segments, runs, blocks and checkpoints that few batches fill."""
    from tgraph.dynamic import tiers
    from tgraph.dynamic.durable import checkpoints, log, merging

    monkeypatch.setattr(tiers, "LARGE", 64)
    monkeypatch.setattr(tiers, "_LEAST", 300)
    monkeypatch.setattr(log, "SEGMENT", 4000)
    monkeypatch.setattr(checkpoints, "LEAST_LOG", 6000)
    monkeypatch.setattr(merging, "BLOCK", 100)


@pytest.mark.parametrize("memory", [1, pytest.param(1 << 30, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.soak)])
def test_a_killed_writer_leaves_all_that_it_acknowledged(tmp_path, kills, memory):
    """Batches, wholly, in the order of their numbers; of each kind the kill falls into some."""
    folder, said, history, draw = tmp_path / "store", tmp_path / "said", History(), random.Random(kills + memory)
    waits = [0.02 + draw.random() * 0.3 for _ in range(kills)]
    versions = [0]
    for was_killed in killed(WRITING, [folder, said, memory], waits):
        assert was_killed
        acknowledged = int.from_bytes(said.read_bytes() or b"\0", "big") if said.exists() else 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TornRecordWarning)
            assert not (folder / "manifest.json").exists() or tg.dynamic.verify(folder) == []
            with tg.dynamic.open(folder, torch.float64, num_vertices=VERTICES) as store:
                assert acknowledged <= store.version <= max(acknowledged, versions[-1]) + 1
                assert listed(store.snapshot()) == history.after(store.version)
                versions.append(store.version)
    assert len(set(versions)) > kills // 4


def written(folder, batches, **options):
    """A store, still open, after so many batches."""
    store = tg.dynamic.open(folder, torch.float64, num_vertices=VERTICES, **options)
    for number in range(store.version + 1, batches + 1):
        apply(store, number)
    return store


def copied(folder, copy):
    """The folder as a killed process would leave it."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    return copy


def reopened(folder):
    """(version, arcs, whether a torn record was dropped) of a store."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with tg.dynamic.open(folder) as store:
            found = store.version, listed(store.snapshot())
    return *found, any(issubclass(each.category, TornRecordWarning) for each in said)


@pytest.mark.parametrize("step", [61, pytest.param(1, marks=pytest.mark.soak)])
def test_a_log_that_is_cut_anywhere_has_the_batches_before(tmp_path, step):
    """At each byte, or around those where records end, and some between them."""
    batches, ends = 6, {}
    store, log = None, tmp_path / "store" / f"log-{1:020d}"
    for number in range(1, batches + 1):
        store = store or tg.dynamic.open(tmp_path / "store", torch.float64, num_vertices=VERTICES)
        apply(store, number)
        ends[number] = log.stat().st_size
    copied(tmp_path / "store", tmp_path / "whole")
    store.close()
    history = History()
    arcs = {number: history.after(number) for number in range(batches + 1)}
    near = {end + by for end in (40, *ends.values()) for by in (-1, 0, 1, 8, 87, 88)}
    for size in sorted({size for size in near if size <= ends[batches]} | {*range(0, ends[batches], step)}):
        copy = copied(tmp_path / "whole", tmp_path / "cut")
        os.truncate(copy / log.name, size)
        complete = max((number for number, end in ends.items() if end <= size), default=0)
        is_torn = size not in (40, *ends.values())
        assert reopened(copy) == (complete, arcs[complete], is_torn)
        assert reopened(copy) == (complete, arcs[complete], False)
    clean = copied(tmp_path / "store", tmp_path / "cut")
    os.truncate(clean / log.name, ends[batches] - 1)
    with pytest.raises(FileFormatError, match=f"ends with batch {batches - 1}, at byte .*; {batches} were there"):
        tg.dynamic.open(clean)
    assert len(tg.dynamic.verify(clean)) == 1


@pytest.mark.parametrize("step", [1999, pytest.param(41, marks=pytest.mark.soak)])
@pytest.mark.parametrize("is_closed", [pytest.param(True, marks=pytest.mark.thorough), False])
def test_a_flipped_bit_is_found_wherever_it_is(tmp_path, small, step, is_closed):
    """When the store is opened, or else by verifying all, which reads what the checkpoint has made superfluous."""
    store, draw = written(tmp_path / "store", 40), random.Random(step)
    store.compact()
    for number in range(41, 44):
        apply(store, number)
    store._compaction.checkpoints.write()
    for number in range(44, 48):
        apply(store, number)
    manifest = store._compaction.contents.manifest
    assert store.info()["runs"] and manifest.runs and manifest.base
    for part in (store._compaction.merging, store._compaction.flushing, store._compaction.checkpoints):
        part.worker.stop()  # nothing is removed while it is copied
    whole = tmp_path / "store" if is_closed else copied(tmp_path / "store", tmp_path / "open")
    store.close()
    history = History()
    arcs = {number: history.after(number) for number in range(48)}
    checked = 0
    for name in sorted(os.listdir(whole)):
        if name == "lock":
            continue
        size = (whole / name).stat().st_size
        near = range(0, min(size, 200), 3) if name.startswith("log") else range(0, min(size, 24), 5)
        for place in sorted({*range(0, size, step), *near, size - 1}):
            copy = copied(whole, tmp_path / "flipped")
            data = bytearray((copy / name).read_bytes())
            data[place] ^= 1 << draw.randrange(8)
            (copy / name).write_bytes(data)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                damaged = tg.dynamic.verify(copy)
            assert damaged or said, (name, place)
            assert not is_closed or damaged, (name, place)
            try:
                number, found, is_torn = reopened(copy)
            except FileFormatError as fault:
                assert name in str(fault) or "manifest" in name, (name, place, fault)
            else:
                assert found == arcs[number] and (number == 47 or is_torn), (name, place)
                assert not is_closed or number == 47
            checked += 1
    assert checked > 50


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.soak)])
def test_a_batch_on_a_full_disk_fails_whole_and_later_ones_do_not(mounted, small, step):
    """With every amount of room, in pages, that is left when the disk is about to be full."""
    small_disk = mounted("1m")
    history, ballast, failed = History(), small_disk / "ballast", 0
    store = written(small_disk / "store", 30)
    for pages in range(0, 120, step):
        free = shutil.disk_usage(small_disk).free - 4096 * pages
        with contextlib.suppress(OSError):  # a checkpoint may have taken some of it meanwhile
            ballast.write_bytes(bytes(max(free, 0)))
        try:
            for number in range(store.version + 1, store.version + 60):
                apply(store, number)
        except OSError as fault:
            assert fault.errno == errno.ENOSPC and "bytes are needed" in str(fault)
            failed += 1
        assert listed(store.snapshot()) == history.after(store.version)
        ballast.unlink()
        for number in range(store.version + 1, store.version + 4):
            assert apply(store, number) == number
        assert listed(store.snapshot()) == history.after(store.version)
    assert failed
    last = store.version
    store.close()
    assert tg.dynamic.verify(small_disk / "store") == []
    assert reopened(small_disk / "store") == (last, history.after(last), False)


class Full:
    """Fails calls of the operating system that write, from the n-th on, as on a full disk; of the first that fails
    half is done."""

    def __init__(self, monkeypatch, allowed):
        self.allowed, self.calls = allowed, 0
        for name in ("pwritev", "posix_fallocate"):
            monkeypatch.setattr(os, name, self.limited(name, getattr(os, name)))

    def limited(self, name, call):
        def limited(file, first, second, *others):
            self.calls += 1
            if self.calls > self.allowed:
                if name == "pwritev" and self.calls == self.allowed + 1:
                    call(file, [memoryview(first[0])[: len(first[0]) // 2]], second)
                raise OSError(errno.ENOSPC, "No space left on device")
            return call(file, first, second, *others)

        return limited


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("memory", [1, 1 << 30])
def test_each_write_may_find_the_disk_full(tmp_path, small, memory, step, monkeypatch):
    history = History()
    for allowed in range(0, 24, step):
        store = written(tmp_path / str(allowed), 20, memory=memory)
        with monkeypatch.context() as patch:
            full = Full(patch, allowed)
            for number in range(21, 46):
                before = store.version
                try:
                    apply(store, number)
                except OSError as fault:
                    assert fault.errno == errno.ENOSPC and "bytes are needed" in str(fault)
                    assert store.version == before
                    break
            try:
                store.compact()
            except OSError as fault:
                assert fault.errno == errno.ENOSPC
            assert full.calls > allowed
            full.allowed = 1 << 30
            assert listed(store.snapshot()) == history.after(store.version)
        for number in range(store.version + 1, 60):
            assert apply(store, number) == number
        store.close()
        history = History()
        assert reopened(tmp_path / str(allowed))[:2] == (59, history.after(59))
        history = History()


def cycles(path, seconds, said):
    """Two writers, each of whose batches gives all arcs of a cycle of its own the batch's number as weight, or deletes
    all of them."""
    with tg.dynamic.open(path, torch.int64, num_vertices=128) as store:
        end, faults = time.monotonic() + seconds, []

        def write(writer):
            ring = torch.arange(64 * writer, 64 * writer + 64)
            try:
                for number in range(1, 1 << 30):
                    if number % 7 == 0:
                        store.delete(ring, ring.roll(1))
                    else:
                        store.insert(ring, ring.roll(1), torch.full((64,), number))
                    if number % 50 == 0 and time.monotonic() > end:
                        return
            except BaseException as fault:
                faults.append(fault)
                raise

        writers = [threading.Thread(target=write, args=(writer,)) for writer in range(2)]
        for thread in writers:
            thread.start()
        for thread in writers:
            thread.join()
        said.value = -1 if faults else store.version


def check_cycles(graph, version, before):
    """The number of each writer's last batch, whole and not before what was seen; with the other's it makes the
    version."""
    rows = torch.repeat_interleave(torch.arange(128), graph.offset.diff())
    found = []
    for writer in range(2):
        own = rows // 64 == writer
        weights = graph.weights[own].unique().tolist()
        assert int(own.sum()) in (0, 64) and len(weights) <= 1
        found.append(weights[0] if weights else None)
    known = [number for number in found if number is not None]
    if len(known) == 2:
        assert sum(known) == version
    elif known:
        assert (version - known[0]) % 7 == 0
    for number, last in zip(found, before, strict=True):
        assert number is None or number >= last
    return [last if number is None else number for number, last in zip(found, before, strict=True)]


@pytest.mark.parametrize(
    "seconds", [2, pytest.param(float(os.environ.get("TGRAPH_SOAK_SECONDS", 600)), marks=pytest.mark.soak)]
)
def test_a_reader_beside_two_writers_sees_whole_batches_in_their_order(tmp_path, small, seconds):
    said = FORK.Value("q", 0)
    tg.dynamic.open(tmp_path, torch.int64, num_vertices=128).close()
    writer = FORK.Process(target=cycles, args=(tmp_path, seconds, said))
    writer.start()
    reader, seen, snapshots = tg.dynamic.open(tmp_path, mode="r"), [0, 0], 0
    while writer.is_alive():
        version = reader.refresh()
        graph = reader.snapshot()
        seen = check_cycles(graph, version, seen)
        snapshots += 1
    writer.join()
    assert writer.exitcode == 0 and reader.refresh() == said.value > 100
    check_cycles(reader.snapshot(), reader.version, seen)
    assert snapshots > 10
    assert tg.dynamic.verify(tmp_path) == []
