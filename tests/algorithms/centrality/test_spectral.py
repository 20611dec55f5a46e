"""Eigenvector, Katz, Laplacian and subgraph centrality, and degrees, against networkx and dense linear algebra."""

import sys

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import graphs, networkx_of, random_graph, refused, same_on_threads

import tgraph as tg
from tgraph.algorithms import degree_centrality, eigenvector, katz, laplacian_centrality, subgraph_centrality
from tgraph.errors import NotConvergedError

WEIGHTS = (None, torch.int32, torch.float64)


def same(found, expected, rel=1e-9, within=1e-12):
    assert found.tolist() == pytest.approx(list(expected.values()), rel=rel, abs=within)


def simple(graph):
    """The graph without parallel edges, which networkx refuses here."""
    if not graph.directed:
        return graph.to_undirected(multi="first")
    source = torch.arange(graph.num_vertices).repeat_interleave(graph.out_degree)
    n = graph.num_vertices
    return tg.Graph.from_edges(source, graph.neighbors, graph.weights, num_vertices=n, multi="first")


@given(graphs())
def test_degrees(graph):
    G = networkx_of(graph)
    same(degree_centrality(graph), nx.degree_centrality(G))
    if graph.directed and graph.num_vertices > 1:
        same(degree_centrality(graph, direction="in"), nx.in_degree_centrality(G))
        same(degree_centrality(graph, direction="out"), nx.out_degree_centrality(G))


@given(graphs(min_vertices=1, dtypes=WEIGHTS), st.booleans())
def test_walks(graph, weighted):
    graph = simple(graph)
    assume(graph.weights is not None or not weighted)
    G, weight = networkx_of(graph), "weight" if weighted else None
    try:
        expected = nx.eigenvector_centrality(G, weight=weight, max_iter=300)
    except nx.PowerIterationFailedConvergence:
        with pytest.raises(NotConvergedError):
            eigenvector(graph, weighted=weighted, max_iterations=300)
    else:
        same(
            eigenvector(graph, weighted=weighted, max_iterations=300), expected, rel=1e-6, within=1e-5
        )  # where they stop
    beta = torch.arange(1.0, graph.num_vertices + 1)
    for options in ({}, {"normalized": False}):
        theirs = nx.katz_centrality(G, 0.002, dict(enumerate(beta.tolist())), weight=weight, **options)
        same(katz(graph, alpha=0.002, beta=beta, weighted=weighted, **options), theirs)


@given(graphs(min_vertices=1, directed=False, dtypes=WEIGHTS, lowest=1), st.booleans())
def test_laplacian(graph, normalized):
    weighted = graph.weights is not None
    G = networkx_of(graph)
    found = laplacian_centrality(graph, normalized=normalized, weighted=weighted)
    if not G.size():
        assert found.tolist() == [0] * len(found)
    elif graph.num_edges > graph.num_self_loops:  # networkx divides by an energy of zero
        same(found, nx.laplacian_centrality(G, normalized, weight="weight" if weighted else None))


@given(graphs(min_vertices=1, directed=False), st.booleans())
def test_closed_walks(graph, normalized):
    expected = nx.subgraph_centrality(nx.Graph(networkx_of(graph)), normalized=normalized)
    for method in ("dense", "lanczos"):
        same(subgraph_centrality(graph, normalized=normalized, method=method), expected, rel=1e-7)


def test_closed_walks_in_a_larger_graph(monkeypatch):
    monkeypatch.setattr(sys.modules[subgraph_centrality.__module__], "DENSE", 300)
    n, graph = 400, random_graph(400, 1250, directed=False)
    matrix = np.zeros((n, n))
    source = torch.arange(n).repeat_interleave(graph.out_degree)
    matrix[source, graph.neighbors] = 1
    values, vectors = np.linalg.eigh(matrix)
    assert np.allclose(subgraph_centrality(graph), vectors**2 @ np.exp(values), rtol=1e-8)


def test_threads_and_backends():
    graph = random_graph(3000, 40_000, dtype=torch.float64)
    for function in (eigenvector, lambda g, **options: katz(g, alpha=1e-4, **options)):
        one = same_on_threads(lambda function=function: function(graph, weighted=True, max_iterations=2000))
        portable = function(graph, weighted=True, max_iterations=2000, backend="portable")
        assert torch.allclose(one, portable, rtol=1e-9, atol=1e-14)


def test_small_graphs_and_arguments():
    empty, arc = tg.Graph.from_edges([], []), tg.Graph.from_edges([0], [1])
    assert [len(f(empty)) for f in (eigenvector, katz, degree_centrality)] == [0, 0, 0]
    assert degree_centrality(tg.Graph.from_edges([], [], num_vertices=1)).tolist() == [1]
    for function in (laplacian_centrality, subgraph_centrality):
        assert len(function(tg.Graph.from_edges([], [], directed=False))) == 0
    undirected = tg.Graph.from_edges([0], [1], directed=False)
    refused("direction: 'up'", degree_centrality, arc, direction="up")
    refused("undirected graph has no 'in'", degree_centrality, undirected, direction="in")
    refused("method: 'no'", subgraph_centrality, undirected, method="no")
    refused(r"beta: expected a number or \[2\]", katz, arc, beta=torch.ones(3))
    refused(r"start: expected \[2\]", eigenvector, arc, start=torch.zeros(2))
    with pytest.raises(NotConvergedError):
        katz(undirected, alpha=2.0)
