"""Graphs of igraph, PyG and DGL, and back, with the data of vertices and edges."""

from types import SimpleNamespace

import numpy as np
import pandas
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from io_samples import arcs
from strategies import graphs, refused_naming

import tgraph as tg

FLOATS = (None, torch.int64, torch.float64)


def with_data(graph):
    """A graph with columns of numbers, rows and text, some missing, and ids."""
    n, edges = graph.num_vertices, torch.arange(graph.num_arcs)
    if not graph.directed:  # both arcs of an edge have the same
        src, dst = graph.to_edge_index()
        edges = torch.minimum(src, dst) * n + torch.maximum(src, dst)
    ids = None if n % 2 else [f"v{i}" for i in range(n)]
    graph = tg.Graph(graph.offset, graph.neighbors, graph.weights, ids, graph.directed)
    text = [None if e % 3 == 0 else str(e) for e in edges.tolist()]
    names = ["x", *[None] * (n - 1)] if n else []
    vertices = {"place": torch.arange(2.0 * n).view(n, 2), "said": names}
    return graph.with_columns({"edge": edges, "edge_text": text}, vertices)


def plain(graph):
    columns = [
        {name: each.tolist() for name, each in held.items()} for held in (graph.arc_columns, graph.vertex_columns)
    ]
    ids = None if graph.vertices is None else list(graph.vertices)
    weights = None if graph.weights is None else graph.weights.tolist()
    return graph.directed, graph.num_vertices, graph.to_edge_index().tolist(), weights, ids, columns


@given(graphs(min_vertices=1, dtypes=FLOATS))
def test_igraph_keeps_all(graph):
    pytest.importorskip("igraph", reason="igraph is not installed")
    graph = with_data(graph)
    found = plain(tg.from_igraph(graph.to_igraph()))
    if graph.num_arcs:
        assert found == plain(graph)
    assert found[:3] == plain(graph)[:3] and found[4] == plain(graph)[4]


def test_igraph():
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    g = igraph.Graph(n=3, edges=[(0, 2), (0, 1)], edge_attrs={"weight": [1, None], "a": ["x", "y"]})
    g.vs["name"] = ["b", "b", "c"]
    refused_naming(("weight='weight'", "position 1", "None"), tg.from_igraph, g)
    graph = tg.from_igraph(g, weight=None, columns=["a"])
    assert graph.arc_columns["a"].to_pylist() == ["y", "x", "y", "x"] and not graph.vertex_columns
    assert tg.from_igraph(g, None).vertex_columns["name"].to_pylist() == ["b", "b", "c"]  # no ids: two are equal
    assert (
        arcs(tg.from_igraph(g, None, columns=None)) == arcs(graph) and tg.from_igraph(igraph.Graph()).num_vertices == 0
    )
    refused_naming(("columns", "'z'"), tg.from_igraph, g, None, columns=["z"])
    refused_naming(("g", "Graph"), tg.from_igraph, graph)
    refused_naming(
        ("'name'",),
        tg.Graph.from_edges([0], [1], vertices=["a", "b"]).with_columns(vertices={"name": ["x", "y"]}).to_igraph,
    )


@given(graphs(min_vertices=1, dtypes=FLOATS))
def test_pyg_keeps_all(graph):
    pytest.importorskip("torch_geometric")
    graph = with_data(graph)
    if graph.num_arcs:
        assert plain(tg.from_pyg(graph.to_pyg(), directed=graph.directed)) == plain(graph)
    kinds = [f"type{v % 2}" for v in range(graph.num_vertices)]
    of_arcs = [f"of{min(arc)}" for arc in graph.to_edge_index().T.tolist()]
    typed = graph.with_columns({"edge_type": of_arcs, "edge_text": None}, {"node_type": kinds, "said": None})
    data = typed.to_pyg(hetero=True)
    assert set(data.node_types) == set(kinds) and data.num_edges == graph.num_arcs
    again = tg.from_pyg(data)
    rows = {tuple(row): v for v, row in enumerate(graph.vertex_columns["place"].tolist())}
    old = [rows[tuple(row)] for row in again.vertex_columns["place"].tolist()]
    src, dst = again.to_edge_index().tolist()
    found = zip([old[u] for u in src], [old[v] for v in dst], again.arc_columns["edge_type"].tolist(), strict=True)
    assert sorted(found) == sorted(zip(*graph.to_edge_index().tolist(), of_arcs, strict=True))


