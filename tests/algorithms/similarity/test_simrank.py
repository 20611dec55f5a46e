"""SimRank against networkx, and its estimates against the exact values."""

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from strategies import graphs, merged_twin, on_threads, random_graph, refused

import tgraph as tg
from tgraph.algorithms import approximate_simrank, simrank
from tgraph.errors import NotConvergedError


def expected(graph, weighted, **options):
    """By networkx, in which parallel edges are one of their weight."""
    G = merged_twin(graph, sum, weighted)
    found = nx.simrank_similarity(G, **options)
    return np.array([[found[u][v] for v in G] for u in G]).reshape(len(G), len(G))


@given(graphs(min_vertices=1, dtypes=(None, torch.int32, torch.float64)))
def test_all_pairs_are_those_of_networkx(graph):
    for weighted in {False, graph.weights is not None}:
        options = {"importance_factor": 0.7, "tolerance": 1e-5} if weighted else {}
        ours = {"importance_factor": 0.7, "tol": 1e-5} if weighted else {}
        assert np.allclose(simrank(graph, weighted=weighted, **ours), expected(graph, weighted, **options))


def test_a_larger_graph():
    graph = random_graph(80, 400, seed=1)
    found = simrank(graph)
    assert np.allclose(found, expected(graph, False)) and torch.allclose(found, found.T)


@settings(max_examples=10)
@given(graphs(min_vertices=1))
def test_estimates(graph):
    found = approximate_simrank(graph, 0, importance_factor=0.6, epsilon=0.2, delta=1e-5)
    assert float((found - simrank(graph, importance_factor=0.6, tol=1e-6)[0]).abs().max()) <= 0.2


def test_better_estimates():
    graph = random_graph(60, 240, seed=3, directed=False)
    exact = simrank(graph, importance_factor=0.7, tol=1e-6)[5]
    one, *others = on_threads(lambda: approximate_simrank(graph, 5, importance_factor=0.7, epsilon=0.1, seed=3))
    assert float((one - exact).abs().max()) <= 0.1 and float(one[5]) == 1
    assert all(torch.equal(one, other) for other in others)
    assert not torch.equal(one, approximate_simrank(graph, 5, importance_factor=0.7, epsilon=0.1, seed=4))


def test_small_graphs_and_arguments():
    assert simrank(tg.Graph.from_edges([], [])).shape == (0, 0)
    graph = tg.Graph.from_edges([0, 0], [1, 2])
    assert simrank(graph)[1].tolist() == pytest.approx([0, 1, 0.9])
    assert simrank(graph, importance_factor=0).tolist() == torch.eye(3).tolist()
    with pytest.raises(NotConvergedError, match="max_iterations: values still change"):
        simrank(random_graph(20, 60), max_iterations=1)
    refused("importance_factor: must be between 0 and 1, got 2", simrank, graph, importance_factor=2)
    refused("delta: must be between", approximate_simrank, graph, 0, delta=0)
    refused("source", approximate_simrank, graph, 9)
