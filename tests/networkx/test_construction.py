"""Graphs in tensors from all that networkx takes, and from tg.Graph; what they refuse; weights."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch

import tgraph as tg
import tgraph.networkx as tnx

KINDS = [(nx.Graph, tnx.Graph), (nx.DiGraph, tnx.DiGraph), (nx.MultiGraph, tnx.MultiGraph)]
KINDS += [(nx.MultiDiGraph, tnx.MultiDiGraph)]
DATA = [
    None,
    [("a", "b"), ("b", "c", {"weight": 2})],
    {0: [1, 2], 1: [0]},
    {0: {1: {"weight": 3}}, 1: {}},
    np.array([[0, 2], [2, 0]]),
    scipy.sparse.csr_array([[0, 1.5], [1.5, 0]]),
    nx.karate_club_graph(),
    nx.MultiDiGraph([(0, 1), (0, 1), (2, 2)], name="multi"),
]


@pytest.mark.parametrize(("plain", "ours"), KINDS)
@pytest.mark.parametrize("data", DATA, ids=[f"{i}-{type(data).__name__}" for i, data in enumerate(DATA)])
def test_what_networkx_takes(plain, ours, data):
    found, expected = ours(data, year=2024), plain(data, year=2024)
    assert nx.utils.graphs_equal(found, expected) and list(found.edges) == list(expected.edges)
    assert nx.utils.graphs_equal(plain(found), expected)  # and networkx's classes take ours
    assert nx.utils.graphs_equal(ours(ours(data, year=2024)), expected)
    assert found.is_directed() == expected.is_directed() and found.is_multigraph() == expected.is_multigraph()


def test_a_graph_of_tensors_is_not_copied():
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 2], [0.5, 1.5, 2.5], directed=False)
    G = tnx.Graph(graph)
    assert G.structure.neighbors.data_ptr() == graph.neighbors.data_ptr()
    assert G.weighted("weight").weights.data_ptr() == graph.weights.data_ptr()
    assert list(G.edges(data="weight")) == [(0, 1, 0.5), (1, 2, 1.5), (2, 2, 2.5)]
    assert dict(G.degree) == {0: 1, 1: 2, 2: 3}
    named = tnx.DiGraph(tg.Graph.from_edges([0, 1], [1, 2], vertices=["a", "b", "c"]))
    assert list(named.edges) == [("a", "b"), ("b", "c")] and list(named.predecessors("c")) == ["b"]
    packed = tnx.DiGraph(tg.Graph.from_edges([0, 0, 1], [2, 1, 2]).to_format("virtual"))
    assert list(packed.edges) == [(0, 1), (0, 2), (1, 2)]


def test_a_graph_of_tensors_of_another_kind():
    graph = tg.Graph.from_edges([0, 0], [1, 1])
    with pytest.raises(nx.NetworkXError, match=r"is directed; take tgraph.networkx.DiGraph or graph.to_undirected"):
        tnx.Graph(graph)
    with pytest.raises(nx.NetworkXError, match=r"parallel edges; take tgraph.networkx.MultiDiGraph or merge"):
        tnx.DiGraph(graph)
    with pytest.raises(nx.NetworkXError, match=r"is undirected; take tgraph.networkx.MultiGraph"):
        tnx.MultiDiGraph(graph.to_undirected(multi="keep"))
    assert list(tnx.MultiDiGraph(graph).edges) == [(0, 1, 0), (0, 1, 1)]


@pytest.mark.parametrize(
    "change",
    [
        lambda G: G.add_node(9),
        lambda G: G.add_nodes_from([9]),
        lambda G: G.remove_node(0),
        lambda G: G.add_edge(0, 9),
        lambda G: G.add_edges_from([(0, 9)]),
        lambda G: G.add_weighted_edges_from([(0, 9, 1)]),
        lambda G: G.remove_edges_from([(0, 1)]),
        lambda G: G.update(edges=[(0, 9)]),
        lambda G: G.clear(),
        lambda G: G.clear_edges(),
        lambda G: G[0][1].update(weight=1),
        lambda G: G.nodes[0].__setitem__("colour", 1),
        lambda G: G.edges[0, 1].pop("weight"),
    ],
)
def test_changes_are_refused(change):
    with pytest.raises(nx.NetworkXError, match=r"cannot be changed; change a copy in networkx's own classes"):
        change(tnx.Graph([(0, 1, {"weight": 2})]))


def test_copies_in_networkx_can_be_changed():
    G = tnx.Graph([(0, 1, {"weight": 2})], name="first")
    H = G.to_networkx()
    H.add_edge(1, 2)
    H[0][1]["weight"] = 3
    assert type(H) is nx.Graph and G.number_of_edges() == 1 and G[0][1] == {"weight": 2}
    attributes = copy.deepcopy(G[0][1])
    attributes["weight"] = 5
    assert G[0][1]["weight"] == 2
    other = G.copy()
    other.graph["name"] = "second"
    assert G.name == "first" and type(other) is tnx.Graph


def test_pickle():
    G = tnx.MultiDiGraph([(0, 1, "key", {"weight": 2}), (1, 1, 0, {})], name="pickled")
    for found in (pickle.loads(pickle.dumps(G)), copy.deepcopy(G)):
        assert type(found) is tnx.MultiDiGraph and nx.utils.graphs_equal(found, G) and found.name == "pickled"


def test_weights():
    G = tnx.MultiDiGraph([(0, 1, {"w": 3}), (0, 1, {"w": 2}), (1, 2, {"w": 5}), (2, 0, {"v": 1})])
    assert G.weighted("w").weights.tolist() == [3, 2, 5, 1] and G.weighted("w", 0.5).weights.tolist() == [3, 2, 5, 0.5]
    assert G.weighted("w") is G.weighted("w") and G.weighted() is G.structure
    assert G.weighted("w", multi="sum").weights.tolist() == [5, 5, 1]
    assert G.weighted("w", multi="min").weights.tolist() == [2, 5, 1]
    assert G.weighted(None, multi="first").weights is None and G.weighted(None, multi="first").num_arcs == 3
    assert G.weighted(None, multi="sum").weights.tolist() == [2, 1, 1]
    assert G.weighted("none").weights.tolist() == [1, 1, 1, 1]
    flags = tnx.Graph([(0, 1, {"w": True})])
    assert flags.weighted("w").weights.dtype == torch.int64
    with pytest.raises(NotImplementedError, match=r"the attribute 'w' of the edges: 'far' is not a number"):
        tnx.Graph([(0, 1, {"w": "far"})]).weighted("w")


def test_only_what_is_asked_for_is_converted():
    G = nx.Graph([(0, 1, {"w": 3, "v": 2})], name="of messages", place="left")
    G.nodes[0]["colour"] = "red"
    H = tnx.convert_from_nx(G, edge_attrs={"w": 1})
    assert H[0][1] == {"w": 3} and H.nodes[0] == {} and H.graph == {"name": "of messages"}
    assert tnx.convert_from_nx(G, node_attrs={"colour": None}).nodes[0] == {"colour": "red"}
    assert list(tnx.convert_from_nx(G.nodes)) == [0, 1] and tnx.convert_from_nx(H) is H
    with pytest.raises(TypeError, match="expected a graph of networkx, got int"):
        tnx.convert_from_nx(3)
    assert tnx.convert_to_nx([1]) == [1]


def test_views_of_networkx_are_converted():
    G = nx.gnm_random_graph(30, 90, seed=1, directed=True)
    for view in (G.subgraph(range(5, 25)), G.subgraph([3, 2, 1]), G.reverse(copy=False), G.to_undirected(as_view=True)):
        assert nx.utils.graphs_equal(tnx.convert_from_nx(view), view)
        assert list(tnx.convert_from_nx(view)) == list(view)


def test_a_large_graph_keeps_its_order():
    G = nx.gnm_random_graph(2000, 20_000, seed=3)
    names = {i: f"node {i * 7919 % 2000}" for i in range(2000)}
    for H in (G, nx.relabel_nodes(G, names), G.to_directed()):
        found = tnx.convert_from_nx(H)
        assert list(found.edges) == list(H.edges) and [list(found[v]) for v in H] == [list(H[v]) for v in H]
        back = found.to_networkx()
        assert list(back.edges) == list(H.edges) and back._adj == H._adj


def test_a_class_whose_neighbours_are_not_in_its_dicts():
    from networkx.algorithms.approximation.kcomponents import _AntiGraph

    G = nx.path_graph(5)
    found = tnx.convert_from_nx(_AntiGraph(G))
    assert {frozenset(edge) for edge in found.edges} == {frozenset(edge) for edge in nx.complement(G).edges}


def test_names_for_the_vertices_of_a_graph():
    graph = tg.Graph.from_edges([0, 1], [1, 2], [0.5, 1.5])
    G = tnx.DiGraph(graph, nodes="abc", year=2024)
    assert list(G.edges(data="weight")) == [("a", "b", 0.5), ("b", "c", 1.5)] and G.graph == {"year": 2024}
    assert nx.pagerank(G).keys() == set("abc")
    for nodes, found in (("ab", "got 2, 2 of them different"), ("aba", "got 3, 2 of them different")):
        with pytest.raises(nx.NetworkXError, match=f"nodes: expected 3 different names, {found}"):
            tnx.DiGraph(graph, nodes=nodes)
    assert nx.is_frozen(G) and tnx.Graph([(0, 1)], nodes=2).graph == {"nodes": 2}  # else an attribute, as in networkx


def test_from_networkx_shares_the_tensors():
    graph = tg.Graph.from_edges([0, 1], [1, 2], [0.5, 1.5])
    found = tg.from_networkx(tnx.DiGraph(graph, nodes="abc"))
    assert found.vertices.tolist() == ["a", "b", "c"] and found.directed
    assert found.neighbors.data_ptr() == graph.neighbors.data_ptr()
    assert found.weights.data_ptr() == graph.weights.data_ptr()
    assert tg.from_networkx(tnx.DiGraph(graph), weight=None).weights is None


CLASSES_DISPATCH = pytest.mark.skipif(
    "graph__new__" not in nx.utils.backends._registered_algorithms, reason="since networkx 3.6"
)


@CLASSES_DISPATCH
@pytest.mark.parametrize(("plain", "ours"), KINDS)
@pytest.mark.parametrize("data", DATA, ids=[f"{i}-{type(data).__name__}" for i, data in enumerate(DATA)])
def test_networkxs_classes_with_a_backend(plain, ours, data):
    """`networkx.Graph(backend="tgraph")`, and the same by configuration, are graphs in tensors."""
    found = plain(data, backend="tgraph", year=2024)
    assert type(found) is ours and nx.utils.graphs_equal(found, plain(data, year=2024))
    with nx.config.backend_priority(classes=["tgraph"]):
        configured = plain(data)
    assert type(configured) is ours and configured.adj == found.adj
    assert type(plain(data, backend="networkx")) is plain


@CLASSES_DISPATCH
def test_a_subclass_is_left_alone_by_configuration():
    kind = type("Kind", (nx.DiGraph,), {})
    with nx.config.backend_priority(classes=["tgraph"]):
        G = kind([(0, 1)])
    assert type(G) is kind
    G.add_edge(1, 2)
    assert nx.number_weakly_connected_components(G, backend="tgraph") == 1
