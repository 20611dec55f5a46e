"""Minimum cuts of whole graphs against networkx."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from strategies import arcs, graphs, grid, merged_twin, random_graph

import tgraph as tg
from tgraph.algorithms import stoer_wagner
from tgraph.errors import ArgumentError

DTYPES = (None, torch.uint8, torch.int64, torch.float32, torch.float64)


def capacity(graph, side, weighted):
    """What the edges from the one side to the other weigh."""
    return sum(w if weighted else 1 for u, v, w in arcs(graph) if side[u] and not side[v])


def expected(graph, weighted):
    G = merged_twin(graph.without_self_loops(), sum, weighted)
    return nx.stoer_wagner(G)[0] if nx.is_connected(G) else 0


@given(graphs(min_vertices=2, directed=False, dtypes=DTYPES))
def test_cuts_are_those_of_networkx(kernels, graph):
    for weighted in (True, False):
        value, side = stoer_wagner(graph, weighted=weighted)
        assert value == expected(graph, weighted) == capacity(graph, side.tolist(), weighted)
        assert side.dtype == torch.bool and 0 < 2 * int(side.sum()) <= graph.num_vertices
        assert isinstance(value, float) == bool(
            weighted and graph.weight_dtype and graph.weight_dtype.is_floating_point
        )


@pytest.mark.parametrize("seed", range(4))
def test_larger_graphs(seed):
    """Connected by a ring, so that the cut is not 0, with few light edges between two halves."""
    ring = torch.arange(120)
    found = random_graph(120, 700, seed=seed, directed=False, dtype=torch.int64)
    source = torch.cat((ring, torch.arange(120).repeat_interleave(found.out_degree)))
    target = torch.cat(((ring + 1) % 120, found.neighbors.long()))
    weights = torch.cat((torch.ones(120, dtype=torch.int64), found.weights))
    kept = ((source < 60) == (target < 60)) | (torch.arange(len(source)) % 40 == 0) | (torch.arange(len(source)) < 120)
    graph = tg.Graph.from_edges(source[kept], target[kept], weights[kept], num_vertices=120, directed=False)
    value, side = stoer_wagner(graph)
    assert value == expected(graph, True) == capacity(graph, side.tolist(), True)


def test_floats_that_round():
    value = stoer_wagner(grid(12, 12, torch.float32))[0]
    assert value == pytest.approx(expected(grid(12, 12, torch.float32), True))
    tenth = tg.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], [0.1, 0.2, 0.3, 0.7, 0.1], directed=False)
    assert stoer_wagner(tenth)[0] == pytest.approx(0.3)


def test_what_cannot_be(kernels):
    with pytest.raises(ArgumentError, match="two sides, the graph 1 vertices"):
        stoer_wagner(tg.Graph.from_edges([], [], num_vertices=1, directed=False))
    with pytest.raises(ArgumentError, match=r"-1 at position 0, arc 0 -> 1"):
        stoer_wagner(tg.Graph.from_edges([0], [1], [-1], directed=False))


@pytest.mark.parametrize("lightest", [1e-20, 5e-324])
def test_a_weight_that_is_rounded_away(kernels, lightest):
    graph = tg.Graph.from_edges([0, 1, 0, 2], [1, 2, 2, 3], [1e5, 1e5, 1e5, lightest], directed=False)
    with pytest.raises(ArgumentError, match=rf"weights: {lightest} at position .*, arc 2 -> 3; it is rounded away"):
        stoer_wagner(graph)
    assert stoer_wagner(graph, weighted=False)[0] == 1
