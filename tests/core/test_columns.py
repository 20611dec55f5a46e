"""Columns: every arc and vertex keeps its row, parallel arcs theirs, through all that makes a graph of another."""

import copy
import pickle

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_lists, refused_naming

import tgraph as tg
from tgraph.formats import LAYOUTS


def marked(n, edges, directed, **options):
    """A graph whose columns number its edges and vertices, as tensors and as text."""
    src, dst = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).unbind(1)
    columns = {"edge": torch.arange(len(edges)), "text": [str(i) for i in range(len(edges))]}
    columns["text"] = pa.array(columns["text"], pa.string())
    graph = tg.Graph.from_edges(src, dst, num_vertices=n, directed=directed, columns=columns, **options)
    return graph.with_columns(vertices={"name": torch.arange(n)})


def triples(graph):
    """(source, target, edge) of the arcs by their columns, sorted; those of an undirected graph mirror each other."""
    name, edge = graph.vertex_columns["name"], graph.arc_columns["edge"]
    assert graph.arc_columns["text"].to_pylist() == [str(each) for each in edge.tolist()]
    if not graph.directed:
        assert torch.equal(edge, edge[graph.decoded().transpose_permutation])
    source, target = name[graph.to_edge_index()].tolist()
    return sorted(zip(source, target, edge.tolist(), strict=True))


def both_ways(arcs):
    return sorted({*arcs, *((v, u, e) for u, v, e in arcs)})


def first(arcs):
    """The first of the edges between each pair of vertices."""
    found = {}
    for u, v, e in arcs:
        found.setdefault(frozenset((u, v)), (u, v, e))
    return list(found.values())


# What is made of a graph, and its arcs where `arcs` are those of that graph, which keeps some vertices.
SAME = {
    "csr": lambda graph: graph.to_csr(),
    "derived": lambda graph: graph.sharing_derived(),
    "device": lambda graph: graph.to("cpu"),
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    "pickle": lambda graph: pickle.loads(pickle.dumps(graph)),
    "columns": lambda graph: graph.with_columns(vertices={"other": torch.zeros(graph.num_vertices)}),
    "weights": lambda graph: graph.weighted_by("edge"),
    "no weights": lambda graph: graph.weighted_by("edge").weighted_by(None),
    "degrees": lambda graph: graph.reorder("degree"),
    "order": lambda graph: graph.permute(torch.arange(graph.num_vertices).flip(0)),
    "there and back": lambda graph: graph.transpose().transpose(),
    **{name: lambda graph, name=name: graph.to_format(name) for name in LAYOUTS if name not in ("ell", "wsb", "cbm")},
    "ell": lambda graph: graph.to_format("ell", limit=1e9),
    **{f"{name} back": lambda graph, name=name: graph.to_format(name).decoded() for name in ("sell", "coo")},
}


@given(edge_lists(), st.booleans(), st.sampled_from(sorted(SAME)))
def test_columns_follow_their_arcs(case, directed, what):
    n, edges = case
    arcs = [(u, v, e) for e, (u, v) in enumerate(edges)]
    stored = sorted(arcs) if directed else both_ways(arcs)
    graph = SAME[what](marked(n, edges, directed))
    assert triples(graph) == stored
    turned = graph.transpose()
    assert triples(turned) == sorted((v, u, e) for u, v, e in stored)
    del graph
    assert triples(turned.transpose()) == stored


@given(edge_lists(), st.booleans(), st.data())
def test_columns_follow_the_arcs_that_are_left(case, directed, data):
    n, edges = case
    arcs = [(u, v, e) for e, (u, v) in enumerate(edges)]
    graph = marked(n, edges, directed)
    stored = sorted(arcs) if directed else both_ways(arcs)
    assert triples(graph.without_self_loops()) == [arc for arc in stored if arc[0] != arc[1]]
    assert triples(graph.to_undirected("keep")) == both_ways(arcs)
    assert triples(graph.to_undirected()) == both_ways(first(sorted(arcs) if directed else arcs))
    some = data.draw(st.lists(st.integers(0, n - 1), unique=True)) if n else []
    assert triples(graph.subgraph(some)) == [arc for arc in stored if {*arc[:2]} <= {*some}]
    merged = marked(n, edges, directed, multi="sum", self_loops="drop", weights=torch.ones(len(edges)))
    kept = [arc for arc in arcs if arc[0] != arc[1]]
    seen = set()
    once = [arc for arc in kept if arc[:2] not in seen and not seen.add(arc[:2])]
    assert triples(merged) == (sorted(once) if directed else both_ways(first(kept)))


@given(edge_lists(), st.booleans())
def test_undirected_edges_have_the_columns_of_their_arcs_from_the_lesser_vertex(case, weighted):
    n, edges = case
    arcs = [(u, v, e) for e, (u, v) in enumerate(edges)]
    back = [(v, u) for u, v in edges if u != v]
    kept = [u <= v for u, v in edges] + [v < u for u, v in edges if u != v]
    weights = torch.tensor([e % 3 for e in range(len(edges))] + [e % 3 for u, v, e in arcs if u != v])
    both = edges + back
    found = triples(marked(n, both, True, weights=weights if weighted else None).as_undirected())
    of = [(u, v, e) for e, (u, v) in enumerate(both) if kept[e]]
    assert found == both_ways(of)
    undirected = marked(n, both, True, weights=weights).as_undirected()
    assert torch.equal(undirected.weights, weights[undirected.arc_columns["edge"]].to(undirected.weights.dtype))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], torch.int64),
        ([True, False], torch.bool),
        (np.array([1, 2], np.uint16), torch.int64),
        (np.array([[0.5], [1]], np.float32), torch.float32),
        (pa.array([1.0, 2.0]), torch.float64),
        (pa.chunked_array([[1], [2]]), torch.int64),
        ([1, None], pa.int64()),
        (["a", "b"], pa.string()),
        (np.array(["2001-01-01", "2002-01-01"], "M8[ns]"), pa.timestamp("ns")),
        (pa.chunked_array([["a"], ["b"]]), pa.string()),
        ([[1], [2, 3]], pa.list_(pa.int64())),
    ],
)
def test_numbers_are_tensors_and_anything_else_is_arrows(values, kind):
    column = tg.generators.path(2).with_columns(vertices={"x": values}).vertex_columns["x"]
    assert (column.dtype if isinstance(column, torch.Tensor) else column.type) == kind and len(column) == 2


