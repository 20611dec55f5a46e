"""Tables of vertices beside tables of edges."""

import warnings

import pandas
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from strategies import graphs, refused_naming

import tgraph as tg
from tgraph.errors import FileFormatError, TGraphError


def plain(graph):
    columns = [
        {name: each.tolist() for name, each in held.items()} for held in (graph.arc_columns, graph.vertex_columns)
    ]
    ids = list(range(graph.num_vertices)) if graph.vertices is None else graph.vertices.tolist()
    weights = None if graph.weights is None else graph.weights.tolist()
    return graph.directed, ids, graph.to_edge_index().tolist(), weights, columns


@given(graphs(min_vertices=1, dtypes=(None, torch.int64)))
def test_two_tables_are_the_graph(tmp_path_factory, graph):
    folder, n = tmp_path_factory.mktemp("tables"), graph.num_vertices
    ids = [None, [f"v{n - i}" for i in range(n)], torch.arange(n).flip(0) * 3 + 5][graph.num_arcs % 3]
    data = {"age": torch.arange(n) * 2, "said": ["x" if i % 2 else 'é,"' for i in range(n)]}
    graph = tg.Graph(graph.offset, graph.neighbors, graph.weights, ids, graph.directed).with_columns(vertices=data)
    for extension in ("parquet", "csv", "feather") if graph.num_arcs else ():
        edges, vertices = folder / f"e.{extension}", folder / f"v.{extension}"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "CSV does not record")
            tg.write(graph, edges, vertices=vertices)
        found = tg.read(edges, vertices=vertices, directed=graph.directed)
        assert plain(found) == plain(graph)
    if graph.num_arcs:
        again = tg.from_table(graph.to_pandas(), vertices=graph.frame(), directed=graph.directed)
        assert plain(again) == plain(graph)


EDGES = {"source": [5, 9], "target": [9, 7], "km": [1.0, 2.0]}


@pytest.mark.parametrize("name", ["id", "Node", "who"])
def test_rows_are_found_by_their_id(name):
    table = pa.table({name: [3, 9], "x": [1, 2]})
    graph = tg.from_table(pa.table(EDGES), vertices=table, columns=["km"])
    assert graph.vertices.tolist() == [3, 9, 5, 7] and graph.vertex_columns["x"].to_pylist() == [1, 2, None, None]
    assert graph.to_edge_index().tolist() == [[1, 2], [3, 1]] and graph.arc_columns["km"].tolist() == [2.0, 1.0]
    kept = tg.from_table(pa.table(EDGES), vertices=pa.table({name: [11, 2], "x": [1, 2]}), ids="keep")
    assert kept.num_vertices == 12 and kept.vertices is None and kept.vertex_columns["x"].to_pylist()[2::9] == [2, 1]


def test_ids_as_text(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\n007,7\n")
    (tmp_path / "v.csv").write_text("id,x\n7,1\n007,2\n")
    graph = tg.read(tmp_path / "e.csv", vertices=tmp_path / "v.csv", ids="text")
    assert graph.vertices.tolist() == ["7", "007"] and graph.vertex_columns["x"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"id": [1, 2, 1]}, ("row 2", "id 1", "row 0")),
        ({"id": [1, None]}, ("row 1 has no value",)),
        ({"id": ["a"]}, ("type", 'ids="text"')),
        ({"id": [1.5]}, ("'id' is of type double",)),
        ({}, ("no column",)),
    ],
)
def test_what_is_refused(table, words):
    with pytest.raises(TGraphError) as caught:
        tg.from_table(pandas.DataFrame(EDGES), vertices=pa.table(table))
    assert all(word in str(caught.value) for word in words), caught.value


def test_only_tables_have_one(tmp_path):
    graph = tg.Graph.from_edges([0], [1])
    refused_naming(("vertices", "edgelist"), tg.write, graph, tmp_path / "e.el", vertices=tmp_path / "v.csv")
    refused_naming(("vertices", "'v.el'"), tg.write, graph, tmp_path / "e.csv", vertices=tmp_path / "v.el")
    assert not list(tmp_path.iterdir())
    tg.write(graph, tmp_path / "e.parquet", vertices=tmp_path / "v.parquet")
    (tmp_path / "v.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileFormatError, match=r"v\.parquet"):
        tg.read(tmp_path / "e.parquet", vertices=tmp_path / "v.parquet")
