"""Label propagation against a slow reference of the rules of LDBC Graphalytics."""

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import arcs, graphs, grid, random_graph

import tgraph as tg
from tgraph.algorithms import cdlp
from tgraph.errors import ArgumentError


def by_definition(graph, iterations):
    labels = graph.ids(torch.arange(graph.num_vertices)).tolist()
    for _ in range(iterations):
        votes = [Counter() for _ in labels]
        for u, v, _ in arcs(graph):
            votes[u][labels[v]] += 1
            if graph.directed:
                votes[v][labels[u]] += 1
        labels = [
            min(heard, key=lambda label, heard=heard: (-heard[label], label)) if heard else own
            for heard, own in zip(votes, labels, strict=True)
        ]
    return labels


@given(graphs(), st.integers(0, 5))
def test_labels_follow_the_definition(graph, iterations):
    for name in ("auto", "portable"):
        found = cdlp(graph, iterations=iterations, backend=name)
        assert found.dtype == torch.int64 and found.tolist() == by_definition(graph, iterations)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("m", [400, 4000])
def test_a_larger_graph_with_hubs(directed, m, backend):
    graph = random_graph(300, m, seed=4, directed=directed)
    for iterations in (1, 2, 10):
        assert cdlp(graph, iterations=iterations, backend=backend).tolist() == by_definition(graph, iterations)


def test_labels_that_swap_for_ever(backend):
    edge = tg.Graph.from_edges([0], [1], directed=False)
    assert [cdlp(edge, iterations=k, backend=backend).tolist() for k in (0, 1, 2, 3)] == [[0, 1], [1, 0]] * 2
    graph = grid(6, 7)
    assert cdlp(graph, backend=backend).tolist() == by_definition(graph, 10)


def test_the_smallest_of_equal_labels_is_that_of_the_smallest_id(backend):
    """The ids descend while the indices ascend."""
    graph = random_graph(60, 200, seed=5)
    named = tg.Graph(graph.offset, graph.neighbors, vertices=torch.arange(60).flip(0) * 10)
    found = cdlp(named, iterations=4, backend=backend)
    assert named.ids(found).tolist() == by_definition(named, 4)
    assert found.tolist() != cdlp(graph, iterations=4, backend=backend).tolist()


def test_labelled_vertices_go_by_index(backend):
    graph = tg.Graph.from_edges([0, 0], [1, 2], vertices=["c", "b", "a"], directed=False)
    assert cdlp(graph, iterations=1, backend=backend).tolist() == [1, 0, 0]


def test_the_smallest_graphs(backend):
    for n in (0, 1, 2):
        assert cdlp(tg.Graph.from_edges([], [], num_vertices=n), backend=backend).tolist() == list(range(n))
    assert cdlp(tg.Graph.from_edges([1], [1]), backend=backend).tolist() == [0, 1]


@pytest.mark.parametrize("iterations", [-1, 2.5, "ten"])
def test_iterations_are_checked(iterations):
    with pytest.raises(ArgumentError, match="iterations"):
        cdlp(grid(2, 2), iterations=iterations)
