import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse
import torch
from hypothesis import given, settings
from io_samples import DATA, arcs, assert_fault, assert_same, graphs, needs_data, round_trip

import tgraph

LAGRAPH = DATA / "conformance" / "lagraph"
HEADER = "%%MatrixMarket matrix coordinate "
NAME = "graph.mtx"  # of files


@given(graph=graphs())
def test_round_trip(tmp_path_factory, graph):
    path = tmp_path_factory.mktemp("mtx") / "graph.mtx.gz"
    assert_same(round_trip(graph, path), graph, ids=False)


@given(graph=graphs(vertices=("none",)))
@settings(max_examples=min(30, settings().max_examples))
def test_scipy_reads_what_is_written(tmp_path_factory, graph):
    path = tmp_path_factory.mktemp("mtx") / "graph.mtx"
    round_trip(graph, path)
    if graph.num_vertices == 0:
        return
    expected = torch.zeros(graph.num_vertices, graph.num_vertices, dtype=torch.float64)
    src = torch.repeat_interleave(torch.arange(graph.num_vertices), graph.out_degree)
    weights = torch.ones(graph.num_arcs) if graph.weights is None else graph.weights
    expected.index_put_((src, graph.neighbors.long()), weights.double(), accumulate=True)
    found = scipy.io.mmread(path)
    assert np.allclose(found.toarray() if scipy.sparse.issparse(found) else found, expected)


def test_symmetric_is_undirected(file):
    text = HEADER + "integer symmetric\n% comment\n\n4 4 3\n2 1 5\n\n3 3 6\n% between\n3 1 7\n"
    graph = tgraph.read(file(text))
    assert not graph.directed and graph.num_edges == 3 and graph.num_vertices == 4
    assert arcs(graph) == [(1, 2, 5), (1, 3, 7), (2, 1, 5), (3, 1, 7), (3, 3, 6)]
    assert tgraph.read(file(text), directed=True).num_edges == 5
    assert tgraph.read(file(text), weights=False).weights is None


def test_general_as_undirected(file):
    graph = tgraph.read(file(HEADER + "pattern general\n3 3 4\n1 2\n2 1\n2 3\n3 2\n"), directed=False)
    assert graph.num_edges == 2


def test_skew_symmetric(file):
    graph = tgraph.read(file(HEADER + "real skew-symmetric\n2 2 1\n2 1 -.5\n"))
    assert graph.directed and arcs(graph) == [(1, 2, 0.5), (2, 1, -0.5)]


@pytest.mark.parametrize(
    ("symmetry", "values", "expected"),
    [
        ("general", "1 0 2 3", [(1, 1, 1.0), (1, 2, 2.0), (2, 2, 3.0)]),
        ("symmetric", "1 2 0", [(1, 1, 1.0), (1, 2, 2.0), (2, 1, 2.0)]),
        ("skew-symmetric", "4", [(1, 2, -4.0), (2, 1, 4.0)]),
    ],
)
def test_array(file, symmetry, values, expected):
    body = values.replace(" ", "\n")
    assert arcs(tgraph.read(file(f"%%MatrixMarket matrix array real {symmetry}\n2 2\n{body}\n"))) == expected


def test_dtypes_and_extremes(file):
    graph = tgraph.read(file(HEADER + f"integer general\n2 2 2\n1 2 {2**63 - 1}\n2 1 {-(2**63)}\n"))
    assert graph.weights.tolist() == [2**63 - 1, -(2**63)]
    graph = tgraph.read(file(HEADER + "real general\n2 2 2\n1 2 inf\n2 1 nan\n"))
    assert graph.weights[0] == torch.inf and graph.weights[1].isnan()


def test_no_entries(file):
    assert tgraph.read(file(HEADER + "pattern general\n3 3 0\n")).num_vertices == 3


