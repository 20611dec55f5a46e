"""The arcs of a version in blocks, against the CSR that they are merged into."""

import os

import pytest
import torch

import tgraph as tg
from tgraph.dynamic import snapshots
from tgraph.dynamic.blocks import VersionBlocks
from tgraph.dynamic.cached_blocks import CachedBlocks
from tgraph.dynamic.parts import VersionParts
from tgraph.errors import FileFormatError, MemoryBudgetError
from tgraph.stream.memory import page_aligned

VERTICES = 300


@pytest.fixture
def little(monkeypatch):
    """Blocks of a page or two, though the arcs may take no memory."""
    monkeypatch.setattr(snapshots, "LEAST", 1 << 16)


def change(store, seed, batches=6):
    """Insert and delete arcs: a hub with arcs to all, most others between few vertices, and rows without any."""
    draw = torch.Generator().manual_seed(seed)
    for number in range(batches):
        ends = (torch.rand(2, 900, generator=draw) ** 2 * (VERTICES - 40)).long()
        ends[0, :250] = 7
        dtype = store.columns.get("weights")
        given = () if dtype is None else (torch.randint(1, 90, (900,), generator=draw).to(dtype),)
        store.insert(*ends, *given)
        gone = ends[:, ::3] if number % 2 else (torch.rand(2, 100, generator=draw) * VERTICES).long()
        store.delete(*gone)
    store.delete_vertices([3, 4, 5])


def of_folder(path, **options):
    """A store in a folder that may take no memory, half of its arcs in runs, some of them in files."""
    store = tg.dynamic.open(path, num_vertices=VERTICES, memory=1, sync="never", **options)
    change(store, 1)
    store.compact()
    change(store, 2)
    return store


def read(source):
    """All rows of a source, from its blocks: (offset, neighbors, weights)."""
    memory = page_aligned(max(extent.nbytes for extent in source.index))
    degree, neighbors, weights = torch.zeros(source.num_vertices, dtype=torch.int64), [], []
    for number in source.blocks():
        block = source.read(number, memory)
        degree[block.first_row : block.end_row] += block.offset.diff()
        neighbors.append(block.neighbors.clone())
        weights += [] if block.weights is None else [block.weights.clone()]
    assert torch.equal(source.offset().diff(), degree)
    return torch.cat(neighbors), torch.cat(weights) if weights else None


@pytest.mark.covering(1)
@pytest.mark.parametrize("held", [0, 1 << 30])
@pytest.mark.parametrize("size", [1, 5, 60, 1000, 10**6])
@pytest.mark.parametrize("multi", ["last", "keep", "sum"])
def test_parts_of_any_size_are_the_arcs(tmp_path, multi, size, held):
    """Runs merged at once, or for each part."""
    with of_folder(tmp_path, weights=torch.int64, multi=multi) as store:
        version = store._head.version
        whole, parts = version.arcs(), VersionParts(version.with_runs(version.base, version.runs), held)
        cut = parts.cut(size, VERTICES)
        merged = [parts.merge(part, parts.read(part)[0]) for part in cut]
        assert torch.equal(torch.cat([arcs.neighbors for arcs in merged]), whole.neighbors)
        assert torch.equal(torch.cat([arcs.data[0] for arcs in merged]), whole.data[0])
        degree = torch.zeros(VERTICES, dtype=torch.int64)
        for part, arcs in zip(cut, merged, strict=True):
            degree[part.first_row : part.end_row] += arcs.offset.diff()
        assert torch.equal(degree, whole.offset.diff())
        pairs = max(int(torch.unique(whole.neighbors).numel()), 1)
        assert len(cut) == 1 if size == 10**6 else len(cut) >= min(len(whole.neighbors) // (4 * size), pairs)
        if size == 60:
            rows = [part.first_row for part in cut]
            assert rows.count(7) > 1, "the hub should lie in several parts"
        parts.close()


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="nothing is kept where files have names")
@pytest.mark.parametrize("dtype", [None, torch.float32, torch.int8, torch.bfloat16])
def test_blocks_are_the_arcs_however_often_they_are_read(tmp_path, little, dtype):
    """Merged at first, and then from the file that they are kept in."""
    with of_folder(tmp_path, weights=dtype, times=None) as store:
        graph = store.snapshot()
        source, version = graph.layout.source, store._head.version
        whole = version.with_runs(version.base, version.runs)
        for passes in range(4):
            neighbors, weights = read(source)
            assert torch.equal(neighbors, whole.arcs().neighbors)
            assert dtype is None or torch.equal(weights, whole.arcs().data[0])
            kept = [source._cached.has(block) for block in source.blocks()]
            assert all(kept) == (passes > 0) and (any(kept) or passes == 0)
        assert sorted(os.listdir(tmp_path)) == sorted(path.name for path in tmp_path.iterdir() if path.exists())


