"""Shortest paths between all pairs against scipy and networkx."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph
import torch
from hypothesis import given
from strategies import graphs, on_threads, random_graph, refused, twin

import tgraph as tg
from tgraph.algorithms import floyd_warshall
from tgraph.errors import ArgumentError, NegativeCycleError

shorten = tg.primitives.all_pairs.shorten


def check_paths(graph, distance, before, weighted):
    """Each predecessor is on a shortest path."""
    shortest = {}
    for u, v, w in twin(graph).edges(data="weight"):
        shortest[u, v] = min(shortest.get((u, v), np.inf), w if weighted else 1)
    for i in range(graph.num_vertices):
        for j in range(graph.num_vertices):
            p = int(before[i, j])
            assert (p >= 0) == (i != j and distance[i, j] < np.inf)
            assert p < 0 or distance[i, p] + shortest[p, j] == pytest.approx(distance[i, j])


@given(graphs(dtypes=(None, torch.int8, torch.float32, torch.float64)))
def test_distances_are_those_of_networkx(kernels, graph):
    for weighted in (True, False):
        distance, before = floyd_warshall(graph, weighted=weighted)
        G = twin(graph)
        expected = nx.floyd_warshall(G, weight="weight" if weighted else None)
        n = graph.num_vertices
        assert distance.tolist() == [[expected[i][j] for j in range(n)] for i in range(n)]
        check_paths(graph, distance.numpy(), before, weighted)


@given(graphs(directed=True, dtypes=(torch.int64,), lowest=-2))
def test_negative_weights(kernels, graph):
    if nx.negative_edge_cycle(twin(graph)):
        with pytest.raises(NegativeCycleError):
            floyd_warshall(graph)
        return
    distance, before = floyd_warshall(graph)
    for source, row in enumerate(distance.tolist()):
        lengths = nx.single_source_bellman_ford_path_length(twin(graph), source)
        assert row == [lengths.get(v, np.inf) for v in range(graph.num_vertices)]
    check_paths(graph, distance.numpy(), before, True)


def test_several_blocks():
    graph = random_graph(150, 900, seed=3, dtype=torch.float64)
    (distance, before), *others = on_threads(lambda: floyd_warshall(graph))
    for other, again in others:
        assert torch.equal(distance, other) and torch.equal(before, again)
    lightest = tg.Graph.from_edges(*graph.to_edge_index(), graph.weights, num_vertices=150, multi="min")
    expected = scipy.sparse.csgraph.floyd_warshall(lightest.to_scipy())
    assert np.array_equal(distance.numpy(), expected)
    assert torch.equal(distance, floyd_warshall(graph, predecessors=False)[0])


def test_backends_take_the_same_paths(monkeypatch):
    graph = random_graph(150, 900, seed=3, dtype=torch.int64)
    compiled = floyd_warshall(graph)
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    portable = floyd_warshall(graph.to_format("sell"))
    assert torch.equal(compiled[0], portable[0]) and torch.equal(compiled[1], portable[1])


def test_what_cannot_be():
    refused(r"nan at position 1, arc 1 -> 2", floyd_warshall, tg.Graph.from_edges([0, 1], [1, 2], [1.0, float("nan")]))
    refused(r"distance: expected torch.float64 \[n, n\]", shorten, torch.zeros(2, 3))
    with pytest.raises(ArgumentError, match="predecessor: expected contiguous"):
        shorten(torch.zeros(2, 2, dtype=torch.float64), torch.zeros(3, 3, dtype=torch.int64))
    with pytest.raises(NegativeCycleError):
        floyd_warshall(tg.Graph.from_edges([0, 1], [1, 1], [1, -1]))
