"""The two binary formats, .npz and .tg."""

import json
import struct
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given, settings
from io_samples import arcs, assert_fault, assert_same, graphs, round_trip
from safetensors.torch import load_file, save_file

import tgraph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.graph import Graph

SAMPLE = Graph.from_edges([0, 1, 1], [1, 0, 2], [0.5, 1.5, 2.5], num_vertices=4, vertices=["a", "b", "ü", ""])


@settings(deadline=None)
@given(graph=graphs())
@pytest.mark.parametrize("name", ["some.npz", "some.tg"])
def test_round_trip(tmp_path_factory, name, graph):
    assert_same(round_trip(graph, tmp_path_factory.mktemp("binary") / name), graph)


@pytest.mark.parametrize("name", ["some.npz", "some.tg"])
def test_labels_must_be_text(tmp_path, name):
    graph = Graph.from_edges([0], [1], vertices=[("a", 1), "b"])
    with pytest.raises(ArgumentError, match=r"not the label \('a', 1\)"):
        tgraph.write(graph, tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["some.npz", "some.tg"])
@pytest.mark.parametrize("keep", [0, 7, 100, 0.5, -1])
def test_truncated(tmp_path, name, keep):
    path = tmp_path / name
    tgraph.write(SAMPLE, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep) if isinstance(keep, float) else keep])
    assert_fault(path, None, "again")


@pytest.mark.parametrize("name", ["some.npz", "some.tg"])
def test_damaged(tmp_path, name):
    """Whatever byte is wrong, a graph of the right size or a FileFormatError comes out."""
    path = tmp_path / name
    tgraph.write(SAMPLE, path)
    content = path.read_bytes()
    random = np.random.default_rng(0)
    places = random.integers(0, min(len(content), 600), 300) if name == "some.tg" else range(0, len(content), 5)
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << random.integers(8)
        path.write_bytes(damaged)
        try:
            graph = tgraph.read(path)
        except FileFormatError:
            continue
        assert graph.num_arcs == 3


@pytest.mark.parametrize("name", ["some.npz", "some.tg"])
def test_missing(tmp_path, name):
    with pytest.raises(FileNotFoundError):
        tgraph.read(tmp_path / name)


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_scipy_archives(tmp_path, kind):
    matrix = kind(np.array([[0, 2.5], [1, 0]]))
    scipy.sparse.save_npz(tmp_path / "m.npz", matrix)
    assert arcs(tgraph.read(tmp_path / "m.npz")) == [(0, 1, 2.5), (1, 0, 1.0)]
    assert tgraph.read(tmp_path / "m.npz", weights=False).weights is None
    assert_fault(tmp_path / "m.npz", None, "lacks its reverse", directed=False)
    scipy.sparse.save_npz(tmp_path / "m.npz", matrix.astype(bool))
    assert not tgraph.read(tmp_path / "m.npz", directed=False).directed
    scipy.sparse.save_npz(tmp_path / "m.npz", matrix.tocoo())
    assert_fault(tmp_path / "m.npz", None, "format b'coo'", "tocsr")
    scipy.sparse.save_npz(tmp_path / "m.npz", kind(np.ones((2, 3))))
    assert_fault(tmp_path / "m.npz", None, "rectangular matrix 2 x 3")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": np.ones(2)}, ["the array 'indptr' is missing", "offset, neighbors"]),
        ({"offset": np.array([0, 1])}, ["the array 'neighbors' is missing"]),
        ({"offset": np.array([0, 1]), "neighbors": np.array([5])}, ["5 at position 0"]),
        ({"offset": np.array([0, 2]), "neighbors": np.array([0])}, ["offset: must end"]),
        ({"indptr": np.array([1, 0, 1]), "indices": np.array([0])}, ["begin with 0"]),
        ({"offset": np.array([0, 1], object), "neighbors": np.array([0])}, ["plain arrays"]),
        ({"indptr": np.array([0, 1]), "indices": np.array([0]), "data": np.array(["a"])}, ["weights"]),
        (
            {"offset": np.array([0]), "neighbors": np.array([], int), "vertex_text": np.zeros(1, np.uint8)},
            ["'vertex_text_offset' is missing"],
        ),
    ],
)
def test_npz_faults(tmp_path, arrays, words):
    np.savez(tmp_path / "some.npz", **arrays)
    assert_fault(tmp_path / "some.npz", None, *words)