def test_blocks_that_no_file_can_keep_are_merged_each_time(tmp_path, little, monkeypatch):
    with of_folder(tmp_path) as store:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
        source = store.snapshot().layout.source
        first = read(source)[0]
        for _ in range(3):
            assert torch.equal(read(source)[0], first) and not source._cached.has(0)


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="nothing is kept where files have names")
def test_a_kept_block_that_is_damaged_is_refused(tmp_path, little):
    with of_folder(tmp_path) as store:
        source = store.snapshot().layout.source
        read(source), read(source)
        os.pwrite(source._cached._file, memoryview(page_aligned(4096).fill_(7).numpy()), 0)
        with pytest.raises(FileFormatError, match=r"block 0 .* is not as it was written to a temporary file"):
            read(source)


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="nothing is kept where files have names")
def test_what_is_kept_is_what_was_written(tmp_path):
    kept, memory = CachedBlocks(tmp_path, [4096, 8192]), page_aligned(8192).copy_(torch.arange(8192) % 251)
    for _ in range(2):
        assert not kept.has(1)
        kept.see(1, memory)
    found = page_aligned(8192).zero_()
    kept.read(1, found)
    assert kept.has(1) and not kept.has(0) and torch.equal(found, memory) and kept.is_whole(1, found)
    assert os.listdir(tmp_path) == []
    kept.close()
    assert not kept.has(1)


def test_files_that_a_checkpoint_removed_are_read_from_their_maps(tmp_path, little):
    with of_folder(tmp_path, weights=torch.float64) as store:
        graph, version = store.snapshot(), store._head.version
        expected = version.with_runs(version.base, version.runs).arcs()
        change(store, 3)
        store.compact()
        assert torch.equal(read(graph.layout.source)[0], expected.neighbors)


def test_the_identity_of_arcs_depends_on_neither_runs_nor_blocks(tmp_path, little):
    with of_folder(tmp_path, weights=torch.float32) as store:
        version = store._head.version
        before = VersionBlocks(version, True, None, 1 << 20).identity()
        apart = VersionBlocks(version, True, None, 80_000).identity()
        store.compact()
        after = VersionBlocks(store._head.version, True, None, 1 << 20).identity()
        store.upsert([7], [8], [0.5])
        other = VersionBlocks(store._head.version, True, None, 1 << 20).identity()
    for same in (apart, after):
        assert all(map(torch.equal, before, same))
    assert not all(map(torch.equal, before, other))


def test_a_budget_that_holds_no_block_is_refused(tmp_path, little):
    with of_folder(tmp_path) as store, pytest.raises(MemoryBudgetError, match="the data of the vertices"):
        tg.run(tg.algorithms.BFS(0), store.snapshot(), memory=9000)


@pytest.mark.parametrize("vertices", [0, 1, 50])
def test_versions_without_arcs(tmp_path, little, vertices):
    store = tg.dynamic.Store(num_vertices=vertices)
    if vertices > 1:
        store.insert([1, 0], [0, 1])
        store.delete([1, 0], [0, 1])
    source = VersionBlocks(store._head.version, True, None, 1 << 20)
    assert source.num_arcs == 0 and torch.equal(source.offset(), torch.zeros(vertices + 1, dtype=torch.int64))
