"""Triangles against networkx, on the undirected simple graph."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from strategies import graphs, grid, random_graph, simple_twin

import tgraph as tg
from tgraph.algorithms import triangle_count
from tgraph.errors import ArgumentError


def expected(graph):
    at = nx.triangles(simple_twin(graph))
    return [at[v] for v in range(graph.num_vertices)]


@given(graphs())
def test_counts_equal_networkx(graph):
    at = expected(graph)
    for name in ("auto", "portable"):
        found = triangle_count(graph, per_vertex=True, backend=name)
        assert found.dtype == torch.int64 and found.tolist() == at
        total = triangle_count(graph, backend=name)
        assert type(total) is int and 3 * total == sum(at)


@pytest.mark.parametrize("directed", [True, False])
def test_a_larger_graph_with_hubs(directed, backend):
    graph = random_graph(200, 3000, seed=1, directed=directed)
    at = expected(graph)
    assert triangle_count(graph, per_vertex=True, backend=backend).tolist() == at
    assert 3 * triangle_count(graph, backend=backend) == sum(at)


def test_known_counts(backend):
    clique = tg.Graph.from_edges(*torch.combinations(torch.arange(20)).unbind(1), directed=False)
    assert triangle_count(clique, backend=backend) == 20 * 19 * 18 // 6
    assert triangle_count(clique, per_vertex=True, backend=backend).tolist() == [19 * 18 // 2] * 20
    assert triangle_count(grid(20, 30), backend=backend) == 0


def test_the_smallest_graphs(backend):
    for n in (0, 1, 2):
        graph = tg.Graph.from_edges([], [], num_vertices=n)
        assert triangle_count(graph, backend=backend) == 0
        assert triangle_count(graph, per_vertex=True, backend=backend).tolist() == [0] * n
    assert triangle_count(tg.Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 0]), backend=backend) == 1


def test_an_unknown_backend_is_refused():
    with pytest.raises(ArgumentError, match="backend"):
        triangle_count(grid(2, 2), backend="abacus")
