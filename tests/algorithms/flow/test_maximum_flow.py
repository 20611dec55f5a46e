"""Flows and cuts against networkx and scipy; every flow is checked arc by arc."""

import math

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import BACKENDS, arcs, graphs, grid, merged_twin, random_graph, refused

import tgraph as tg
from tgraph.algorithms import maximum_flow, maximum_flow_value, minimum_cut, minimum_cut_value
from tgraph.errors import ArgumentError


def check(graph, flow, value, source, target, weighted=True):
    """Within capacities, and what arrives leaves."""
    tail = torch.repeat_interleave(torch.arange(graph.num_vertices), graph.out_degree)
    capacity = torch.ones_like(tail) if graph.weights is None or not weighted else graph.weights
    assert bool((flow >= 0).all()) and bool((flow <= capacity).all())
    leaves = torch.zeros(graph.num_vertices, dtype=flow.dtype).index_add_(0, tail, flow)
    arrives = torch.zeros(graph.num_vertices, dtype=flow.dtype).index_add_(0, graph.neighbors.long(), flow)
    expected = torch.zeros_like(leaves)
    expected[source], expected[target] = value, -value
    assert torch.allclose(leaves - arrives, expected)


@given(graphs(min_vertices=2, dtypes=(None, torch.int8, torch.int64, torch.float32, torch.float64)), st.data())
def test_flows_and_cuts_are_those_of_networkx(graph, data):
    vertex = st.integers(0, graph.num_vertices - 1)
    source, target, weighted = data.draw(vertex), data.draw(vertex), data.draw(st.booleans())
    assume(source != target)
    value, (near, _) = nx.minimum_cut(merged_twin(graph, sum, weighted), source, target, "weight")
    for backend in BACKENDS:
        options = {"weighted": weighted, "backend": backend}
        found, flow = maximum_flow(graph, source, target, **options)
        assert found == value == maximum_flow_value(graph, source, target, **options)
        check(graph, flow, value, source, target, weighted)
        found, side = minimum_cut(graph, source, target, **options)
        assert found == value and set(side.nonzero().flatten().tolist()) == near


def test_a_larger_graph(backend):
    graph = random_graph(60, 500, seed=5, dtype=torch.int32)
    dense = np.zeros((60, 60), dtype=np.int32)
    for u, v, capacity in arcs(graph):
        dense[u, v] += capacity
    for target in (1, 17, 59):
        expected = scipy.sparse.csgraph.maximum_flow(scipy.sparse.csr_matrix(dense), 0, target).flow_value
        value, flow = maximum_flow(graph, 0, target, backend=backend)
        assert value == expected
        check(graph, flow, value, 0, target)


def test_many_phases():
    graph = grid(30, 40, torch.float32)
    value, flow = maximum_flow(graph, 0, 1199)
    check(graph, flow, value, 0, 1199)
    assert value == minimum_cut_value(graph.to_format("sell"), 0, 1199)


def test_capacities_that_round():
    """0.1 + 0.2 is not 0.3 in float64, but every phase fills an arc."""
    src, dst, capacity = [0, 0, 1, 1, 2, 3, 3, 4], [1, 2, 3, 4, 3, 5, 4, 5], [0.1, 0.2, 0.07, 0.3, 0.3, 0.15, 0.1, 0.9]
    graph = tg.Graph.from_edges(src, dst, capacity)
    value, flow = maximum_flow(graph, 0, 5)
    assert value == pytest.approx(0.3)
    check(graph, flow, value, 0, 5)


def test_what_cannot_be(backend):
    graph = tg.Graph.from_edges([0, 1], [1, 2], [1.0, -1.0])
    refused("is the source", maximum_flow, graph, 1, 1, backend=backend)
    refused(r"-1\.0 at position 1, arc 1 -> 2", maximum_flow, graph, 0, 2, backend=backend)
    with pytest.raises(ArgumentError, match="the flow has no limit"):
        maximum_flow(tg.Graph.from_edges([0, 1], [1, 2], [math.inf, math.inf]), 0, 2, backend=backend)
    with pytest.raises(ArgumentError, match=r"1e-20 at position 1, arc 1 -> 2; it is rounded away in sums as large as"):
        maximum_flow(tg.Graph.from_edges([0, 1], [1, 2], [1e20, 1e-20]), 0, 2, backend=backend)
    assert maximum_flow_value(tg.Graph.from_edges([0, 1], [1, 2], [math.inf, 2]), 0, 2, backend=backend) == 2


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", [torch.int32, torch.float64])
def test_long_paths_whose_arcs_carry_little(directed, dtype):
    """A strip of squares, as long as maps are wide, which is where capacities are scaled."""
    strip = tg.generators.grid2d(4, 150, weighted=True)
    weights = strip.weights.to(dtype) / (1 if dtype == torch.int32 else 8)
    graph = tg.Graph(strip.offset, strip.neighbors, weights.to(dtype), directed=directed)
    n, scaled = graph.num_vertices, (weights * (1 if dtype == torch.int32 else 8)).to(torch.int32)
    matrix = scipy.sparse.csr_array((scaled.numpy(), graph.neighbors.numpy(), graph.offset.numpy()), shape=(n, n))
    for source, target in ((0, n - 1), (150, 299), (n - 1, 75)):
        value, flow = maximum_flow(graph, source, target)
        expected = scipy.sparse.csgraph.maximum_flow(matrix, source, target).flow_value
        assert value == (expected if dtype == torch.int32 else expected / 8)
        check(graph, flow, value, source, target)
        found, side = minimum_cut(graph, source, target)
        leaving = side[torch.repeat_interleave(torch.arange(n), graph.out_degree)] & ~side[graph.neighbors.long()]
        assert found == value == graph.weights[leaving].sum().item()


@pytest.mark.parametrize("dtype", [torch.int16, torch.float64])
def test_parallel_edges_whose_arcs_back_stand_in_another_order(dtype):
    offset, neighbors = [0, 3, 9, 12], [1, 1, 1, 0, 0, 0, 2, 2, 2, 1, 1, 1]
    weights = torch.tensor([4, 7, 1, 7, 4, 1, 2, 2, 5, 2, 5, 2], dtype=dtype)
    graph = tg.Graph(torch.tensor(offset), torch.tensor(neighbors, dtype=torch.int32), weights, directed=False)
    for source, target in ((0, 2), (2, 0)):
        value, flow = maximum_flow(graph, source, target)
        assert value == 9
        check(graph, flow, value, source, target)
    assert maximum_flow_value(graph, 0, 1) == 12
    assert minimum_cut(graph, 0, 2)[1].tolist() == [True, True, False]


def test_an_undirected_graph_is_not_transposed():
    graph = grid(20, 20, torch.int32)
    assert maximum_flow(graph, 0, 399, backend="native")[0] == minimum_cut_value(graph, 399, 0, backend="native")
    assert "transpose_permutation" not in graph.caches
