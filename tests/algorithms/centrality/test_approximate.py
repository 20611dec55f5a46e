"""Estimates of betweenness against the exact values, and the random paths that they come from."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graphs, grid, random_graph, refused, same_on_threads

import tgraph as tg
from tgraph.algorithms import approximate_betweenness, betweenness
from tgraph.errors import ArgumentError

inside = tg.primitives.sample_paths.inside


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_no_estimate_is_off_by_more_than_epsilon(directed, seed):
    graph = random_graph(150, 500, seed=seed, directed=directed)
    exact = betweenness(graph)
    for epsilon in (0.05, 0.01):
        found = approximate_betweenness(graph, epsilon=epsilon, delta=0.01, seed=seed)
        assert found.dtype == torch.float64 and float((found - exact).abs().max()) <= epsilon


@settings(max_examples=min(30, settings().max_examples))
@given(graphs(min_vertices=3), st.integers(0, 5))
def test_small_graphs(graph, seed):
    found = approximate_betweenness(graph, epsilon=0.1, delta=1e-6, seed=seed)
    assert float((found - betweenness(graph)).abs().max()) <= 0.1


@settings(max_examples=min(30, settings().max_examples))
@given(graphs(min_vertices=2), st.integers(0, 5))
def test_backends_draw_the_same_pairs(graph, first):
    key = tg.random.key(2)
    compiled, portable = (inside(graph, key, first, 50, backend=name) for name in ("auto", "portable"))
    assert int(compiled.sum()) == int(portable.sum())


@pytest.mark.parametrize("backend", ["auto", "portable"])
def test_paths_are_drawn_alike(backend):
    """Of a grid and of a graph with parallel arcs, about as often as betweenness says."""
    parallel = tg.Graph.from_edges([0, 0, 0, 0, 1, 2, 3], [1, 1, 1, 2, 3, 3, 4], directed=False)
    for graph, count in ((grid(4, 5), 6000), (parallel, 6000)):
        n = graph.num_vertices
        share = inside(graph, tg.random.key(1), 0, count, backend=backend).double() / count * n / (n - 2)
        assert torch.allclose(share, betweenness(graph), atol=0.035)


def test_samples_are_numbered_and_threads_change_nothing():
    graph, key = random_graph(500, 2000, seed=1), tg.random.key(7)
    one = same_on_threads(lambda: inside(graph, key, 0, 400))
    assert torch.equal(inside(graph, key, 0, 150) + inside(graph, key, 150, 250), one)
    one = same_on_threads(lambda: approximate_betweenness(graph, epsilon=0.05, seed=4))
    assert not torch.equal(one, approximate_betweenness(graph, epsilon=0.05, seed=5))


def test_more_paths_than_a_float_counts():
    graph = tg.generators.grid2d(600, 600)
    found = inside(graph, tg.random.key(0), 0, 20)
    assert 0 < int(found.sum()) < 20 * 1200


def test_small_graphs_and_arguments():
    assert approximate_betweenness(tg.Graph.from_edges([], [])).tolist() == []
    assert approximate_betweenness(tg.Graph.from_edges([0], [1])).tolist() == [0, 0]
    assert approximate_betweenness(tg.Graph.from_edges([], [], num_vertices=4)).tolist() == [0] * 4
    graph = tg.Graph.from_edges([0, 1], [1, 2])
    for name in ("epsilon", "delta"):
        with pytest.raises(ArgumentError, match=f"{name}: must be between 0 and 1, got 0"):
            approximate_betweenness(graph, **{name: 0})
    refused("two ends", inside, tg.Graph.from_edges([], [], num_vertices=1), 0, 0, 1)
    refused("must not be negative", inside, graph, 0, -1, 1)