def test_columns_are_changed_in_another_graph_alone():
    graph = tg.Graph.from_edges([0, 1], [1, 2], columns={"a": [1, 2], "b": [3, 4]})
    degree = graph.out_degree
    other = graph.with_columns(arcs={"a": None, "b": [5, 6]}, vertices={"c": [0, 1, 2]})
    assert list(other.arc_columns) == ["b"] and other.arc_columns["b"].tolist() == [5, 6]
    assert list(graph.arc_columns) == ["a", "b"] and not graph.vertex_columns
    assert other.neighbors is graph.neighbors and other.out_degree is degree
    assert graph.weighted_by("a") is graph.weighted_by("a") and graph.weighted_by("a").weights.tolist() == [1, 2]
    assert other.nbytes == graph.nbytes - 32 + 16 + 24
    with pytest.raises(KeyError):
        graph.arc_columns["c"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"arcs": {"a": [1, 2]}}, ("arcs['a']", "4 rows", "[2]")),
        ({"vertices": {"a": 1}}, ("vertices['a']", "3 rows")),
        ({"vertices": {1: [1, 2, 3]}}, ("vertices", "1")),
        ({"vertices": {"": [1, 2, 3]}}, ("vertices", "''")),
        ({"vertices": {"a": None}}, ("vertices", "'a'")),
        ({"vertices": {"a": [1, "b", 2]}}, ("vertices['a']",)),
        ({"vertices": {"a": torch.empty(3, device="meta")}}, ("vertices['a']", "meta")),
        ({"arcs": {"a": [0, 1, 2, 2]}}, ("arcs['a']", "position 0", "at 1")),
        ({"arcs": {"a": ["0", "0", "1", "2"]}}, ("arcs['a']", "position 2")),
    ],
)
def test_columns_that_do_not_fit_are_refused(changes, words):
    refused_naming(words, tg.generators.path(3).with_columns, **changes)


@pytest.mark.parametrize("name", ["text", "flag", "wide", "none"])
def test_weights_are_numbers(name):
    columns = {"text": ["a"], "flag": [True], "wide": [[1, 2]]}
    refused_naming(("column", name), tg.Graph.from_edges([0], [1], columns=columns).weighted_by, name)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_transpose_records_gradients_of_columns(weighted):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    graph = tg.Graph.from_edges([0, 0, 1], [2, 1, 0], torch.ones(3) if weighted else None, columns={"x": x})
    with torch.inference_mode():
        assert not graph.transpose_detached().arc_columns["x"].is_inference()
    (graph.transpose().arc_columns["x"] * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [100.0, 10.0, 1.0]
    assert not graph.transpose_detached().arc_columns["x"].requires_grad


# Algorithms that give a graph of arcs of another; None for those that say in their docstring that columns are left out.
PARTS = {
    "k_core": {},
    "k_shell": {},
    "k_truss": {"k": 2},
    "ego_graph": {"source": 0},
    "induced_subgraph": {"vertices": [2, 0, 1]},
    "minimum_spanning_forest": {},
    "maximum_spanning_forest": {},
    "predecessors": {"source": 0},
    "transitive_reduction": {},
    "intersection": {"other": True},
    "difference": {"other": True},
    "compose": None,
    "symmetric_difference": None,
    "disjoint_union": None,
    "union": None,
    "complement": None,
}


@pytest.mark.parametrize("name", PARTS)
def test_algorithms_keep_columns_or_say_that_they_do_not(name):
    function, options = getattr(tg.algorithms, name), PARTS[name]
    if options is None:
        assert "columns" in function.__doc__
        return
    edges = [(0, 1), (0, 2), (1, 2), (0, 1), (2, 3), (0, 3), (2, 4)]
    directed = name in ("predecessors", "transitive_reduction")
    graph = marked(6, edges, directed)
    if "other" in options:
        options = {"other": tg.Graph.from_edges([0, 2], [1, 3], num_vertices=6, directed=False)}
    found = triples(function(graph, **options))
    turned = [(v, u, e) for u, v, e in triples(graph)] if name == "predecessors" else triples(graph)
    assert found and {*found} <= {*turned} and len({*found}) == len(found)


def test_no_function_that_gives_a_graph_is_forgotten():
    others = {"condensation", "line_graph", "quotient_graph", "transitive_closure"}  # of other vertices, or arcs
    functions = {name: getattr(tg.algorithms, name) for name in tg.algorithms.__all__}
    found = {
        name for name, each in functions.items() if "Graph" in str(getattr(each, "__annotations__", {}).get("return"))
    }
    assert found == others | PARTS.keys()
