"""CSV and Parquet: columns by name."""

import gzip
import re
import warnings

import pandas
import pyarrow as pa
import pytest
import torch
from hypothesis import assume, given
from io_samples import arcs, assert_fault, graphs, round_trip
from pyarrow import parquet
from strategies import refused

import tgraph
from tgraph.errors import ArgumentError


@pytest.fixture
def file(tmp_path):
    def create(content, name: str = "edges.csv"):
        path = tmp_path / name
        if isinstance(content, str):
            path.write_text(content)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            parquet.write_table(pa.table(content), path)
        return path

    return create


@given(graph=graphs())
@pytest.mark.parametrize("name", ["edges.csv", "edges.csv.zst", "edges.parquet"])
def test_round_trip(tmp_path_factory, name, graph):
    assume(graph.num_arcs)
    found = round_trip(graph, tmp_path_factory.mktemp("tables") / name, directed=graph.directed)
    assert found.directed == graph.directed and arcs(found) == arcs(graph)
    assert graph.weights is None or found.weights.dtype == graph.weights.dtype


def test_parquet_keeps_the_direction(tmp_path):
    graph = tgraph.Graph.from_edges([0, 1], [1, 2], directed=False)
    assert not round_trip(graph, tmp_path / "edges.parquet").directed
    assert tgraph.read(tmp_path / "edges.parquet", directed=True).num_edges == 2


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("source,target,weight\n1,2,5\n2,3,6\n", {}),
        ("src;dst;w\n1;2;5\n2;3;6\n", {}),
        ("time,To,FROM,Weight\n0,2,1,5\nx,3,2,6\n", {}),
        ('"a","b","c"\r\n"1","2","5"\r\n2,3,6\r\n', {"source": "a", "target": "b", "weight": "c"}),
        ("# made by hand\n\nsource\ttarget\tweight\n1\t2\t5\n2\t3\t6\n", {}),
        ("1,2,5\n2,3,6\n", {}),
        ('"1","2","5"\n"2",3,6\n', {}),
        ("1, 2,5\n# between\n2 ,3, 6\n", {}),
        ("1|2|5\n2|3|6\n", {"delimiter": "|"}),
        ("\ufeffsource,target,weight\n1,2,5\n2,3,6\n", {}),
        ("junk\nsource,target,weight\n1,2,5\n2,3,6\n", {"skip": 1}),
    ],
)
def test_csv_columns(file, text, options):
    assert arcs(tgraph.read(file(text), **options)) == [(1, 2, 5), (2, 3, 6)]
    packed = file(gzip.compress(text.encode()), "edges.csv.gz")
    assert arcs(tgraph.read(packed, progress=True, **options)) == [(1, 2, 5), (2, 3, 6)]


def test_csv_labels(file):
    graph = tgraph.read(file('source,target\n"Doe, Jane",#1\n#1,"say ""hi"""\n'))
    assert arcs(graph) == [("#1", 'say "hi"', None), ("Doe, Jane", "#1", None)]
    assert arcs(tgraph.read(file('"1","2"\n"#3","a, b"\n'), ids="text")) == [("#3", "a, b", None), ("1", "2", None)]
    assert tgraph.read(file("source,target\n1,2\n"), ids="text").vertices.tolist() == ["1", "2"]
    assert tgraph.read(file("source,target\n"), directed=False).num_vertices == 0


def test_weights_false(file):
    text = "source,target,weight\n1,2,n/a\n"
    assert tgraph.read(file(text), weights=False).weights is None


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, ["empty"]),
        ("a,b,c\n1,2,3\n", None, ["no column is called source", "source= and target=", "'a', 'b'"]),
        ("source,target\n1,2\n3\n", 3, ["short line"]),
        ("source,target\n1,2\n3,4,5\n", 3, ["too many columns"]),
        ("source,target\n1,2\n3,\n", 3, ["'' is not an integer"]),
        ("source,target\n1,2\nx,4\n", 3, ["'x' is not an integer", 'ids="text"']),
        ("source,target,weight\n1,2,heavy\n", 2, ["'heavy' is not a number", "weights=False"]),
    ],
)
def test_csv_faults(file, text, line, words):
    assert_fault(file(text), line, *words)


@pytest.mark.parametrize("label", ["a\nb", "a\rb", " a", "a "])
def test_csv_refuses_what_it_cannot_hold(tmp_path, label):
    graph = tgraph.Graph.from_edges([0], [1], vertices=[label, "c"])
    with pytest.raises(ArgumentError, match="cannot stand in CSV"):
        tgraph.write(graph, tmp_path / "edges.csv")
    assert arcs(round_trip(graph, tmp_path / "edges.parquet")) == arcs(graph)


