"""Programs on snapshots that are larger than what memory is for, against the same in memory."""

import subprocess
import sys
import threading

import pytest
import torch

import tgraph as tg
from tgraph.dynamic import columns, snapshots
from tgraph.dynamic.snapshots import SnapshotCsr, StreamedSnapshot

al = tg.algorithms
VERTICES = 400
PROGRAMS = {
    "bfs": lambda graph: al.bfs(graph, 7),
    "search tree": lambda graph: al.bfs(graph, 7, parents=True)[0],
    "sssp": lambda graph: al.sssp(graph, 7),
    "components": al.wcc,
    "pagerank": al.pagerank,
    "weighted pagerank": lambda graph: al.pagerank(graph, weighted=graph.weight_dtype is not None, dtype=torch.float64),
    "hits": lambda graph: al.hits(graph, tol=None, max_iterations=5)[0],
    "in-degrees": lambda graph: graph.in_degree,
    "out-degrees": lambda graph: graph.out_degree,
    "triangles": al.triangle_count,  # decoded
}


@pytest.fixture
def little(monkeypatch):
    """Blocks of a page or two, though the arcs may take no memory."""
    monkeypatch.setattr(snapshots, "LEAST", 48_000)


def fill(store, batches=8):
    """Insert and delete arcs: a hub that is larger than a block, and rows without any."""
    draw = torch.Generator().manual_seed(3)
    for number in range(batches):
        ends = (torch.rand(2, 2000, generator=draw) ** 2 * (VERTICES - 50)).long()
        ends[0, :400], ends[1, :400] = 7, torch.arange(400)
        weights = torch.rand(2000, generator=draw, dtype=torch.float64)
        store.insert(*ends, *([weights.to(store.columns["weights"])] if store.columns else ()))
        store.delete(*ends[:, number::5])
        if number == batches // 2:
            store.compact()
    store.delete_vertices([3, 4])
    return store


def pair(path, **options):
    """The same graph in a folder, where it may take no memory, and in memory."""
    options["num_vertices"] = VERTICES
    return fill(tg.dynamic.open(path, memory=1, sync="never", **options)), fill(tg.dynamic.Store(**options))


def same(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-8, equal_nan=True)


@pytest.mark.covering(1)
@pytest.mark.parametrize("multi", ["last", "keep", "sum"])
@pytest.mark.parametrize("dtype", [None, torch.float32, torch.int32])
@pytest.mark.parametrize("directed", [True, False])
def test_programs_give_what_they_give_in_memory(tmp_path, little, directed, dtype, multi):
    large, store = pair(tmp_path, weights=dtype, directed=directed, multi=multi)
    with large:
        graph, wanted = large.snapshot(), store.snapshot()
        assert isinstance(graph.storage, StreamedSnapshot) and isinstance(wanted.storage, SnapshotCsr)
        assert graph.num_arcs == wanted.num_arcs
        for name, program in PROGRAMS.items():
            held = large.snapshot()
            same(program(held), program(wanted))
            assert ("arcs" in held.caches) == (name == "triangles")
            held.drop_caches()
        assert graph.layout.counts.loads > len(graph.layout.source.blocks())
        assert graph.layout.section.has_split_rows


def test_sums_are_the_same_in_every_run(tmp_path, little):
    """Though blocks are in memory or not, merged or kept: sums of floats add in one order."""
    large, store = pair(tmp_path, weights=torch.float32)
    with large:
        graph = large.snapshot()
        first = al.pagerank(graph, weighted=True)
        data = torch.rand(VERTICES, 3)
        sums = tg.aggregate(graph, data, "sum", edge="mul")
        for _ in range(3):
            assert torch.equal(al.pagerank(graph, weighted=True), first)
            assert torch.equal(tg.aggregate(graph, data, "sum", edge="mul"), sums)
        for reduce in ("sum", "min", "max", "mean"):
            found, wanted = (tg.aggregate(each, data, reduce) for each in (graph, store.snapshot()))
            torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


def test_it_happens_where_the_arcs_are_larger_than_their_memory(tmp_path):
    with fill(tg.dynamic.open(tmp_path, num_vertices=VERTICES, memory="1MB")) as store:
        assert isinstance(store.snapshot().storage, SnapshotCsr)
        store.compact()
        size = store.snapshot().nbytes
    for mode in ("a", "r"):
        for memory, kind in ((size, SnapshotCsr), (size - 1, StreamedSnapshot)):
            with tg.dynamic.open(tmp_path, memory=memory, mode=mode) as store:
                assert type(store.snapshot().storage) is kind


def test_a_budget_for_a_run_streams_any_snapshot(tmp_path, little):
    """In memory or in files, without making a CSR of it first."""
    large, store = pair(tmp_path, weights=torch.float32)
    with large:
        for graph in (large.snapshot(), store.snapshot()):
            for program in (al.BFS(7), al.PageRank(), al.SSSP(7)):
                found = tg.run(program, graph, memory=300_000)
                same(found.values, tg.run(program, graph.to_csr()).values)
                assert "arcs" not in graph.caches


