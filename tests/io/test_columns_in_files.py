"""Columns in files, tables and graphs of networkx."""

import pickle
import re
import struct
import warnings

import networkx as nx
import numpy as np
import pandas
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from strategies import edge_lists, refused_naming

import tgraph as tg
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.io.edges import Rules


def sample(directed=True, **options):
    times = np.array(["2001-01-01", "2002-02-02", "2003-03-03", "2004-04-04"], "M8[s]")
    columns = {"edge": torch.arange(4), "text": ["a", "b", "ü", ""], "when": times, "some": [1, None, 3, 4]}
    columns |= {"wide": torch.arange(8).view(4, 2).to(torch.float16), "flag": [True, False, True, True]}
    graph = tg.Graph.from_edges([0, 2, 0, 1], [2, 1, 2, 1], directed=directed, columns=columns, **options)
    return graph.with_columns(vertices={"name": ["x", "y", None], "place": torch.rand(3, 2)})


def plain(columns):
    return {name: column.tolist() for name, column in columns.items()}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("layout", ["csr", "sell"])
def test_tg_keeps_all(tmp_path, directed, layout):
    graph = sample(directed).to_format(layout).permute([2, 0, 1]).to_format(layout)
    tg.write(graph, tmp_path / "a.tg")
    assert tg.verify(tmp_path / "a.tg") == (tmp_path / "a.tg").stat().st_size
    for verify in (False, True):
        found = tg.read(tmp_path / "a.tg", verify=verify)
        for same in (found, pickle.loads(pickle.dumps(found)), found.transpose().transpose()):
            assert plain(same.arc_columns) == plain(graph.arc_columns)
            assert plain(same.vertex_columns) == plain(graph.vertex_columns)
        assert found.arc_columns["wide"].dtype == torch.float16 and found.arc_columns["when"].type == pa.timestamp("s")
    without = tg.read(tmp_path / "a.tg", weights=False)
    assert plain(without.arc_columns) == plain(graph.arc_columns)


@pytest.mark.parametrize("name", ["edge", "text"])
def test_damage_to_a_column_is_found_when_it_is_used(tmp_path, name):
    path = tmp_path / "a.tg"
    tg.write(sample(), path)
    data = bytearray(path.read_bytes())
    size = struct.unpack("<Q", data[:8])[0]
    key = f'"arc_column{"" if name == "edge" else "_arrow"}.{name}"'.encode()
    place = re.search(key + rb': {[^}]*"data_offsets": \[(\d+), (\d+)', bytes(data[: 8 + size]))
    data[8 + size + int(place[2]) - 1] ^= 1
    path.write_bytes(data)
    graph = tg.read(path)
    assert graph.arc_columns["flag"].tolist() == [True, True, True, False]
    with pytest.raises(FileFormatError, match=name):
        graph.arc_columns[name]


def test_a_column_of_another_length_is_refused(tmp_path):
    graph = sample()
    graph.__dict__["_arc_columns"] = graph.arc_columns.take(torch.tensor([0]))
    tg.write(graph, tmp_path / "a.tg")
    found = tg.read(tmp_path / "a.tg")
    for name in ("edge", "text"):
        with pytest.raises(FileFormatError, match=rf"{name}.*4 rows"):
            found.arc_columns[name]


def test_columns_of_a_directed_file_that_is_read_as_undirected_mirror_each_other(tmp_path):
    tg.write(tg.Graph.from_edges([0, 1], [1, 0], columns={"a": [1, 2]}), tmp_path / "a.tg")
    with pytest.raises(ArgumentError, match=r"'a'.*position 0"):
        tg.read(tmp_path / "a.tg", directed=False)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_tables_have_the_columns_of_arcs(tmp_path, directed, name):
    graph = sample(directed, weights=[1, 2, 3, 4]).with_columns(
        arcs={"text": ["a", "b", "ü", "x"] if directed else None}
    )
    if name == "a.csv":
        graph = graph.with_columns(arcs={"some": None, "when": None, "flag": None})
    with pytest.warns(UserWarning, match="name, place"):
        tg.write(graph, tmp_path / name)
    found = tg.read(tmp_path / name, columns=True, directed=directed)
    wide = graph.arc_columns["wide"].float()
    expected = graph.with_columns(arcs={"wide": None, "wide_0": wide[:, 0], "wide_1": wide[:, 1]})
    assert plain(found.arc_columns) == plain(expected.arc_columns) and torch.equal(found.weights, graph.weights)
    assert list(tg.read(tmp_path / name, columns=["edge"], directed=directed).arc_columns) == ["edge"]


