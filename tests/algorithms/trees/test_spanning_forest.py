"""Spanning forests against networkx, and their ties against the order of edges."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from strategies import arcs, graphs, grid, random_graph

import tgraph as tg
from tgraph.algorithms import maximum_spanning_forest, minimum_spanning_forest
from tgraph.errors import ArgumentError

DTYPES = (None, torch.uint8, torch.int32, torch.int64, torch.float32, torch.float64)


def in_order(graph, sign=1):
    """The forest by a pass over the edges in order, by weight and then by ends (Kruskal)."""
    tree = list(range(graph.num_vertices))
    found = []
    for weight, u, v in sorted((sign * weight, u, v) for u, v, weight in arcs(graph) if u < v):
        if tree[u] != tree[v]:
            found.append((u, v, sign * weight))
            tree = [tree[u] if root == tree[v] else root for root in tree]
    return sorted(found)


def edges(forest):
    return sorted((u, v, weight) for u, v, weight in arcs(forest) if u < v)


@given(graphs(directed=False, dtypes=DTYPES, lowest=0))
def test_forests_equal_kruskals(graph):
    assert edges(minimum_spanning_forest(graph)) == in_order(graph)
    assert edges(maximum_spanning_forest(graph)) == in_order(graph, -1)
    minimum_spanning_forest(graph).validate()


@pytest.mark.parametrize("graph", [random_graph(300, 3000, seed=1, directed=False, dtype=torch.int64), grid(20, 20)])
def test_larger_graphs(graph, kernels):
    assert edges(minimum_spanning_forest(graph)) == in_order(graph)


def test_the_weight_equals_networkx():
    graph = tg.generators.rmat(9, weighted=True)
    expected = nx.minimum_spanning_tree(graph.to_networkx()).size("weight")
    forest = minimum_spanning_forest(graph)
    assert float(forest.weights.sum()) / 2 == expected and not forest.directed


def test_rows_of_parallel_edges(kernels):
    """Of parallel edges the two arcs of the lightest are kept."""
    u, v = torch.tensor([0, 0, 0, 1, 1, 2]), torch.tensor([1, 1, 1, 2, 2, 2])
    graph = tg.Graph.from_edges(u, v, torch.tensor([3, 1, 2, 9, 4, 0]), directed=False)
    forest = minimum_spanning_forest(graph).validate()
    assert forest.offset.tolist() == [0, 1, 3, 4] and forest.neighbors.tolist() == [1, 0, 2, 1]
    assert forest.weights.tolist() == [1, 1, 4, 4]


def test_ids():
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], directed=False, vertices=["a", "b", "c"])
    assert minimum_spanning_forest(graph).vertices.tolist() == ["a", "b", "c"]


def test_what_is_refused():
    with pytest.raises(ArgumentError, match="nan at position 0, arc 0 -> 1"):
        minimum_spanning_forest(tg.Graph.from_edges([0], [1], torch.tensor([float("nan")]), directed=False))
    assert minimum_spanning_forest(tg.Graph.from_edges([], [], directed=False)).num_vertices == 0
