import networkx as nx
import numpy as np
import pandas
import pytest
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st
from io_samples import arcs, assert_same, graphs
from strategies import refused

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.io import convert

NODES = st.one_of(st.integers(-5, 5), st.text(max_size=2), st.tuples(st.integers(0, 3), st.integers(0, 3)))
KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


def edges_of(G):
    """Edges with weights, whether G is a multigraph or not, as text that can be sorted."""
    ends = (lambda u, v: f"{u!r} {v!r}") if G.is_directed() else (lambda u, v: " ".join(sorted((repr(u), repr(v)))))
    return sorted((ends(u, v), repr(weight)) for u, v, weight in G.edges(data="weight"))


@given(graph=graphs())
def test_networkx_round_trip(graph):
    found = convert.from_networkx(convert.to_networkx(graph))
    weights = graph.weights if graph.num_arcs else None  # networkx keeps weights with edges, so none without
    expected = Graph(graph.offset, graph.neighbors, weights, graph.vertices, graph.directed)
    plain = graph.vertices is not None and list(graph.vertices) == list(range(graph.num_vertices))
    assert found.num_vertices == graph.num_vertices and arcs(found) == arcs(expected)
    assert found.weights is None or found.weights.dtype == expected.weights.dtype
    if graph.vertices is None or plain:
        assert found.vertices is None
    else:
        assert list(found.vertices) == list(graph.vertices)


@given(data=st.data(), kind=st.sampled_from(KINDS), weighted=st.booleans())
def test_networkx_graphs_survive(data, kind, weighted):
    G = kind()
    nodes = data.draw(st.lists(NODES, max_size=6, unique=True))
    G.add_nodes_from(nodes)
    node = st.sampled_from(nodes) if nodes else st.nothing()
    for u, v in data.draw(st.lists(st.tuples(node, node), max_size=12)) if nodes else []:
        G.add_edge(u, v, **({"weight": data.draw(st.integers(-9, 9))} if weighted else {}))
    back = convert.to_networkx(convert.from_networkx(G))
    assert list(back) == list(G) and back.is_directed() == G.is_directed()
    assert edges_of(back) == edges_of(G)


def test_networkx_nodes_and_weights():
    G = nx.Graph([("a", "b", {"weight": 2}), ("b", "c")])
    G.add_node("alone")
    graph = convert.from_networkx(G)
    assert graph.num_vertices == 4 and list(graph.vertices) == ["a", "b", "c", "alone"]
    assert arcs(graph) == [("a", "b", 2), ("b", "a", 2), ("b", "c", 1), ("c", "b", 1)]
    assert graph.weights.dtype == torch.int64
    assert convert.from_networkx(G, weight=None).weights is None
    assert convert.from_networkx(G, weight="cost").weights is None
    assert convert.from_networkx(nx.path_graph(3)).vertices is None
    assert convert.from_networkx(nx.Graph([(1, 0)])).vertices.tolist() == [1, 0]
    G["a"]["b"]["weight"] = 0.5
    assert convert.from_networkx(G).weights.dtype == torch.float64


@pytest.mark.parametrize("value", ["heavy", [1], 1j, {}])
def test_networkx_weights_that_are_no_numbers(value):
    with pytest.raises(ArgumentError, match=r"edge 0 - 1 has .*, which is not a number"):
        convert.from_networkx(nx.Graph([(0, 1, {"weight": value})]))


def test_networkx_weights_that_do_not_fit():
    with pytest.raises(ArgumentError, match="does not fit int64"):
        convert.from_networkx(nx.Graph([(0, 1, {"weight": 2**70})]))


@given(graph=graphs(vertices=("none",)))
def test_scipy_round_trip(graph):
    matrix = convert.to_scipy(graph)
    assert matrix.shape == (graph.num_vertices,) * 2
    assert_same(convert.from_scipy(matrix, directed=graph.directed), graph)


def test_scipy():
    matrix = scipy.sparse.coo_array(([1.5, 2.5], ([0, 1], [1, 0])), shape=(3, 3))
    assert arcs(convert.from_scipy(matrix)) == [(0, 1, 1.5), (1, 0, 2.5)]
    assert convert.from_scipy(matrix, weighted=False, directed=False).num_edges == 1
    refused("lacks its reverse of equal weight", convert.from_scipy, matrix, directed=False)
    refused(r"square matrix, got shape \[2, 3\]", convert.from_scipy, scipy.sparse.csr_array((2, 3)))
    unsorted = scipy.sparse.csr_array((np.array([1, 2]), np.array([1, 0]), np.array([0, 2, 2])), shape=(2, 2))
    assert arcs(convert.from_scipy(unsorted)) == [(0, 0, 2), (0, 1, 1)]


