"""Orders of the vertices: a permutation, with the same results once they are restored."""

import sys

import pytest
import torch
from hypothesis import given, settings
from strategies import graphs, grid, random_graph

import tgraph as tg
from tgraph.errors import ArgumentError, MissingDependencyError
from tgraph.formats.reordering import ORDERS

EVERY = pytest.mark.parametrize("method", ORDERS)


@EVERY
@settings(max_examples=min(30, settings().max_examples))
@given(graph=graphs(dtypes=(None, torch.int64)))
def test_results_come_back_in_the_order_of_the_graph(method, graph):
    reordered = graph.reorder(method)
    n = graph.num_vertices
    assert sorted(reordered.order.tolist()) == list(range(n))
    assert (reordered.num_arcs, reordered.directed) == (graph.num_arcs, graph.directed)
    data = torch.arange(n)
    sums = tg.aggregate(reordered, data[reordered.order])
    assert torch.equal(reordered.restore(sums), tg.aggregate(graph, data))
    if graph.weights is not None:
        assert sorted(reordered.weights.tolist()) == sorted(graph.weights.tolist())
    if n:
        ranks = tg.algorithms.pagerank(graph, dtype=torch.float64, tol=None, max_iterations=9)
        again = tg.algorithms.pagerank(reordered, dtype=torch.float64, tol=None, max_iterations=9)
        torch.testing.assert_close(reordered.restore(again), ranks, rtol=1e-8, atol=1e-10)


@EVERY
def test_ids_go_with_their_vertices(method):
    graph = tg.Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 3], vertices=["a", "b", "c", "d"])
    reordered = graph.reorder(method)
    assert reordered.top(reordered.out_degree, 2) == graph.top(graph.out_degree, 2)
    assert reordered.index("a") == reordered.order.tolist().index(0)


def gap(graph):
    """The mean distance of neighbours."""
    rows = torch.arange(graph.num_vertices).repeat_interleave(graph.out_degree)
    return float((rows - graph.neighbors).abs().double().mean())


def shuffled(graph):
    return graph.permute(torch.randperm(graph.num_vertices, generator=torch.Generator().manual_seed(0)))


@pytest.mark.parametrize("method", ["rcm", "metis"])
def test_neighbours_on_a_grid_come_closer(method):
    graph = shuffled(grid(60, 80))
    assert gap(graph.reorder(method)) < gap(graph) / 1.5


def test_neighbours_in_a_community_come_closer():
    src, dst = torch.randint(0, 100, (2, 40000), generator=torch.Generator().manual_seed(0))
    community = torch.arange(100).repeat(400) * 100
    graph = shuffled(tg.Graph.from_edges(src + community, dst + community, num_vertices=10000, directed=False))
    assert gap(graph.reorder("community")) < gap(graph) / 10


def test_hubs_come_first():
    graph = random_graph(100, 500)
    degree = graph.to_undirected().out_degree
    assert torch.equal(degree[graph.reorder("degree").order], degree.sort(descending=True).values)


def test_order_follows_to_other_layouts():
    graph = random_graph(30, 100).reorder("degree")
    for held in (graph.to_format("sell"), graph.to_format("sell").to_format("csr")):
        assert torch.equal(held.order, graph.order)


def test_a_graph_in_its_own_order_restores_nothing():
    graph, values = random_graph(5, 5), torch.rand(5)
    assert graph.restore(values) is values


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda graph: graph.permute([0, 1, 2]), "order: expected every vertex once, 5 in all, got 3"),
        (lambda graph: graph.permute([0, 1, 2, 3, 5]), "order: 5 at position 4 is no vertex index"),
        (lambda graph: graph.permute([0, 1, 2, 3, 3]), "a vertex stands twice"),
        (lambda graph: graph.reorder("alphabet"), "method: 'alphabet' is not one of"),
        (lambda graph: graph.restore(torch.ones(4)), r"values: expected a tensor with one row per vertex, \[5\]"),
    ],
)
def test_faults(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(random_graph(5, 5))


@pytest.mark.parametrize(("method", "package"), [("rcm", "scipy.sparse.csgraph"), ("metis", "pymetis")])
def test_a_missing_package_is_named(method, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'tgraph\["):
        random_graph(5, 5).reorder(method)
