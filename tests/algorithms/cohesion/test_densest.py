"""The densest subgraph against all sets of vertices, and the rich club against networkx."""

import itertools

import networkx as nx
import pytest
from hypothesis import given
from strategies import close, graphs, random_graph, simple_twin

import tgraph as tg
from tgraph.algorithms import densest_subgraph, rich_club_coefficient
from tgraph.errors import ArgumentError


@given(graphs(directed=False))
def test_the_density_is_at_least_half_of_the_largest(graph):
    G = simple_twin(graph)
    density, vertices = densest_subgraph(graph)
    part = G.subgraph(vertices.tolist())
    assert density == pytest.approx(part.number_of_edges() / max(len(part), 1))
    if len(G) <= 9:
        sets = itertools.chain.from_iterable(itertools.combinations(G, size) for size in range(1, len(G) + 1))
        largest = max((G.subgraph(chosen).number_of_edges() / len(chosen) for chosen in sets), default=0)
        assert largest / 2 - 1e-9 <= density <= largest + 1e-9


def test_a_clique_in_a_forest(kernels):
    edges = [*itertools.combinations(range(8), 2), *((v, v + 1) for v in range(7, 60))]
    density, vertices = densest_subgraph(tg.Graph.from_edges(*zip(*edges, strict=True), directed=False))
    assert density == 3.5 and vertices.tolist() == list(range(8))


@given(graphs(directed=False))
def test_rich_clubs_equal_networkx(graph):
    G = simple_twin(graph)
    expected = nx.rich_club_coefficient(G, normalized=False) if G.number_of_edges() else {}
    assert close(rich_club_coefficient(graph).tolist(), [expected[k] for k in range(len(expected))])


def test_a_larger_rich_club():
    graph = random_graph(80, 900, seed=8, directed=False)
    expected = nx.rich_club_coefficient(simple_twin(graph), normalized=False)
    assert close(rich_club_coefficient(graph).tolist(), [expected[k] for k in range(len(expected))])


def test_a_directed_graph_is_refused():
    for function in (densest_subgraph, rich_club_coefficient):
        with pytest.raises(ArgumentError, match="to_undirected"):
            function(tg.Graph.from_edges([0], [1]))
