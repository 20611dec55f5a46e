"""Plain .tg files that are read block by block where they lie."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
import torch
from interpreters import run
from safetensors.torch import save_file
from strategies import random_graph, refused
from test_streamed import DECODED, IN_BLOCKS, same

import tgraph as tg
from tgraph.errors import FileFormatError, MemoryBudgetError
from tgraph.files import checksummed
from tgraph.stream.run.plain import PlainFile


@pytest.fixture
def small_pieces(monkeypatch):
    """So that small graphs have many blocks."""
    monkeypatch.setattr(checksummed, "PIECE", 64)


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", [None, torch.int32, torch.float64, torch.int8])
@pytest.mark.parametrize("directed", [True, False])
def test_answers_are_those_in_memory(tmp_path, small_pieces, directed, dtype):
    path, graph = tmp_path / "some.tg", random_graph(40, 300, directed=directed, dtype=dtype)
    tg.write(graph, path)
    for name, algorithm in IN_BLOCKS.items():
        held = tg.open(path, "40kB")
        assert held.layout.source.num_blocks > 4 and not held.layout.source.makes_blocks("rows")
        same(algorithm(held), algorithm(graph))
        assert "arcs" not in held.caches, f"{name} decoded the graph"
    for algorithm in DECODED.values():
        same(algorithm(tg.open(path, "1MB")), algorithm(graph))
    assert [entry.name for entry in tmp_path.iterdir()] == ["some.tg"]


def test_in_arcs_are_sorted_when_they_are_needed_and_vanish(tmp_path, small_pieces):
    path, graph = tmp_path / "some.tg", random_graph(50, 400, directed=True, dtype=torch.float32)
    tg.write(graph, path)
    held = tg.open(path, "60kB")
    assert torch.equal(tg.algorithms.bfs(held, 0, mode="push"), tg.algorithms.bfs(graph, 0))
    assert held.layout.source.makes_blocks("transpose")
    reverse = held.transpose()
    assert not held.layout.source.makes_blocks("transpose") and [entry.name for entry in tmp_path.iterdir()] == [
        "some.tg"
    ]
    for found, wanted in zip(reverse.layout.to_csr(), graph.transpose().to_format("coo").layout.to_csr(), strict=True):
        assert torch.equal(found, wanted)


def test_ids_order_and_identity(tmp_path, small_pieces):
    path = tmp_path / "some.tg"
    graph = tg.Graph.from_edges([7, 9, 9], [9, 7, 30], [1, 2, 3], ids="compact").permute([2, 0, 1])
    tg.write(graph, path)
    held = tg.open(path, "100kB")
    assert held.vertices.tolist() == graph.vertices.tolist() and held.order.tolist() == [2, 0, 1]
    same_again, other = PlainFile(path, 10**5).identity(), tmp_path / "other.tg"
    assert all(map(torch.equal, held.layout.identity(), same_again))
    tg.write(tg.Graph(graph.offset, graph.neighbors, graph.weights + 1), other)
    assert not all(map(torch.equal, held.layout.identity(), PlainFile(other, 10**5).identity()))
    labelled = tg.Graph.from_edges([0], [1], vertices=["a", "ü"])
    tg.write(labelled, path)
    assert tg.open(path, "100kB").vertices.tolist() == ["a", "ü"]
    tg.write(tg.Graph.from_edges([], [], num_vertices=3), path)
    assert tg.algorithms.wcc(tg.open(path, "100kB")).tolist() == [0, 1, 2]


def test_damage_is_named(tmp_path, small_pieces):
    path, graph = tmp_path / "some.tg", random_graph(40, 300, directed=False, dtype=torch.float32)
    tg.write(graph, path)
    held = checksummed.contents(path, "")
    whole = path.read_bytes()
    for name in ("neighbors", "weights", "offset"):
        damaged = bytearray(whole)
        damaged[held.position(name) + 100] ^= 4
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=f"some.tg: the checksum of the tensor '{name}' differs between"):
            tg.algorithms.sssp(tg.open(path, "8kB"), 0)
    path.write_bytes(whole)
    streamed = tg.open(path, "8kB")
    os.truncate(path, len(whole) - 500)
    refused("truncated: the file ends within its", tg.algorithms.wcc, streamed, error=FileFormatError)
    refused("bytes where its header announces", tg.open, path, "8kB", error=FileFormatError)


def test_files_of_earlier_versions_and_others(tmp_path):
    path = tmp_path / "some.tg"
    notes = {"format": "tgraph", "version": "1", "directed": "true", "num_vertices": "2"}
    tensors = {"offset": torch.tensor([0, 1, 2]), "neighbors": torch.tensor([1, 0], dtype=torch.int32)}
    save_file(tensors, path, notes)
    assert tg.algorithms.pagerank(tg.open(path, "100kB")).tolist() == [0.5, 0.5]
    for changes, words in [
        ({"neighbors": torch.tensor([1, 0])}, "in torch.int64"),
        ({"neighbors": torch.tensor([1, 0, 1], dtype=torch.int32)}, "for 3 arcs"),
        ({"offset": torch.tensor([0, 3, 2])}, "offset"),
        ({"offset": torch.tensor([0.0, 2.0])}, "offset of torch.float32"),
        ({"weights": torch.tensor([1.0])}, "the tensors are no graph"),
    ]:
        save_file(tensors | changes, path, notes)
        with pytest.raises(FileFormatError, match=words):
            tg.open(path, "100kB")
    save_file(tensors | {"neighbors": torch.tensor([1, 7], dtype=torch.int32)}, path, notes)
    with pytest.raises(FileFormatError, match=r"some.tg: block 0 \(section 'rows'\) has entries that no graph has"):
        tg.algorithms.wcc(tg.open(path, "100kB"))
    tg.write(random_graph(9, 20).to_format("sell"), path)
    with pytest.raises(FileFormatError, match=r"arcs are in the layout 'sell'.*to_csr"):
        tg.open(path, "100kB")
    tg.write(random_graph(900, 2000), path)
    with pytest.raises(MemoryBudgetError, match="the data of the vertices needs at least"):
        tg.open(path, "1kB")


READ_ONLY = """
import os, sys, tempfile
import tgraph as tg
path = sys.argv[1]
tg.algorithms.pagerank(tg.open(path, memory="2MB"))
os.chmod(os.path.dirname(path), 0o555)
if not os.getuid():  # who may write everywhere
    os.setuid(65534)
graph = tg.open(path, memory="2MB")
assert tg.algorithms.pagerank(graph).sum() > 0.99
graph = tg.open(path, memory="2MB")
os.environ["TMPDIR"] = tempfile.tempdir = os.path.dirname(path)
try:
    tg.algorithms.pagerank(graph)
except OSError as fault:
    print(fault)
"""


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="the system has no users")
def test_in_arcs_of_a_file_in_a_read_only_folder_are_sorted_elsewhere(tmp_path):
    folder = Path(tempfile.mkdtemp())  # which any user may enter
    try:
        tg.write(random_graph(50, 400, directed=True), folder / "web.tg")
        os.chmod(folder / "web.tg", 0o444)
        outcome = run(READ_ONLY, folder / "web.tg")
        assert outcome.returncode == 0, outcome.stderr
        assert str(folder) in outcome.stdout and "Permission denied" in outcome.stdout
        assert os.listdir(folder) == ["web.tg"]
    finally:
        os.chmod(folder, 0o755)
        shutil.rmtree(folder)
