"""Core numbers against networkx, whose directed ones count arcs both ways."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from strategies import graphs, grid, random_graph, simple_twin

import tgraph as tg
from tgraph.algorithms import core_number, k_core, k_shell, onion_layers


def expected(graph):
    core = nx.core_number(simple_twin(graph, directed=graph.directed))
    return [core[v] for v in range(graph.num_vertices)]


@given(graphs(min_vertices=1))
def test_cores_equal_networkx(graph):
    core = expected(graph)
    for name in ("auto", "portable"):
        found = core_number(graph, backend=name)
        assert found.dtype == torch.int64 and found.tolist() == core


@pytest.mark.parametrize("directed", [True, False])
def test_a_larger_graph_with_hubs(directed, backend):
    graph = random_graph(300, 4000, seed=3, directed=directed)
    assert core_number(graph, backend=backend).tolist() == expected(graph)


def test_known_cores(backend):
    clique = tg.Graph.from_edges(*torch.combinations(torch.arange(8)).unbind(1), num_vertices=9, directed=False)
    assert core_number(clique, backend=backend).tolist() == [7] * 8 + [0]
    assert core_number(grid(9, 11), backend=backend).tolist() == [2] * 99
    path = tg.Graph.from_edges(range(99), range(1, 100), directed=False)
    assert core_number(path, backend=backend).tolist() == [1] * 100


def test_the_smallest_graphs(backend):
    for n in (0, 1, 2):
        assert core_number(tg.Graph.from_edges([], [], num_vertices=n), backend=backend).tolist() == [0] * n
    assert core_number(tg.Graph.from_edges([0, 1], [1, 0]), backend=backend).tolist() == [2, 2]
    assert core_number(tg.Graph.from_edges([0, 0, 0], [1, 1, 0]), backend=backend).tolist() == [1, 1]


@given(graphs(directed=False))
def test_layers_equal_networkx(graph):
    layer = nx.onion_layers(simple_twin(graph))
    assert onion_layers(graph).tolist() == [layer[v] for v in range(graph.num_vertices)]


def test_layers_of_a_larger_graph(kernels):
    graph = random_graph(300, 6000, seed=3, directed=False)
    layer = nx.onion_layers(simple_twin(graph))
    assert onion_layers(graph).tolist() == [layer[v] for v in range(graph.num_vertices)]


@pytest.mark.parametrize("directed", [True, False])
def test_cores_and_shells_keep_ids(directed):
    graph = random_graph(60, 400, seed=4, directed=directed)
    core = torch.tensor(expected(graph))
    for k in (None, 1, 5):
        level = int(core.max()) if k is None else k
        for found, kept in ((k_core(graph, k), core >= level), (k_shell(graph, k), core == level)):
            assert torch.equal(found.ids(torch.arange(found.num_vertices)), kept.nonzero().squeeze(1))
