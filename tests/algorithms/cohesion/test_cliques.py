"""Cliques against networkx."""

import itertools

import networkx as nx
import pytest
import torch
from hypothesis import given
from strategies import graphs, random_graph, refused, simple_twin

import tgraph as tg
from tgraph.algorithms import k_clique_count, max_clique, maximal_clique_sizes, maximal_cliques


def listed(graph):
    offset, members = maximal_cliques(graph)
    return [tuple(members[a:b].tolist()) for a, b in itertools.pairwise(offset.tolist())]


def check(graph):
    G = simple_twin(graph)
    cliques = listed(graph)
    assert sorted(cliques) == sorted(tuple(sorted(clique)) for clique in nx.find_cliques(G))
    sizes = torch.bincount(torch.tensor([len(clique) for clique in cliques], dtype=torch.int64), minlength=1)
    assert maximal_clique_sizes(graph).tolist() == sizes.tolist()
    largest = tuple(max_clique(graph).tolist())
    assert len(largest) == max(map(len, cliques), default=0) and (not cliques or largest in cliques)


@given(graphs(directed=False))
def test_cliques_equal_networkx(graph):
    check(graph)
    sizes = [len(clique) for clique in nx.enumerate_all_cliques(simple_twin(graph))]
    for k in range(1, 7):
        assert k_clique_count(graph, k) == sizes.count(k)


def test_a_larger_graph_with_hubs(kernels):
    check(random_graph(90, 1600, seed=4, directed=False))


@pytest.mark.covering(1)
@pytest.mark.parametrize("k", [3, 4, 5, 6, 7])
def test_counts_in_a_larger_graph(k, kernels):
    graph = random_graph(70, 1500, seed=5, directed=False)
    sizes = [len(clique) for clique in nx.enumerate_all_cliques(simple_twin(graph))]
    assert k_clique_count(graph, k) == sizes.count(k)


def test_known_counts():
    clique = tg.Graph.from_edges(*torch.combinations(torch.arange(70)).unbind(1), directed=False)
    assert k_clique_count(clique, 6) == 131115985 and len(max_clique(clique)) == 70
    assert maximal_clique_sizes(clique)[-1] == 1
    refused(r"2\*\*63", k_clique_count, clique, 35)
    refused("k: ", k_clique_count, clique, 0)


def test_the_smallest_graphs(kernels):
    none, one = (tg.Graph.from_edges([], [], num_vertices=n, directed=False) for n in (0, 1))
    assert listed(none) == [] and max_clique(none).tolist() == [] and maximal_clique_sizes(none).tolist() == [0]
    assert listed(one) == [(0,)] and max_clique(one).tolist() == [0] and k_clique_count(one, 2) == 0
