"""Independent sets, dominating sets and covers by what they are."""

import math

import networkx as nx
import pytest
import torch
from hypothesis import given
from strategies import arcs, graphs, grid, random_graph, simple_twin

import tgraph as tg
from tgraph.algorithms import dominating_set, maximal_independent_set, vertex_cover


def check_independent(graph, chosen):
    G, held = simple_twin(graph), set(chosen)
    assert chosen == sorted(held) and not G.subgraph(held).number_of_edges()
    assert all(v in held or held & set(G[v]) for v in G)


@given(graphs(directed=False))
def test_independent_sets_are_maximal(graph):
    for seed in (0, 1):
        check_independent(graph, maximal_independent_set(graph, seed=seed).tolist())


@given(graphs(directed=False))
def test_covers_have_an_end_of_every_edge(graph):
    cover = set(vertex_cover(graph).tolist())
    assert all(u in cover or v in cover for u, v, _ in arcs(graph))
    proper = len(cover) - graph.num_self_loops
    assert proper <= 2 * len(nx.max_weight_matching(simple_twin(graph), maxcardinality=True))


@given(graphs(min_vertices=1))
def test_dominating_sets_dominate(graph):
    assert nx.is_dominating_set(simple_twin(graph, directed=graph.directed), dominating_set(graph).tolist())


def greedily(G):
    """The dominating set of one vertex after the other, the one that dominates most, then the smallest."""
    left, chosen = set(G), []
    while left:
        best = max(G, key=lambda v: (len(({v} | set(G[v])) & left), -v))
        chosen.append(best)
        left -= {best} | set(G[best])
    return sorted(chosen)


@pytest.mark.parametrize("directed", [True, False])
def test_dominating_sets_are_greedy(directed):
    for seed in range(5):
        graph = random_graph(60, 150, seed=seed, directed=directed)
        graph = tg.primitives.simple_graph.merged(graph).without_self_loops()
        assert dominating_set(graph).tolist() == greedily(simple_twin(graph, directed=directed))


def test_larger_sets(kernels):
    for graph in (random_graph(500, 4000, seed=1, directed=False), grid(30, 30)):
        check_independent(graph, maximal_independent_set(graph, seed=3).tolist())


def test_the_kernels_agree(monkeypatch):
    graph = tg.generators.rmat(9)
    found = maximal_independent_set(graph, seed=5), vertex_cover(graph, seed=5)
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    assert all(map(torch.equal, found, (maximal_independent_set(graph, seed=5), vertex_cover(graph, seed=5))))


def test_seeds_differ():
    graph = tg.generators.rmat(12)
    assert not torch.equal(maximal_independent_set(graph, seed=1), maximal_independent_set(graph))


def test_the_smallest_graphs(kernels):
    none = tg.Graph.from_edges([], [], directed=False)
    assert [len(found(none)) for found in (maximal_independent_set, dominating_set, vertex_cover)] == [0, 0, 0]
    loops = tg.Graph.from_edges([0, 1], [0, 1], directed=False)
    assert maximal_independent_set(loops).tolist() == dominating_set(loops).tolist() == [0, 1]
    assert vertex_cover(loops).tolist() == [0, 1] and math.isclose(len(dominating_set(grid(3, 3))), 3, abs_tol=1)