def test_argument_errors(file):
    path = file("source,target\n1,2\n")
    refused(r"weight: .*no column 'cost'; its columns are 'source', 'target'", tgraph.read, path, weight="cost")
    refused("delimiter: '::' is not one", tgraph.read, path, delimiter="::")
    refused("pass weight='name'", tgraph.read, path, weights=3)


def test_csv_warns_of_undirected_edges(tmp_path):
    with pytest.warns(UserWarning, match="does not record that the edges are undirected"):
        tgraph.write(tgraph.Graph.from_edges([0], [1], directed=False), tmp_path / "edges.csv")


@pytest.mark.parametrize("kind", [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()])
def test_parquet_unsigned_weights(file, kind):
    graph = tgraph.read(file({"u": [1, 2], "v": [2, 3], "w": pa.array([5, 6], kind)}, "edges.parquet"))
    assert arcs(graph) == [(1, 2, 5), (2, 3, 6)] and int(graph.weights.sum()) == 11
    assert graph.weights.dtype == (torch.uint8 if kind == pa.uint8() else torch.int64)


@pytest.mark.parametrize("src", [pa.array([1, 2], pa.int8()), pa.array([1, 2], pa.uint32()), pa.array([1, 2])])
def test_parquet_integers(file, src):
    path = file({"src": src, "dst": pa.array([2, 3])}, "edges.parquet")
    graph = tgraph.read(path)
    assert arcs(graph) == [(1, 2, None), (2, 3, None)]
    assert arcs(tgraph.read(path, ids="text")) == [("1", "2", None), ("2", "3", None)]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
def test_parquet_labels(file, kind):
    path = file({"u": pa.array(["a", "b"]).cast(kind), "v": pa.array(["b", "c"])}, "edges.parquet")
    assert arcs(tgraph.read(path)) == [("a", "b", None), ("b", "c", None)]


def test_parquet_of_pandas(tmp_path):
    frame = pandas.DataFrame({"u": [5, 6], "v": [6, 7], "w": torch.tensor([0.5, 1], dtype=torch.float32)})
    frame.to_parquet(tmp_path / "edges.pq")
    graph = tgraph.read(tmp_path / "edges.pq")
    assert graph.weights.dtype == torch.float32 and graph.vertices.tolist() == [5, 6, 7]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": [1]}, ["no column is called source"]),
        ({"source": [1, None], "target": [1, 2]}, ["'source' row 1 has no value", "fill or drop"]),
        ({"source": [1.5], "target": [1]}, ["'source' is of type double"]),
        ({"source": [1], "target": ["a"]}, ["'source' is int64, 'target' is string", 'ids="text"']),
        ({"source": [1], "target": [2], "weight": ["x"]}, ["'weight' is of type string", "weights=False"]),
        ({"source": [1], "target": [2], "weight": pa.array([2**63], pa.uint64())}, ["'weight'", "convert"]),
        ({"source": [1], "target": [2], "weight": [None]}, ["'weight' row 0 has no value"]),
    ],
)
def test_parquet_faults(file, columns, words):
    assert_fault(file(columns, "edges.parquet"), None, *words)


def test_damaged_parquet(file):
    path = file({"source": [1], "target": [2]}, "edges.parquet")
    content = path.read_bytes()
    for damaged in (content[:-5], content[4:], content[:4] + b"\0" * 30 + content[34:]):
        path.write_bytes(damaged)
        assert_fault(path, None, "not a whole Parquet file")
    path.write_bytes(b"")
    assert_fault(path, None, "not a whole Parquet file")
    with pytest.raises(FileNotFoundError):
        tgraph.read(path.with_name("none.parquet"))


def test_numbers_that_are_left_out_are_warned_of(tmp_path):
    """Unless an option selects the columns."""
    path = tmp_path / "t.csv"
    path.write_text("from,to,cost,name\n1,2,5,x\n")
    said = re.escape(f"{path}: column 'cost' left out: weight='cost' takes weights from there, weights=False reads")
    with pytest.warns(UserWarning, match=said):
        graph = tgraph.read(path)
    assert graph.weights is None
    with pytest.warns(UserWarning, match="weights come from column 3; weights=4 takes others"):
        (tmp_path / "t.txt").write_text("1 2 5 9\n")
        assert tgraph.read(tmp_path / "t.txt").weights.tolist() == [5]
    pandas.DataFrame({"u": [1], "v": [2], "time": [3.5], "name": ["x"]}).to_parquet(tmp_path / "t.parquet")
    with pytest.warns(UserWarning, match="column 'time' left out"):
        tgraph.read(tmp_path / "t.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tgraph.read(path, weights=False).weights is None
        assert tgraph.read(path, weight="cost").weights.tolist() == [5]
        assert tgraph.read(tmp_path / "t.txt", weights=4).weights.tolist() == [9]
