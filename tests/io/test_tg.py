"""The two binary formats, .npz and .tg."""

import json
import pickle
import re
import struct
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given
from io_samples import arcs, assert_fault, assert_same, graphs, round_trip
from safetensors.torch import load_file, save_file

import tgraph
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import checksummed

SAMPLE = Graph.from_edges([0, 1, 1], [1, 0, 2], [0.5, 1.5, 2.5], num_vertices=4, vertices=["a", "b", "ü", ""])


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


def test_damaged_npz(tmp_path):
    """With any byte changed, reading gives a graph of the right size or a FileFormatError."""
    path = tmp_path / "some.npz"
    tgraph.write(SAMPLE, path)
    for damaged in flipped(path, range(0, path.stat().st_size, 5)):
        try:
            graph = tgraph.read(damaged)
        except FileFormatError:
            continue
        assert graph.num_arcs == 3


def flipped(path, places):
    """Copies of a file in each of which one bit differs, at each of the places in turn."""
    content, random, other = path.read_bytes(), np.random.default_rng(0), path.with_name(f"other{path.suffix}")
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << random.integers(8)
        other.write_bytes(damaged)
        yield other


def use(path):
    """Open a file and use all of its tensors."""
    graph = tgraph.read(path).to_csr()
    return [graph.offset, graph.neighbors, graph.weights, graph.vertices, graph.order]


def tensor_places(path):
    """{tensor: the bytes of the file that it takes}"""
    content = path.read_bytes()
    begin = 8 + struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:begin])
    del header["__metadata__"]
    return {name: range(*(begin + end for end in entry["data_offsets"])) for name, entry in header.items()}


KEPT = {
    "labels": SAMPLE,
    "integers": Graph.from_edges([7, 9, 9], [9, 7, 30], [1, 2, 3], ids="compact").permute([2, 0, 1]),
    "sell": SAMPLE.to_format("sell"),
    "virtual": Graph.from_edges([0, 1, 2, 2] * 5, list(range(20))).to_format("virtual"),
}


@pytest.mark.parametrize("kind", KEPT)
def test_a_flipped_bit_is_named_wherever_it_is(tmp_path, monkeypatch, kind):
    """In the header, by that word; in a tensor, by its name and its elements; and `verify` finds all of them."""
    monkeypatch.setattr(checksummed, "PIECE", 16)
    path = tmp_path / "some.tg"
    tgraph.write(KEPT[kind], path)
    assert tgraph.verify(path) == path.stat().st_size
    use(path)
    places = tensor_places(path)
    for name, data in ((name, data[::3]) for name, data in places.items()):
        for place, damaged in zip(data, flipped(path, data), strict=True):
            for read in (use, tgraph.verify):
                with pytest.raises(FileFormatError, match=rf"other\.tg: .*tensor '{name}' differs") as caught:
                    read(damaged)
                first, last = map(int, re.search(r"bytes (\d+) to (\d+) of the file", str(caught.value)).groups())
                assert first <= place <= last < first + 16
    for damaged in flipped(path, range(0, 4096, 17)):
        for read in (tgraph.read, tgraph.verify):
            with pytest.raises(FileFormatError, match=r"other\.tg: "):
                read(damaged)


@pytest.mark.parametrize("layout", [None, "virtual"])
def test_a_flipped_bit_in_a_partitioned_file_is_named(tmp_path, layout):
    path = tmp_path / "some.tg"
    graph = Graph.from_edges([0, 1, 1, 3], [1, 0, 2, 3], vertices=["a", "b", "ü", ""])
    tgraph.stream.write_partitioned(graph, path, 2, layout=layout)
    assert tgraph.verify(path) == path.stat().st_size
    places = {place for data in tensor_places(path).values() for place in [*data[::97], *data[:40], *data[-40:]]}
    for damaged in flipped(path, [*range(0, 4096, 37), *sorted(places)]):
        with pytest.raises(FileFormatError, match=r"other\.tg: .*(header|block|tensor|safetensors|describe a graph)"):
            tgraph.verify(damaged)