def test_an_edge_list_has_columns_by_number(tmp_path):
    (tmp_path / "a.el").write_text("# who whom weight when what\n7 3 0.5 1 x\n3 9 1 2.5 7\n")
    graph = tg.read(tmp_path / "a.el", columns=[4, 5])
    assert plain(graph.arc_columns) == {"4": [2.5, 1.0], "5": ["7", "x"]} and graph.weights.tolist() == [1.0, 0.5]
    assert list(tg.read(tmp_path / "a.el", columns=True, weights=False).arc_columns) == ["3", "4", "5"]
    refused_naming(("columns", "6", "3, 4, 5"), tg.read, tmp_path / "a.el", columns=[6])
    refused_naming(("columns", "1", "3, 4, 5"), tg.read, tmp_path / "a.el", columns=[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tg.read(tmp_path / "a.el", columns=[4])


@pytest.mark.parametrize("columns", [["b"], "a", 3])
def test_columns_that_a_table_does_not_have(columns):
    table = pa.table({"source": [0], "target": [1], "a": [3]})
    refused_naming(("columns",), tg.from_table, table, columns=columns)
    refused_naming(("columns",), tg.from_pandas, table.to_pandas(), columns=columns)


@given(edge_lists(), st.booleans(), st.booleans())
def test_edges_of_both_directions_have_the_columns_of_one(case, self_loops, weighted):
    n, edges = case
    both = edges + [(v, u) for u, v in edges if u != v]
    src, dst = np.array(both, dtype=np.int64).reshape(-1, 2).T
    rules = Rules(directed=False, self_loops="keep" if self_loops else "drop", num_vertices=n)
    graph = rules.build(src, dst, np.ones(len(both)) if weighted else None, {"edge": np.arange(len(both))})
    expected = [(u, v, e) for e, (u, v) in enumerate(both) if u < v or (u == v and self_loops)]
    source, target = graph.to_edge_index()
    found = zip(source.tolist(), target.tolist(), graph.arc_columns["edge"].tolist(), strict=True)
    assert sorted(found) == sorted({*expected, *((v, u, e) for u, v, e in expected)})
    graph.validate()


def test_frames_are_joined():
    graph = sample(vertices=["ann", "bob", "eve"])
    frame = graph.frame(degree=graph.out_degree, name=torch.arange(3))
    assert list(frame) == ["vertex", "place_0", "place_1", "degree", "name"]
    assert graph.frame()["name"].tolist()[:2] == ["x", "y"]
    edges = graph.to_pandas()
    assert list(edges) == ["source", "target", "edge", "text", "when", "some", "wide_0", "wide_1", "flag"]
    again = tg.from_pandas(edges, columns=True)
    assert again.arc_columns["edge"].tolist() == graph.arc_columns["edge"].tolist()
    assert again.arc_columns["when"].to_pylist() == graph.arc_columns["when"].to_pylist()
    taken = tg.Graph.from_edges([0], [1], columns={"source": [1]})
    refused_naming(("columns", "'source'"), taken.to_pandas)


VALUES = {"n": st.integers(-3, 3), "x": st.floats(-1, 1), "b": st.booleans(), "s": st.text(max_size=2)}


@given(st.data(), st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))
def test_networkx_keeps_attributes(data, kind):
    n, edges = data.draw(edge_lists())
    G, some = kind(), st.fixed_dictionaries({}, optional=VALUES)
    G.add_nodes_from((v, data.draw(some)) for v in range(n))
    for u, v in edges:
        key = {"key": data.draw(st.sampled_from("pq"))} if G.is_multigraph() and len(edges) % 2 else {}
        G.add_edge(u, v, **key, **data.draw(some))
    found = tg.from_networkx(G, columns=True).to_networkx()
    assert nx.utils.graphs_equal(kind(found) if G.is_multigraph() and not found.is_multigraph() else found, G)
    assert list(found.nodes) == list(G.nodes)


def test_networkx_by_name():
    G = nx.Graph([(0, 1, {"weight": 2, "a": 1, "b": "x"})])
    G.add_node(2, a=7)
    graph = tg.from_networkx(G, columns=["a"])
    assert plain(graph.arc_columns) == {"a": [1, 1]} and graph.vertex_columns["a"].to_pylist() == [None, None, 7]
    assert graph.weights.tolist() == [2, 2] and not tg.from_networkx(G).arc_columns
    refused_naming(("columns", "'c'"), tg.from_networkx, G, columns=["c"])
    refused_naming(("'weight'",), graph.with_columns(arcs={"weight": [1, 1]}).to_networkx)


def test_formats_without_columns_warn(tmp_path):
    graph = tg.Graph.from_edges([0], [1], columns={"a": [1]})
    for name in ("a.npz", "a.el", "a.mtx"):
        with pytest.warns(UserWarning, match="a are left out"):
            tg.write(graph, tmp_path / name)


def test_lists_of_one_length_are_tensors(tmp_path):
    table = pa.table({"u": [0, 1], "v": [1, 2], "x": pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float64(), 2))})
    parquet.write_table(table, tmp_path / "a.parquet")
    for given_as in (tmp_path / "a.parquet", table):
        assert tg.from_table(given_as, columns=["x"]).arc_columns["x"].tolist() == [[1, 2], [3, 4]]
    assert pandas.DataFrame(tg.from_table(table, columns=True).to_pandas()).columns.tolist()[2:] == ["x_0", "x_1"]
