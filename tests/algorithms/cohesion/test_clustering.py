"""Clustering coefficients against networkx, and directed ones against their definition."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from strategies import arcs, close, graphs, merged_twin, random_graph, simple_twin

import tgraph as tg
from tgraph.algorithms import average_clustering, clustering, local_clustering, square_clustering, transitivity


def by_definition(graph):
    """Of the ordered pairs of vertices with an arc to or from a vertex, the fraction that an arc joins."""
    joined = {(u, v) for u, v, _ in arcs(graph) if u != v}
    near = [set() for _ in range(graph.num_vertices)]
    for u, v in joined:
        near[u].add(v)
        near[v].add(u)
    return [
        sum((a, b) in joined for a in others for b in others) / max(len(others) * (len(others) - 1), 1)
        for others in near
    ]


@given(graphs(directed=False))
def test_undirected_coefficients_equal_networkx(graph):
    at = nx.clustering(simple_twin(graph))
    for name in ("auto", "portable"):
        found = local_clustering(graph, backend=name)
        assert found.dtype == torch.float64
        assert close(found.tolist(), [at[v] for v in range(graph.num_vertices)])


@given(graphs())
def test_coefficients_follow_the_definition(graph):
    for name in ("auto", "portable"):
        assert close(local_clustering(graph, backend=name).tolist(), by_definition(graph))


@pytest.mark.parametrize("directed", [True, False])
def test_a_larger_graph_with_hubs(directed, backend):
    graph = random_graph(80, 1500, seed=2, directed=directed)
    assert close(local_clustering(graph, backend=backend).tolist(), by_definition(graph))


def test_arcs_both_ways_count_twice(backend):
    """The neighbours 1 and 2 of vertex 0 are joined by one arc of two, then by both."""
    assert local_clustering(tg.Graph.from_edges([0, 2, 1], [1, 0, 2]), backend=backend)[0] == 0.5
    assert local_clustering(tg.Graph.from_edges([0, 2, 1, 2], [1, 0, 2, 1]), backend=backend)[0] == 1
    assert local_clustering(tg.Graph.from_edges([0, 2, 1, 1], [1, 0, 2, 2]), backend=backend)[0] == 0.5


def test_the_smallest_graphs(backend):
    for n in (0, 1, 2):
        assert local_clustering(tg.Graph.from_edges([], [], num_vertices=n), backend=backend).tolist() == [0] * n
    assert local_clustering(tg.Graph.from_edges([0, 0], [1, 0], directed=False), backend=backend).tolist() == [0, 0]


# ---- the measures of networkx --------------------------------------------------------------------------------------


@given(graphs(dtypes=(torch.float64, torch.int32), lowest=1))
def test_clusterings_equal_networkx(graph):
    G = merged_twin(graph.without_self_loops(), lambda weights: weights[0])
    vertices = range(graph.num_vertices)
    for weighted in (False, True):
        at = nx.clustering(G, weight="weight" if weighted else None)
        assert close(clustering(graph, weighted=weighted).tolist(), [at[v] for v in vertices])
    if not graph.directed:
        assert close([transitivity(graph)], [nx.transitivity(G)])
        squares = nx.square_clustering(G)
        assert close(square_clustering(graph).tolist(), [squares[v] for v in vertices])
        if vertices:
            for zeros in (True, False):
                some = zeros or any(nx.clustering(G).values())
                mean = nx.average_clustering(G, count_zeros=zeros) if some else 0
                assert close([average_clustering(graph, count_zeros=zeros)], [mean])


@pytest.mark.parametrize("directed", [True, False])
def test_clusterings_of_a_larger_graph(directed, kernels):
    graph = random_graph(80, 1500, seed=2, directed=directed, dtype=torch.float64)
    at = nx.clustering(merged_twin(graph.without_self_loops(), lambda weights: weights[0]), weight="weight")
    assert close(clustering(graph, weighted=True).tolist(), [at[v] for v in range(80)])


def test_squares_of_a_larger_graph(kernels):
    graph = random_graph(80, 900, seed=3, directed=False)
    squares = nx.square_clustering(simple_twin(graph))
    assert close(square_clustering(graph).tolist(), [squares[v] for v in range(80)])