def test_npz_never_unpickles(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (tmp_path.joinpath("boom").write_text, ("x",))

    np.savez(tmp_path / "some.npz", indptr=np.array([Bomb()], object), indices=np.array([0]))
    assert_fault(tmp_path / "some.npz", None, "plain arrays")
    assert not (tmp_path / "boom").exists()


def test_tg_is_a_safetensors_file_at_a_page(tmp_path):
    path = tmp_path / "some.tg"
    tgraph.write(SAMPLE, path)
    (size,) = struct.unpack("<Q", path.read_bytes()[:8])
    assert (8 + size) % 4096 == 0
    metadata = json.loads(path.read_bytes()[8 : 8 + size])["__metadata__"]
    assert metadata == {"format": "tgraph", "version": "1", "directed": "true", "num_vertices": "4"}
    tensors = load_file(path)
    assert torch.equal(tensors["offset"], SAMPLE.offset) and torch.equal(tensors["weights"], SAMPLE.weights)


@pytest.mark.parametrize("name", ["some.npz", "some.tg"])
def test_options(tmp_path, name):
    path = tmp_path / name
    tgraph.write(Graph.from_edges([0, 1], [1, 2], [5, 6], directed=False), path)
    assert tgraph.read(path, weights=False, progress=True).weights is None
    assert tgraph.read(path, directed=True).num_edges == 4
    tgraph.write(SAMPLE, path)
    with pytest.raises(ArgumentError if name == "some.tg" else FileFormatError, match="lacks its reverse"):
        tgraph.read(path, directed=False)


def test_tg_dtypes(tmp_path):
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.int8, torch.uint8):
        graph = Graph.from_edges([0, 1], [1, 2], torch.tensor([1, 2], dtype=dtype))
        assert_same(round_trip(graph, tmp_path / "some.tg"), graph)


def test_tg_rewrites_the_file_it_was_read_from(tmp_path):
    path = tmp_path / "some.tg"
    tgraph.write(SAMPLE, path)
    graph = tgraph.read(path)
    tgraph.write(graph, path)
    assert_same(tgraph.read(path), SAMPLE)
    assert_same(graph, SAMPLE)
    graph.weights[0] = 99
    assert_same(tgraph.read(path), SAMPLE)


@pytest.mark.parametrize(
    ("metadata", "tensors", "words"),
    [
        ({}, {"x": torch.ones(1)}, ["holds no graph"]),
        ({"version": "9"}, {"x": torch.ones(1)}, ["version 9 is newer", "upgrade"]),
        ({}, {"offset": torch.tensor([0])}, ["no graph"]),
        ({"num_vertices": "2"}, {"offset": torch.tensor([0, 1]), "neighbors": torch.zeros(1)}, ["expected int32"]),
        (
            {"num_vertices": "2"},
            {"offset": torch.tensor([0, 1]), "neighbors": torch.tensor([0])},
            ["2 vertices declared"],
        ),
        ({"num_vertices": "1"}, {"offset": torch.tensor([0, 2]), "neighbors": torch.tensor([0])}, ["must end"]),
    ],
)
def test_tg_faults(tmp_path, metadata, tensors, words):
    notes = {"format": "tgraph", "version": "1", "directed": "true"} | metadata
    save_file(tensors, tmp_path / "some.tg", notes if metadata or "x" not in tensors else None)
    assert_fault(tmp_path / "some.tg", None, *words)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads its memory from /proc")
def test_tg_is_mapped_not_read(tmp_path):
    n, degree = 1_000_000, 80
    offset = torch.arange(n + 1) * degree
    neighbors = torch.arange(degree, dtype=torch.int32).repeat(n)
    path = tmp_path / "large.tg"
    tgraph.write(Graph(offset, neighbors), path)
    assert path.stat().st_size > 300e6
    code = f"""
import re, resource, torch, tgraph, safetensors
resident = lambda: int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024
taken = lambda: int(re.search(r"rchar: (\\d+)", open("/proc/self/io").read())[1]) >> 20
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
before = resident(), taken(), faults()
graph = tgraph.read({str(path)!r})
grown, read, touched = (now - then for now, then in zip((resident(), taken(), faults()), before))
assert grown < 30 and read < 30 and touched < 10000, (grown, read, touched)  # MB, MB, pages of a file of 80,000
assert int(graph.neighbors[-1]) == {degree - 1}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