def test_rows_are_read_alone(tmp_path, little):
    """By samplers, too: no block is loaded for them."""
    large, store = pair(tmp_path, weights=torch.float32)
    with large:
        graph, wanted = large.snapshot(), store.snapshot()
        rows = torch.tensor([7, 3, 399, 7, 100])
        for found, expected in zip(graph.storage.rows(rows), wanted.storage.rows(rows), strict=True):
            assert torch.equal(found, expected)
        assert "source" not in graph.storage.__dict__


def test_a_snapshot_stays_while_the_store_goes_on(tmp_path, little):
    large, store = pair(tmp_path)
    with large:
        graph, wanted = large.snapshot(), al.wcc(store.snapshot())
        fill(large)
        large.compact()
        assert torch.equal(al.wcc(graph), wanted)
        assert large.delete_arcs([0], large.snapshot()) == large.version


def test_arcs_in_csr_are_on_maps(tmp_path, little):
    """For what decodes them, and for columns of arc data."""
    large, store = pair(tmp_path, weights=torch.float32)
    with large:
        graph, wanted = large.snapshot(), store.snapshot()
        for name in ("offset", "neighbors", "weights"):
            assert torch.equal(getattr(graph, name), getattr(wanted, name))
        assert torch.equal(large.arc_data(graph)["weights"], wanted.weights)


def test_threads_that_come_at_once_plan_once(tmp_path, little, monkeypatch):
    made, blocks = [], snapshots.VersionBlocks
    monkeypatch.setattr(snapshots, "VersionBlocks", lambda *given, **named: made.append(1) or blocks(*given, **named))
    large, store = pair(tmp_path)
    with large:
        graph, found = large.snapshot(), []
        threads = [threading.Thread(target=lambda: found.append(al.bfs(graph, 7))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(torch.equal(each, al.bfs(store.snapshot(), 7)) for each in found) and len(found) == 4
        assert len(made) == 1


HELD = """
import resource, sys
import torch
import tgraph as tg

torch.set_num_threads(1)
store = tg.dynamic.open(sys.argv[1], mode="r", memory="8MB")
graph = store.snapshot()
al = tg.algorithms
run = {"pagerank": al.pagerank, "bfs": lambda g: al.bfs(g, 0), "sssp": lambda g: al.sssp(g, 0), "wcc": al.wcc}
for program in run.values():  # code, threads and their stacks
    program(tg.Graph.from_edges([0, 1], [1, 2], [1.0, 2.0]))
data = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (data + (60 << 20), -1))
try:
    torch.empty(graph.nbytes)
    print("not held")
except RuntimeError:
    print({name: float(program(graph).double().nan_to_num(posinf=-1).sum()) for name, program in run.items()})
"""


@pytest.mark.thorough
def test_programs_keep_to_the_memory(tmp_path):
    """The system lets them have less than the arcs take."""
    draw, vertices = torch.Generator().manual_seed(1), 100_000
    store = tg.dynamic.open(tmp_path, torch.float64, num_vertices=vertices, sync="never", memory="8MB")
    with store:
        for _ in range(6):
            src, dst = (torch.rand(2, 10**6, generator=draw) ** 2 * vertices).long()
            store.insert(src, dst, torch.rand(10**6, generator=draw, dtype=torch.float64))
        graph = store.snapshot()
        assert graph.nbytes > 65 << 20  # more while runs are not merged
        values = {
            "pagerank": al.pagerank,
            "bfs": lambda g: al.bfs(g, 0),
            "sssp": lambda g: al.sssp(g, 0),
            "wcc": al.wcc,
        }
        plain = graph.to_csr()
        wanted = {name: float(run(plain).double().nan_to_num(posinf=-1).sum()) for name, run in values.items()}
    found = subprocess.run([sys.executable, "-c", HELD, str(tmp_path)], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert eval(found.stdout) == pytest.approx(wanted, rel=1e-6)


def test_files_that_garbage_closes_while_another_is_opened(tmp_path, monkeypatch):
    """A collection of garbage, which any allocation may begin, finalizes blocks of other snapshots."""
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        path.write_bytes(bytes(8192))
    opened, other = (columns.Column(torch.arange(8), columns.Place(path, 0)) for path in paths)
    other.read(0, 8, columns.page_aligned(other.room(0, 8)))
    open_direct = columns.open_direct
    monkeypatch.setattr(columns, "open_direct", lambda path: (other.close(), open_direct(path))[1])
    found = []
    reading = threading.Thread(
        target=lambda: found.append(opened.read(0, 8, columns.page_aligned(opened.room(0, 8)))), daemon=True
    )
    reading.start()
    reading.join(30)
    assert len(found) == 1 and found[0].tolist() == [0] * 8
    opened.close()
