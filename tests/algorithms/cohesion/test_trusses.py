"""Trusses against networkx."""

import networkx as nx
import torch
from hypothesis import given
from strategies import arcs, graphs, random_graph, simple_twin

import tgraph as tg
from tgraph.algorithms import k_truss, truss_number


def edges(graph):
    """The edges by original ids."""
    names = graph.ids(torch.arange(graph.num_vertices))
    return {tuple(sorted((int(names[u]), int(names[v])))) for u, v, _ in arcs(graph)}


@given(graphs(directed=False))
def test_trusses_equal_networkx(graph):
    G = simple_twin(graph)
    numbers = truss_number(graph).tolist()
    for k in (2, 3, 4, 5):
        expected = {tuple(sorted(edge)) for edge in nx.k_truss(G, k).edges()}
        assert edges(k_truss(graph, k)) == expected
        found = {(u, v) for (u, v, _), number in zip(arcs(graph), numbers, strict=True) if u < v and number >= k}
        assert found == expected


def test_a_larger_graph_with_hubs(kernels):
    graph = random_graph(100, 2500, seed=2, directed=False)
    assert edges(k_truss(graph, 8)) == {tuple(sorted(edge)) for edge in nx.k_truss(simple_twin(graph), 8).edges()}


def test_known_numbers(kernels):
    clique = tg.Graph.from_edges(*torch.combinations(torch.arange(6)).unbind(1), directed=False)
    assert truss_number(clique).tolist() == [6] * 30
    assert truss_number(tg.Graph.from_edges([0, 0], [0, 1], directed=False)).tolist() == [0, 2, 2]
    assert truss_number(tg.Graph.from_edges([0], [0], directed=False)).tolist() == [0]
    assert k_truss(tg.Graph.from_edges([], [], num_vertices=3, directed=False), 2).num_vertices == 0
