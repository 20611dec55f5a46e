"""Semi-synchronous label propagation, which is the same as networkx's."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from strategies import graphs, grid, random_graph, simple_twin

import tgraph as tg
from tgraph.algorithms import semi_synchronous_label_propagation
from tgraph.errors import ArgumentError


def same_as_networkx(graph):
    twin = simple_twin(graph)
    twin.remove_edges_from(list(nx.selfloop_edges(twin)))
    simple = tg.Graph.from_edges(
        *torch.tensor(list(twin.edges), dtype=torch.int64).reshape(-1, 2).T,
        num_vertices=graph.num_vertices,
        directed=False,
    )
    expected = {min(members): members for members in map(set, nx.community.label_propagation_communities(twin))}
    found = {}
    for vertex, name in enumerate(semi_synchronous_label_propagation(simple).tolist()):
        found.setdefault(name, set()).add(vertex)
    assert found == expected


@given(graphs(min_vertices=1, directed=False))
def test_communities_are_those_of_networkx(graph):
    same_as_networkx(graph)


def test_communities_of_larger_graphs_are_those_of_networkx():
    for graph in (random_graph(400, 900, seed=2, directed=False), grid(12, 17), tg.generators.rmat(8)):
        same_as_networkx(graph)


@given(graphs(directed=False, dtypes=(None, torch.float32), lowest=0))
def test_backends_agree(graph):
    weighted = graph.weights is not None
    found = [
        semi_synchronous_label_propagation(graph, weighted=weighted, backend=name).tolist()
        for name in ("auto", "portable")
    ]
    assert found[0] == found[1]


def test_what_is_refused():
    with pytest.raises(ArgumentError, match="iterations"):
        semi_synchronous_label_propagation(grid(2, 2), iterations=0)