@given(graph=graphs(vertices=("none",)))
def test_edge_index_round_trip(graph):
    edge_index = convert.to_edge_index(graph)
    assert edge_index.dtype == torch.int64 and edge_index.shape == (2, graph.num_arcs)
    n, directed = graph.num_vertices, graph.directed
    assert_same(convert.from_edge_index(edge_index, graph.weights, n, directed=directed), graph)


def test_edge_index():
    edge_index = torch.tensor([[0, 1, 1], [1, 0, 2]])
    assert convert.from_edge_index(edge_index).num_vertices == 3
    assert convert.from_edge_index(edge_index[:, :2], directed=False).num_edges == 1
    refused("lacks its reverse", convert.from_edge_index, edge_index, directed=False)
    refused(r"expected shape \[2, m\], got \[3, 2\]", convert.from_edge_index, edge_index.T)


@given(graph=graphs())
def test_pandas_round_trip(graph):
    frame = convert.to_pandas(graph)
    assert len(frame) == graph.num_edges
    weight = None if graph.weights is None else "weight"
    if graph.num_arcs:
        assert arcs(convert.from_pandas(frame, weight=weight, directed=graph.directed)) == arcs(graph)


def test_pandas():
    frame = pandas.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "w": [0.5, None]})
    graph = convert.from_pandas(frame, "a", "b", directed=False, weights=False)
    assert list(graph.vertices) == ["x", "y", "z"] and graph.num_edges == 2
    refused("weight: the row 1 of column 'w' has no value", convert.from_pandas, frame, "a", "b", "w")
    refused("source: the frame has no column 'source'; its columns are 'a', 'b', 'w'", convert.from_pandas, frame)
    numbers = pandas.DataFrame({"source": [5, 9], "target": [9, 7]})
    assert convert.from_pandas(numbers).vertices.tolist() == [5, 7, 9]


def test_methods_of_graph():
    graph = Graph.from_edges([0, 1], [1, 2])
    assert_same(Graph.from_networkx(graph.to_networkx()), graph)
    assert_same(Graph.from_scipy(graph.to_scipy()), graph)
    assert_same(Graph.from_edge_index(graph.to_edge_index()), graph)


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.uint8])
def test_networkx_nodes_of_numpy_are_integer_ids(kind):
    assert convert.from_networkx(nx.Graph([(kind(0), kind(1))])).vertices is None
    vertices = convert.from_networkx(nx.Graph([(kind(7), kind(3))])).vertices
    assert isinstance(vertices, torch.Tensor) and vertices.tolist() == [7, 3]


def test_numpy_arrays():
    edge_index = np.array([[0, 1, 1], [1, 0, 2]])
    expected = convert.from_edge_index(torch.from_numpy(edge_index), torch.tensor([5, 6, 7]))
    assert_same(convert.from_edge_index(edge_index, np.array([5, 6, 7])), expected)
    with pytest.raises(ArgumentError, match="expected a scipy sparse matrix, got ndarray; pass scipy"):
        convert.from_scipy(np.eye(2))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_weights(dtype):
    graph = Graph.from_edges([0, 1], [1, 2], torch.tensor([1.1, 2], dtype=dtype))
    assert convert.to_scipy(graph).data.tolist() == graph.weights.tolist()
    assert convert.to_pandas(graph)["weight"].tolist() == graph.weights.tolist()


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64", "Int64", "UInt64"])
def test_pandas_integers(dtype):
    frame = pandas.DataFrame({"source": [5, 9], "target": [9, 7], "w": [3, 4]}).astype(dtype)
    graph = convert.from_pandas(frame, weight="w")
    assert arcs(graph) == [(5, 9, 3), (9, 7, 4)] and graph.weights.dtype == torch.int64


@pytest.mark.parametrize("dtype", ["uint64", "UInt64"])
@pytest.mark.parametrize("column", ["source", "target", "w"])
def test_pandas_integers_beyond_int64(dtype, column):
    frame = pandas.DataFrame({"source": [5, 9], "target": [9, 7], "w": [3, 4]}).astype(dtype)
    frame.loc[1, column] = 2**63 + 1
    with pytest.raises(ArgumentError, match="does not fit int64"):
        convert.from_pandas(frame, weight="w")