GENERAL = HEADER + "integer general\n"
FAULTS = [
    ("", 1, ["%%MatrixMarket header is missing"]),
    ("3 3 1\n1 1 1\n", 1, ["header is missing", "begin the file with"]),
    ("%%MatrixMarket matrix coordinate complex general\n2 2 0\n", 1, ["complex"]),
    ("%%MatrixMarket matrix coordinate pattern hermitian\n2 2 0\n", 1, ["hermitian"]),
    ("%%MatrixMarket vector coordinate real general\n2 2 0\n", 1, ["malformed"]),
    ("%%MatrixMarket matrix array pattern general\n2 2\n", 1, ["unknown combination array pattern"]),
    (GENERAL, None, ["sizes of the matrix is missing", "truncated"]),
    (GENERAL + "%\n1 3 1\n1 1 1\n", 3, ["vector of 1 x 3", "square"]),
    (GENERAL + "2 2\n1 1 1\n", 2, ["'rows columns entries'", "'2 2'"]),
    (GENERAL + "2 2 3\n1 1 1\n2 2 2\n", 2, ["declares 3 entries, the file has 2", "truncated"]),
    (GENERAL + "2 2 1\n1 1 1\n2 2 2\n", 2, ["declares 1 entries, the file has 2"]),
    (GENERAL + "2 2 2\n1 1 1\n0 2 2\n", 4, ["the id 0 is below 1"]),
    (GENERAL + "2 2 2\n1 1 1\n1 3 2\n", 4, ["the id 3 is above the declared number of vertices 2"]),
    (GENERAL + "2 2 2\n1 1 1\n1 -3 2\n", 4, ["the id -3 is negative"]),
    (GENERAL + "2 2 2\n1 1 1\n1 2 0.5\n", 4, ["'0.5' is not an integer", "weights=False"]),
    (GENERAL + f"2 2 1\n1 1 {2**64 - 1}\n", 3, ["does not fit", "weights=False"]),
    (GENERAL + "2 2 2\n1 1 1\n1 2\n", 4, ["short line"]),
    (HEADER + "pattern general\n2 2 1\n1 1 1\n", 3, ["too many columns"]),
    (HEADER + "real general\n2 2 1\n1 one 1\n", 3, ["'one' is not an integer"]),
    (HEADER + "pattern symmetric\n3 3 2\n2 1\n1 3\n", 1, ["both sides of the diagonal"]),
    (HEADER + "real skew-symmetric\n3 3 1\n2 2 1\n", 1, ["no diagonal"]),
]


@pytest.mark.parametrize(("text", "line", "words"), FAULTS)
def test_faults(file, text, line, words):
    assert_fault(file(text), line, *words)


def test_weights_false_is_a_remedy(file):
    assert tgraph.read(file(GENERAL + f"2 2 1\n1 1 {2**64 - 1}\n"), weights=False).num_edges == 1


REFUSED = {  # file: line at fault
    "complex.mtx": 1, "full_noheader.mtx": 1, "west0067_noheader.mtx": 1, "mangled1.mtx": 1,
    "mangled3.mtx": 1, "mangled5.mtx": 1, "mangled7.mtx": 5, "mangled9.mtx": 4, "mangled11.mtx": 5, "mangled13.mtx": 7,
    "mangled15.mtx": 5, "mangled_format.mtx": 1, "matrix_uint64.mtx": 8, "sources_7.mtx": 3,
}  # fmt: skip


@needs_data
@pytest.mark.parametrize("path", sorted(LAGRAPH.glob("*.mtx")), ids=lambda path: path.name)
def test_lagraph(path):
    if path.name in REFUSED:
        assert_fault(path, REFUSED[path.name])
        return
    graph = tgraph.read(path).validate()
    if path.name == "matrix_fp64.mtx":  # the header declares integer, the GraphBLAS line double, which counts
        assert graph.num_edges == 12 and graph.weights.isinf().any()
        return
    expected = scipy.sparse.coo_array(scipy.io.mmread(path))
    if path.name == "empty.mtx":  # 3 x 4, of two modes
        assert graph.num_vertices == 7 and graph.num_edges == 0
        return
    assert graph.num_vertices == expected.shape[0] and graph.num_arcs == expected.nnz
    if graph.weights is not None and graph.num_arcs < 1000:
        found = graph.to_scipy().toarray().astype(np.float64)
        assert np.allclose(found, expected.toarray().astype(np.float64), equal_nan=True)


@needs_data
def test_lagraph_triangles():
    expected = json.loads((LAGRAPH / "expected.json").read_text())["triangle_count"]
    for name, triangles in expected.items():
        matrix = tgraph.read(LAGRAPH / name, self_loops="drop", weights=False).to_scipy().astype(np.int64)
        assert (matrix @ matrix).multiply(matrix).sum() == 6 * triangles


def test_absurd_size(tmp_path):
    path = tmp_path / "some.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n99999999999 99999999999 0\n")
    assert_fault(path, 2, "declares 99999999999 vertices for 0 edges", "correct the header")
