"""HITS against a dense power iteration, and against networkx where the dominant singular value is simple."""

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from strategies import BACKENDS, FLOATS, INTEGERS, close, dense, graphs, random_graph

import tgraph as tg
from tgraph.algorithms import HITS, hits
from tgraph.errors import ArgumentError, NotConvergedError


def power_iteration(matrix, rounds):
    hub = np.full(len(matrix), 1 / max(len(matrix), 1))
    authority = hub
    for _ in range(rounds):
        authority = _scaled(matrix.T @ hub)
        hub = _scaled(matrix @ authority)
    return hub, authority


def _scaled(score):
    return score / score.sum() if score.sum() else score


@given(graphs(dtypes=(None, *INTEGERS, *FLOATS)))
def test_rounds_equal_dense_power_iteration(graph):
    for weighted in (False, True)[: 1 + (graph.weights is not None)]:
        expected = power_iteration(dense(graph, weighted), 6)
        for backend in BACKENDS:
            found = hits(graph, tol=None, max_iterations=6, weighted=weighted, dtype=torch.float64, backend=backend)
            assert [score.dtype for score in found] == [torch.float64] * 2
            assert close(found[0].tolist(), expected[0]) and close(found[1].tolist(), expected[1])


def test_equals_networkx_where_the_answer_is_unique(backend):
    for directed in (True, False):
        graph = random_graph(40, 200, directed=directed)
        values = np.linalg.svd(dense(graph, False), compute_uv=False)
        assert values[1] < 0.9 * values[0]
        G = (nx.DiGraph if directed else nx.Graph)(dense(graph, False))
        expected = nx.hits(G)
        options = {"tol": 1e-12, "dtype": torch.float64, "backend": backend}
        found = hits(graph, **options)
        for score, reference in zip(found, expected, strict=True):
            assert close(score.tolist(), [reference[v] for v in range(40)], 1e-8)


def test_the_fixpoint_belongs_to_the_dominant_singular_value():
    graph = random_graph(30, 120)
    hub, authority = (score.numpy() for score in hits(graph, tol=1e-13, dtype=torch.float64))
    matrix = dense(graph, False)
    assert np.isclose((matrix.T @ hub).sum() * (matrix @ authority).sum(), np.linalg.norm(matrix, 2) ** 2)


@pytest.mark.parametrize("weights", [None, torch.int32, torch.float16, torch.float64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scores_are_kept_in_the_dtype_asked_for(weights, dtype):
    graph = random_graph(20, 60, dtype=weights)
    for score in hits(graph, weighted=weights is not None, dtype=dtype):
        assert score.dtype == dtype and abs(float(score.sum()) - 1) < 1e-5


def test_the_smallest_graphs(backend):
    assert [score.tolist() for score in hits(tg.Graph.from_edges([], []), backend=backend)] == [[], []]
    alone = tg.Graph.from_edges([], [], num_vertices=2)
    assert [score.tolist() for score in hits(alone, backend=backend)] == [[0, 0], [0, 0]]
    assert [score.tolist() for score in hits(tg.Graph.from_edges([0], [1]), backend=backend)] == [[1, 0], [0, 1]]


def test_not_converged_carries_both_scores():
    graph = random_graph(40, 100)
    with pytest.raises(NotConvergedError) as caught:
        hits(graph, tol=1e-12, max_iterations=2, dtype=torch.float64)
    run = caught.value.run
    assert run.iterations == 2 and run.residual > 1e-12
    expected = power_iteration(dense(graph, False), 2)
    assert close(run.values["hub"].tolist(), expected[0]) and close(run.values["authority"].tolist(), expected[1])


def test_rounds_are_counted():
    run = tg.run(HITS(tol=None, max_iterations=3), random_graph(10, 30))
    assert run.iterations == 3 and run.converged


@pytest.mark.parametrize("algorithm", [tg.algorithms.hits, tg.algorithms.pagerank])
def test_scores_are_floating(algorithm):
    with pytest.raises(ArgumentError, match="dtype"):
        algorithm(tg.Graph.from_edges([0], [1]), dtype=torch.int32)