def test_verified_when_first_used(tmp_path):
    path = tmp_path / "some.tg"
    tgraph.write(Graph.from_edges([7, 9], [9, 7], [1, 2], ids="compact"), path)
    (damaged,) = flipped(path, [tensor_places(path)["weights"][0]])
    graph = tgraph.read(damaged)
    assert repr(graph.offset) and graph.num_arcs == 2 and graph.weight_dtype == torch.int64 and graph.nbytes == 64
    assert graph.out_degree.tolist() == [1, 1] and graph.vertices.tolist() == [7, 9]
    with pytest.raises(FileFormatError, match="the tensor 'weights' differs between its elements 0 and 1 "):
        tgraph.algorithms.sssp(graph, 0)
    assert tgraph.read(damaged, weights=False).weights is None
    trusted = tgraph.read(damaged, verify=False)
    assert trusted.weights.tolist() != [1, 2]
    assert_same(pickle.loads(pickle.dumps(tgraph.read(path))), tgraph.read(path))


def test_files_of_earlier_versions(tmp_path):
    """They have no checksums: read as ever, and refused by `verify`."""
    path = tmp_path / "some.tg"
    notes = {"format": "tgraph", "version": "1", "directed": "true", "num_vertices": "2"}
    save_file({"offset": torch.tensor([0, 1, 2]), "neighbors": torch.tensor([1, 0], dtype=torch.int32)}, path, notes)
    assert arcs(tgraph.read(path)) == [(0, 1, None), (1, 0, None)]
    with pytest.raises(ArgumentError, match=r"some\.tg is of an earlier version, without checksums.*write it again"):
        tgraph.verify(path)
    save_file({"offset": torch.tensor([0, 1, 2])}, path, notes | {"version": "one"})
    assert_fault(path, None, "describe a graph")
    with pytest.raises(ArgumentError, match=r"only \.tg files have checksums"):
        tgraph.verify(tmp_path / "some.txt")


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
    for format in ("csc", "coo", "bsr", "dia"):
        scipy.sparse.save_npz(tmp_path / "m.npz", matrix.asformat(format))
        assert np.array_equal(tgraph.read(tmp_path / "m.npz").to_scipy().toarray(), matrix.toarray())
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
    expected = {"format": "tgraph", "version": "1", "directed": "true", "num_vertices": "4"}
    assert expected.items() <= metadata.items()
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
        ({}, {"x": torch.ones(1)}, ["without a graph"]),
        ({"version": "9"}, {"x": torch.ones(1)}, ["version 9 is newer", "upgrade"]),
        ({}, {"offset": torch.tensor([0])}, ["describe a graph"]),
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
    """Opening and describing a file allocates little memory, and does not verify the tensors."""
    n, degree = 400_000, 80
    offset = torch.arange(n + 1) * degree
    neighbors = torch.arange(degree, dtype=torch.int32).repeat(n)
    path = tmp_path / "large.tg"
    tgraph.write(Graph(offset, neighbors), path)
    assert path.stat().st_size > 120e6
    code = f"""
import re, resource, torch, tgraph, safetensors
resident = lambda: int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024
taken = lambda: int(re.search(r"rchar: (\\d+)", open("/proc/self/io").read())[1]) >> 20
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
before = resident(), taken(), faults()
graph = tgraph.read({str(path)!r})
grown, read, touched = (now - then for now, then in zip((resident(), taken(), faults()), before))
assert grown < 30 and read < 30 and touched < 10000, (grown, read, touched)  # MB, MB, pages of a file of 32,000
assert graph.num_arcs == {n * degree} and graph.num_vertices == {n} and graph.weight_dtype is None
assert "neighbors" not in vars(graph)  # not verified yet
assert int(graph.neighbors[-1]) == {degree - 1}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_npz_of_an_edge_index(tmp_path):
    both = np.array([[0, 1], [1, 0]])
    np.savez(tmp_path / "e.npz", edge_index=both, edge_weight=np.array([2, 2]), num_nodes=4)
    graph = tgraph.read(tmp_path / "e.npz", directed=False)
    assert (graph.num_vertices, graph.num_edges) == (4, 1) and graph.weights.tolist() == [2, 2]
    np.savez(tmp_path / "e.npz", edge_index=both.T[:, :1])
    assert tgraph.read(tmp_path / "e.npz").num_edges == 1