def test_pyg():
    data = pytest.importorskip("torch_geometric.data")
    hetero = data.HeteroData()
    hetero["author"].x, hetero["paper"].x, hetero["paper"].year = torch.eye(2), torch.ones(3, 2), torch.arange(3)
    hetero["author", "writes", "paper"].edge_index = torch.tensor([[0, 1], [2, 0]])
    with pytest.warns(UserWarning, match="year"):
        graph = tg.from_pyg(hetero)
    assert graph.to_edge_index().tolist() == [[0, 1], [4, 2]] and graph.vertex_columns["x"].shape == (5, 2)
    assert graph.arc_columns["edge_type"].to_pylist() == ["writes"] * 2
    with pytest.warns(UserWarning, match="y have no row"):
        assert tg.from_pyg(data.Data(num_nodes=3, y=torch.tensor([1]))).num_vertices == 3
    graph = tg.Graph.from_edges([0, 1], [1, 0], columns={"a": [1, 2]})
    assert set(graph.to_pyg().edge_attrs()) == {"edge_index", "edge_a"}
    refused_naming(("'edge_b'",), graph.with_columns(vertices={"edge_b": [1, 2]}).to_pyg)
    refused_naming(("'edge_a'", "two columns"), graph.with_columns({"edge_a": [1, 2]}).to_pyg)
    refused_naming(("'node_type'", "with_columns"), graph.to_pyg, hetero=True)
    refused_naming(("adj_t",), tg.from_pyg, data.Data(adj_t=1, num_nodes=1))
    refused_naming(("data", "int"), tg.from_pyg, 3)


def test_dgl():
    """By the public interface of a DGLGraph."""
    ends, types = (torch.tensor([2, 0, 0]), torch.tensor([0, 1, 1])), {"ntypes": ["_N"], "etypes": ["_E"]}
    of_nodes = {"x": torch.eye(4), "_ID": torch.tensor([7, 5, 9, 6])}
    of_edges = {"w": torch.tensor([0.5, 1, 2]), "kind": torch.tensor([4, 5, 6])}
    g = SimpleNamespace(num_nodes=lambda: 4, edges=lambda order: ends, ndata=of_nodes, edata=of_edges, **types)
    graph = tg.from_dgl(g)
    assert arcs(graph) == [(7, 5, 1.0), (7, 5, 2.0), (9, 7, 0.5)] and graph.num_vertices == 4
    assert graph.arc_columns["kind"].tolist() == [5, 6, 4] and list(graph.vertex_columns) == ["x"]
    assert list(tg.from_dgl(g, None, columns=["w"]).arc_columns) == ["w"]
    g.etypes = ["likes", "reads"]
    refused_naming(("likes", "dgl.to_homogeneous"), tg.from_dgl, g)
    refused_naming(("g", "int"), tg.from_dgl, 3)


class OfCudf:
    """The interface of cuDF's frames that is read."""

    def __init__(self, table):
        self.to_arrow, self.columns = lambda: table, table.column_names
        self.select_columns = table.select

    def __getitem__(self, names):
        return OfCudf(self.select_columns(names))


def test_tables_of_all_kinds_agree():
    table = pa.table({"source": ["a", "b"], "target": ["b", "a"], "weight": [3, 3], "x": pa.array(["k", None])})
    views = table.set_column(3, "x", table["x"].cast(pa.string_view()))
    kinds = [table, views, table.to_batches()[0], table.to_reader(), table.to_pandas(), OfCudf(table)]
    for each in kinds:
        graph = tg.from_table(each, directed=False, columns=["x"])
        assert graph.num_edges == 1 and graph.weights.tolist() == [3, 3]
        assert graph.arc_columns["x"].to_pylist() == ["k", "k"]
    frame = table.to_pandas()
    assert plain(tg.from_pandas(frame, directed=False, columns=["x"])) == plain(graph)
    assert tg.from_pandas(frame, weights=False).weights is None
    assert arcs(tg.from_pandas(pandas.DataFrame({"p": np.array([3]), "q": [5]}))) == [(3, 5, None)]
    assert tg.from_pandas(frame, multi="sum", self_loops="drop").num_edges == 2
