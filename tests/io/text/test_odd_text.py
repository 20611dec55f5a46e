"""Text that could be read as something else: it is read as it was meant, or refused with file, line and remedy."""

import random
import re
import warnings

import networkx
import numpy as np
import pandas
import pytest
import scipy.io
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from io_samples import arcs

import tgraph as tg
from bench import fuzz_text
from tgraph.errors import ArgumentError, FileFormatError, UnknownVertexError
from tgraph.io.chunks import open_edges
from tgraph.io.text.line_layout import split

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
MTX = "%%MatrixMarket matrix coordinate integer general\n33 33 1\n"


@pytest.fixture
def read(tmp_path):
    def create(name, content, **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tg.read(path, **options)

    return create


MEANT = {
    "hashtags": ("x.csv", "source,target\n#metoo,news\n#timesup,news\n", [("#metoo", "news"), ("#timesup", "news")]),
    "one hashtag": ("x.csv", "source,target\n%x,news\n", [("%x", "news")]),
    "a comment of two fields": ("x.csv", "source,target\n# a,b\n1,2\n", [(1, 2)]),
    "a year": ("x.csv", "source,target,2019\nann,bob,3\n", [("ann", "bob")]),
    "a quoted year": ("x.csv", '"from","to","1"\n5,6,3\n', [(5, 6)]),
    "blanks": ("x.csv", "source, target\nann, bob\nbob,\tann\n", [("ann", "bob"), ("bob", "ann")]),
    "quoted blanks": ("x.csv", 'source,target\nann ," bob"\n', [("ann", " bob")]),
    "an empty label": ("x.csv", 'source,target\n"",b\n', [("", "b")]),
    "lines in quotes": ("x.csv", 'source,target\na,"b\nc"\nd,e\n', [("a", "b\nc"), ("d", "e")]),
    "lines in a note": ("x.csv", 'source,target,note\n1,2,"a\n#b"\n# c\n3,4,""\n', [(1, 2), (3, 4)]),
    "hashes left out": ("x.csv", "source,target,hash\n1,2,0xab\n", [(1, 2)]),
    "addresses": ("x.el", "0xab 0xcd\n0x1 0x2\n", [("0xab", "0xcd"), ("0x1", "0x2")]),
    "a decimal comma beside semicolons": ("x.csv", "source;target;a, b, c\n1;2;x\n", [(1, 2)]),
    "negative ids": ("x.el", "-5 0\n0 5\n", [(-5, 0), (0, 5)]),
    "quotes in a list": ("x.el", '"New York"  bob\nbob "a ""b"""\n', [("New York", "bob"), ("bob", 'a "b"')]),
    "quotes late in a list": ("x.el", 'ann bob\n"c d" e\n', [("ann", "bob"), ("c d", "e")]),
    "CR in a list": ("x.el", "# note\r0 1\r1 2\r", [(0, 1), (1, 2)]),
    "CR in a table": ("x.csv", "source,target\ra,b\r\nb,c\nc,d", [("a", "b"), ("b", "c"), ("c", "d")]),
    "CR in a matrix": ("x.mtx", "%%MatrixMarket matrix coordinate pattern general\r3 3 1\r1 2\r", [(1, 2)]),
    "CR in METIS": ("x.graph", "2 1\r2\r1\r", [(1, 2), (2, 1)]),
    "CR in DIMACS": ("x.gr", "c\rp sp 3 1\ra 1 2 4\r", [(1, 2)]),
    "CR of other systems before a byte order mark": ("x.el", "\ufeff7 8\r", [(7, 8)]),
    "hermitian, and Fortran": ("x.mtx", "%MatrixMarket matrix coordinate real hermitian\n3 3 1\n2 1 1.5D+02\n",
                               [(1, 2), (2, 1)]),
    "flows": ("x.gr", "p max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 4\n", [(1, 2), (2, 3)]),
    "costs": ("x.gr", "p min 3 1\nn 1 4\na 1 2 0 4 7\n", [(1, 2)]),
    "colours": ("x.col", "p edges 3 1 4\ne 1 2\n", [(1, 2), (2, 1)]),
    "weighted edges": ("x.col", "p edge 3 1\ne 1 2 0.5\n", [(1, 2), (2, 1)]),
    "bars": ("x.csv", "source|target\n1|2\n", [(1, 2)]),
    "a table with blanks": ("x.csv", "src dst wt\n1 2 3\n", [(1, 2)]),
    "a list with blanks": ("x.csv", "1 0 1.0\n2 0 1.0\n", [(1, 0), (2, 0)]),
    "names of cuGraph": ("x.csv", "src,destination\na,b\n", [("a", "b")]),
    "names of Neo4j": ("x.csv", ":START_ID(P),x,:END_ID(P),:TYPE\na,1,b,KNOWS\n", [("a", "b")]),
    "names of MUSAE": ("x.csv", "id_1,id_2\n1,2\n", [(1, 2)]),
    "two columns": ("x.csv", "exporter,importer\n1,2\n", [(1, 2)]),
    "numbers": ("x.wel", "1 2 +1.5\n1 3 inf\n1 4 nan\n1 5 .5\n", [(1, 2), (1, 3), (1, 4), (1, 5)]),
}  # fmt: skip


@pytest.mark.parametrize("case", MEANT)
def test_what_was_meant(read, case):
    name, content, expected = MEANT[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.io.ColumnsLeftOut)
        assert [arc[:2] for arc in arcs(read(name, content))] == sorted(expected, key=repr)


REFUSED = {  # name, content, line, words
    "a header of unknown names": ("x.csv", "Exporter,Importer,2019\nDE,FR,3\n", 1, ["source= and target=", "edgelist"]),
    "an empty field": ("x.csv", "source,target\na,b\n,c\n", 3, ["missing", 'write ""']),
    "an empty field of a list": ("x.el", "a,b\nc,\n", 2, ["missing"]),
    "a quote left open": ("x.csv", 'source,target\na,b\nc,"d\n', 3, ["not closed"]),
    "a quote left open in a note": ("x.csv", 'source,target,n\n1,2,"a\n3,4,b\n', 2, ["columns"]),
    "two columns of a name": ("x.csv", "source,target,target\n1,2,3\n", None, ["two columns are called 'target'"]),
    "one column": ("x.csv", "source\n1\n", 1, ["one column", "delimiter="]),
    "two columns of unknown names, or none": ("x.csv", "ann,bob\njoe,eve\n", 1, ["header", "source=", "edgelist"]),
    "Latin-1": ("x.csv", "source,target\na,b\nth\xe9,c\n".encode("latin-1"), 3, ["is not UTF-8", "iconv"]),
    "Latin-1 in a list": ("x.el", b"a b\nth\xe9 c\n", 2, ["UTF-8"]),
    "UTF-16 without a mark": ("x.el", "1 2\n".encode("utf-16-le"), None, ["byte 0"]),
    "a byte 0": ("x.el", b"a b\n" * 999 + b"a\0 b\n", 1000, ["byte 0"]),
    "a byte order mark within": ("x.el", "a b\n\ufeffc d\n", 2, ["byte order mark"]),
    "hexadecimal ids": ("x.el", "0 1\n0x10 2\n", 2, ["'0x10' is not an integer"]),
    "hexadecimal ids of a table": ("x.csv", "source,target,note\n1,0x2,0xab\n", 2, ["'0x2'"]),
    "hexadecimal weights": ("x.wel", "0 1 5\n0 2 0X10\n", 2, ["'0X10' is not a number"]),
    "hexadecimal in a matrix": ("x.mtx", MTX + "1 0x10 4\n", 3, ["'0x10'"]),
    "hexadecimal values": ("x.mtx", MTX + "1 1 0x4\n", 3, ["'0x4'"]),
    "hexadecimal in METIS": ("x.graph", "3 2\n2\n1 0x3\n2\n", 3, ["'0x3'"]),
    "hexadecimal in DIMACS": ("x.gr", "p sp 33 1\na 1 0x10 4\n", 2, ["'0x10'"]),
    "fractions as ids": (
        "x.csv",
        "source,target\n1.0,2.0\n",
        2,
        ["'1.0' is a number, but not an integer", 'ids="text"'],
    ),
    "exponents as ids": ("x.el", "1e3 2\n", 1, ["'1e3'"]),
    "underscores": ("x.el", "1_000 2\n", 1, ["'1_000'"]),
    "underscores later": ("x.el", "1 2\n1_0 2\n", 2, ["'1_0' is not an integer"]),
    "a sign": ("x.el", "+1 2\n", 1, ["'+1'"]),
    "a word as weight": ("x.wel", "1 2 true\n", 1, ["'true' is not a number"]),
    "a decimal comma, or thousands": ("x.csv", 'source,target,weight\n1,2,"1,500"\n', 2, ["'1,500' is not a number"]),
    "a weight beyond float64": ("x.wel", "1 2 inf\n1 3 1e309\n", 2, ["beyond float64"]),
    "an id beyond int64": ("x.el", f"1 2\n1 {2**63}\n", 2, ["64-bit"]),
    "an id of many digits": ("x.el", "1" * 5000 + " 2\n", 1, ["64-bit"]),
    "a matrix of many digits": ("x.mtx", MTX.replace("33", "1" * 5000), 2, ["sizes"]),
    "METIS of many digits": ("x.graph", "1" * 5000 + " 1\n", 1, ["header"]),
    "DIMACS of many digits": ("x.gr", "p sp " + "1" * 5000 + " 1\n", 1, ["problem line"]),
    "a long line": ("x.mtx", "%%MatrixMarket matrix " + "x" * 10**6, 1, ["malformed"]),
} | {
    f"{what} as {name}": (name, content, None, [word])
    for what, content, word, names in (
        ("a pointer", POINTER, "Git LFS", "x.el x.csv x.mtx x.graph x.gr x.parquet x.npz"),
        ("a page", "<!DOCTYPE html>\n<html>", "HTML", "x.el x.csv x.mtx"),
        ("an answer", "404: Not Found", "server", "x.el x.csv"),
        ("a matrix", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n", "matrixmarket", "x.txt x.csv"),
        ("DIMACS", "c\np sp 3 2\na 1 2 5\na 2 3 4\n", "dimacs", "x.txt x.el"),
        ("an adjacency list", "0: 1 2\n1: 0 2\n", "adjacency list", "x.txt"),
        ("tuples", "(0, 1)\n(1, 2)\n", "tuples", "x.txt"),
        ("arrows", "1 -> 2\n2 -> 3\n", "arrow", "x.txt"),
        ("GML", "graph [\n  node [\n", "GML", "x.txt"),
        ("Pajek", "*Vertices 2\n1\n2\n", "Pajek", "x.txt"),
        ("Graphviz", "digraph G {\n a -> b;\n}\n", "Graphviz", "x.txt"),
        ("JSON", '{"nodes": []}', "JSON", "x.txt x.csv"),
        ("XML", '<?xml version="1.0"?>\n<graphml>', "XML", "x.txt"),
    )
    for name in names.split()
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(read, tmp_path, case):
    name, content, line, words = REFUSED[case]
    with pytest.raises(FileFormatError) as caught:
        read(name, content)
    message = str(caught.value)
    assert caught.value.line == line and all(word in message for word in words), message
    assert message.startswith(str(tmp_path / name)) and "\n" not in message and ";" in message
    assert len(message) - len(str(tmp_path / name)) < 190


def test_other_files_are_refused_in_chunks_too(tmp_path):
    (tmp_path / "x.parquet").write_text(POINTER)
    with pytest.raises(FileFormatError, match="Git LFS"):
        open_edges(tmp_path / "x.parquet")


def test_an_adjacency_list_of_networkx(tmp_path):
    networkx.write_adjlist(networkx.cycle_graph(5), tmp_path / "x.txt")
    with pytest.raises(FileFormatError, match="adjacency list of networkx"):
        tg.read(tmp_path / "x.txt")


def test_what_gephi_writes_of_directions(read):
    text = "Source,Target,Type,Id,Weight\n1,2,{0},0,1.5\n2,3,{0},1,2.5\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.io.ColumnsLeftOut)
        assert not read("x.csv", text.format("Undirected")).directed
        assert read("x.csv", text.format("Directed")).directed
        assert read("x.csv", text.format("Undirected"), directed=True).directed


def test_fields():
    assert [field.text for field in split(b' "a, ""b" ,c , ', ",")] == [b'a, "b', b"c", b""]
    assert [field.text for field in split(b'  1 \t "2 3"  5" ', " ")] == [b"1", b"2 3", b'5"']
    assert split(b'"",', ",") == [(b"", True), (b"", False)]


def test_blocks_of_odd_lines_are_streamed(tmp_path):
    """Files that are read line by line are so in chunks too."""
    path = tmp_path / "x.csv"
    path.write_text("source, target\n" + "".join(f"a{i}, b{i % 7}\n" for i in range(5000)))
    whole = tg.read(path)
    assert whole.num_vertices == 5007 and not any(" " in label for label in whole.vertices)
    chunks = open_edges(path).fold(lambda pieces: [src for src, _, _ in pieces])
    assert [label for chunk in chunks for label in chunk] == [f"a{i}" for i in range(5000)]
    path.write_text("".join(f"{i} {i + 1}\n" for i in range(5000)) + "0x10 1\n")
    with pytest.raises(FileFormatError, match="line 5001: the id '0x10'"):
        open_edges(path, format="edgelist").fold(list)


def test_a_line_without_end_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(tg.files.byte_stream, "LONGEST_LINE", 1 << 16)
    (tmp_path / "x.mtx").write_bytes(b"%" + b" " * (1 << 18))
    with pytest.raises(FileFormatError, match="a line has more than"):
        tg.read(tmp_path / "x.mtx")


# ---- graphs that are written ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.el", "x.csv"])
@pytest.mark.parametrize(
    "labels", [["1", "2"], ["007", "7"], ["1.5", "2"], ["a\0", "b"], ["\ufeffa", "b"], ["\ud800", "b"]]
)
def test_labels_that_would_be_read_otherwise_are_not_written(tmp_path, name, labels):
    with pytest.raises(ArgumentError, match=r"graph\.vertices: .*(write|text|decode)"):
        tg.write(tg.Graph.from_edges([0], [1], vertices=labels), tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["x.el", "x.csv", "x.parquet", "x.e", "x.npz", "x.tg"])
def test_negative_ids_come_back(tmp_path, name):
    graph = tg.Graph.from_edges([0, 1], [1, 2], vertices=torch.tensor([-5, 0, -(2**63)]))
    tg.write(graph, tmp_path / name)
    assert arcs(tg.read(tmp_path / name)) == arcs(graph)


def test_an_undirected_graph_of_dimacs_stays_one(tmp_path):
    graph = tg.Graph.from_edges([0, 1, 1], [1, 2, 1], [3, 4, 5], directed=False)
    tg.write(graph, tmp_path / "x.gr")
    found = tg.read(tmp_path / "x.gr")
    assert not found.directed and found.num_edges == 3 and torch.equal(found.weights, graph.weights)
    assert tg.read(tmp_path / "x.gr", directed=True).num_edges == 5


# ---- random ones, those of `make fuzz` ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["dress_fault", "trip_fault"])
def test_a_few_inputs(tmp_path, mode):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {number: getattr(fuzz_text, mode)(3, number, tmp_path) for number in range(150)}
    assert {number: fault for number, fault in found.items() if fault} == {}


def test_the_modes_find_faults(tmp_path, monkeypatch):
    monkeypatch.setattr(tg, "read", lambda path, **options: tg.Graph.from_edges([0], [1], [3]))
    found = [fuzz_text.dress_fault(0, number, tmp_path) for number in range(5)]
    assert sum(fault is not None for fault in found) >= 4
    assert any(fuzz_text.trip_fault(0, number, tmp_path) for number in range(5))


@given(seed=st.integers(0, 2**32))
@settings(max_examples=2 * settings().max_examples)
def test_tables_of_pandas(tmp_path_factory, seed):
    """Files of pandas, with any of its options."""
    chance = random.Random(seed)
    end = chance.choice(("\n", "\r\n", "\r"))
    labels = ["ann", "Doe, Jane", "#x", 'say "hi"', "a b", "ü", "New York", "a;b", "nan", "007"]
    labels += ["x\ny"] if "\n" in end else []  # pandas quotes the line ends that it writes
    kinds = {"int": lambda: chance.randrange(-3, 9), "text": lambda: chance.choice(labels)}
    make, m = kinds[chance.choice(("int", "text"))], chance.randrange(1, 6)
    frame = pandas.DataFrame({"source": [make() for _ in range(m)], "target": [make() for _ in range(m)]})
    if chance.random() < 0.5:
        frame["weight"] = [chance.choice((1.5, -2.0, 1e-9, float("inf"))) for _ in range(m)]
    if chance.random() < 0.3:
        frame["2019"] = "n, o"
    path = tmp_path_factory.mktemp("pandas") / "x.csv"
    frame.to_csv(
        path,
        index=False,
        sep=chance.choice(",;\t"),
        quoting=chance.choice((0, 1, 2)),
        lineterminator=end,
        encoding=chance.choice(("utf-8", "utf-8-sig")),
    )
    is_text = frame["source"].dtype.kind != "i"
    found = tg.read(path, **({"ids": "text"} if is_text else {}))
    expected = list(frame[["source", "target"]].itertuples(index=False, name=None))
    values = frame["weight"].tolist() if "weight" in frame else [None] * m
    rows = [(*ends, value) for ends, value in zip(expected, values, strict=True)]
    assert arcs(found) == sorted(rows, key=repr)


@given(seed=st.integers(0, 2**32))
def test_files_of_scipy_and_networkx(tmp_path_factory, seed):
    folder, rng = tmp_path_factory.mktemp("others"), np.random.default_rng(seed)
    matrix = scipy.sparse.random_array((5, 5), density=0.3, rng=rng)
    kind = ("real", "integer", "pattern")[seed % 3]
    matrix.data[:] = np.round(matrix.data * 9)
    scipy.io.mmwrite(folder / "x.mtx", matrix, field=kind, comment="a\n%b", symmetry="general")
    found = tg.read(folder / "x.mtx")
    expected = matrix.tocsr()
    assert torch.equal(found.offset, torch.from_numpy(expected.indptr.astype(np.int64)))
    assert kind == "pattern" or found.weights.tolist() == expected.data.tolist()
    G = networkx.gnm_random_graph(6, 7, seed, directed=True)
    networkx.write_weighted_edgelist(networkx.stochastic_graph(G), folder / "x.wel", delimiter=" \t,"[seed % 3])
    weights = {(u, v): d["weight"] for u, v, d in networkx.stochastic_graph(G).edges(data=True)}
    assert {(u, v): w for u, v, w in arcs(tg.read(folder / "x.wel"))} == weights


# ---- conversions ----------------------------------------------------------------------------------------------------


def test_what_conversions_refuse():
    class Frame:
        columns = ("source", "target")

    graph = networkx.Graph
    for call, words in (
        (lambda: tg.from_networkx({0: [1]}), "G: expected a graph of networkx, got dict"),
        (lambda: tg.from_networkx(graph), "got Graph"),
        (lambda: tg.from_networkx("x.el"), "got str"),
        (lambda: tg.from_pandas([[1, 2]]), "frame: expected a pandas one, got list; from_table"),
        (lambda: tg.from_pandas(Frame()), "got Frame"),
        (
            lambda: tg.from_pandas(pandas.DataFrame([[1, 2, 3]], columns=["source", "target", "target"])),
            "target: the frame has 2 columns 'target'",
        ),
        (
            lambda: tg.from_pandas(pandas.DataFrame({"source": [1], "target": [2], "w": ["x"]}), weight="w"),
            "weight: column 'w' is of type .*; use pandas.to_numeric",
        ),
    ):
        with pytest.raises(ArgumentError, match=words):
            call()


@pytest.mark.parametrize("dtype", [object, "Int64", "int64", "uint8", "float32", "Float64"])
def test_weights_of_pandas(dtype):
    frame = pandas.DataFrame({"source": [1, 2], "target": [2, 3], "w": pandas.Series([5, 6], dtype=dtype)})
    assert tg.from_pandas(frame, weight="w").weights.tolist() == [5, 6]


def test_batches_and_frames_of_polars():
    import pyarrow as pa

    batch = pa.RecordBatch.from_pydict({"source": ["a"], "target": ["b"], "x": [1]})
    assert arcs(tg.from_table(batch)) == [("a", "b", None)]
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame({"source": ["a"], "target": ["b"], "weight": [1.5]})
    assert arcs(tg.from_table(frame)) == [("a", "b", 1.5)]
    assert arcs(tg.from_table(frame.lazy())) == [("a", "b", 1.5)]


def test_labels_of_bytes():
    graph = tg.Graph.from_edges([0], [1], vertices=[b"x", b"y"])
    assert graph.index(b"y") == 1
    with pytest.raises(UnknownVertexError, match=re.escape("no vertex is called b'z'")):
        graph.index(b"z")
