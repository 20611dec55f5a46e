"""Motifs against looking at every set of vertices, and triads against networkx."""

import itertools

import networkx as nx
import pytest
from hypothesis import given, settings
from strategies import graphs, random_graph, simple_twin

import tgraph as tg
from tgraph.algorithms import motif_counts, triadic_census
from tgraph.errors import ArgumentError


def by_sets(G, size):
    """The kind of each connected induced subgraph, by its edges and largest degree."""
    three = {2: "path", 3: "triangle"}
    four = {(3, 3): "star", (3, 2): "path", (4, 3): "paw", (4, 2): "cycle", (5, 3): "diamond", (6, 3): "clique"}
    found = dict.fromkeys(four.values() if size == 4 else three.values(), 0)
    for chosen in itertools.combinations(G, size):
        part = G.subgraph(chosen)
        if nx.is_connected(part):
            m, largest = part.number_of_edges(), max(degree for _, degree in part.degree())
            found[four[m, largest] if size == 4 else three[m]] += 1
    return found


@settings(max_examples=min(30, settings().max_examples))
@given(graphs(directed=False))
def test_motifs_equal_those_of_all_sets(graph):
    G = simple_twin(graph)
    assert motif_counts(graph, 3) == by_sets(G, 3)
    if len(G) < 10:
        assert motif_counts(graph) == by_sets(G, 4)


def test_motifs_of_a_larger_graph(kernels):
    graph = random_graph(18, 80, seed=6, directed=False)
    assert motif_counts(graph) == by_sets(simple_twin(graph), 4)


@given(graphs())
def test_triads_equal_networkx(graph):
    assert triadic_census(graph) == nx.triadic_census(simple_twin(graph, directed=True))


def test_triads_of_a_larger_graph(kernels):
    graph = random_graph(60, 900, seed=7)
    assert triadic_census(graph) == nx.triadic_census(simple_twin(graph, directed=True))


def test_another_size_is_refused():
    with pytest.raises(ArgumentError, match="size: "):
        motif_counts(tg.Graph.from_edges([], [], num_vertices=3, directed=False), 5)
