"""Modularity and other measures of a partition against networkx."""

import math

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_lists, grid, random_graph, simple_twin

import tgraph as tg
from tgraph.algorithms import community_cuts, modularity, partition_quality
from tgraph.errors import ArgumentError


@st.composite
def partitions(draw):
    """(a networkx multigraph with weights, its Graph, the community of each vertex)"""
    n, edges = draw(edge_lists(min_vertices=1))
    weights = draw(st.lists(st.integers(0, 9), min_size=len(edges), max_size=len(edges)))
    directed = draw(st.booleans())
    G = nx.MultiDiGraph() if directed else nx.MultiGraph()
    G.add_nodes_from(range(n))
    G.add_weighted_edges_from((u, v, w) for (u, v), w in zip(edges, weights, strict=True))
    ends = torch.tensor(edges, dtype=torch.int64).view(-1, 2)
    graph = tg.Graph.from_edges(*ends.T, torch.tensor(weights, dtype=torch.float32), num_vertices=n, directed=directed)
    label = torch.tensor(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    return G, graph, label


def sets(label):
    return [set((label == each).nonzero().squeeze(1).tolist()) for each in dict.fromkeys(label.tolist())]


@given(partitions(), st.booleans(), st.sampled_from([0.0, 0.5, 1.0, 2.0]))
def test_modularity_is_that_of_networkx(partition, weighted, resolution):
    G, graph, label = partition
    if not G.size("weight" if weighted else None):
        assert math.isnan(modularity(graph, label, weighted=weighted))
        return
    key = "weight" if weighted else None
    expected = nx.community.modularity(G, sets(label), weight=key, resolution=resolution)
    assert modularity(graph, label * 100 - 7, weighted=weighted, resolution=resolution) == pytest.approx(expected)


@given(partitions())
def test_cuts_are_those_of_networkx(partition):
    G, graph, label = partition
    cuts = community_cuts(graph, label, weighted=True)
    for place, members in enumerate(sets(label)):
        assert int(cuts.first[place]) == min(members)
        assert float(cuts.internal[place]) == G.subgraph(members).size("weight")
        leaving = sum(w for u, v, w in G.edges(members, data="weight") if (u in members) != (v in members))
        assert float(cuts.external[place]) == leaving
        rest = set(G) - members
        volumes = [nx.volume(G, side, weight="weight") for side in (members, rest)]
        if min(volumes) > 0:
            assert float(cuts.conductance[place]) == pytest.approx(leaving / min(volumes))


@pytest.mark.parametrize("directed", [False, True])
def test_quality_is_that_of_networkx(directed):
    graph = random_graph(40, 90, seed=2, directed=directed).without_self_loops()
    label = torch.arange(40) % 3
    G = simple_twin(graph, directed)
    ends = torch.tensor(sorted(G.edges)).T
    simple = tg.Graph.from_edges(*ends, num_vertices=40, directed=directed)
    assert partition_quality(simple, label) == pytest.approx(nx.community.partition_quality(G, sets(label)))


def test_the_smallest_graphs():
    empty = tg.Graph.from_edges([], [], num_vertices=0)
    assert math.isnan(modularity(empty, torch.zeros(0, dtype=torch.int64)))
    one = tg.Graph.from_edges([], [], num_vertices=1)
    assert all(math.isnan(x) for x in partition_quality(one, torch.zeros(1, dtype=torch.int64)))


@pytest.mark.parametrize("communities", [torch.zeros(3, dtype=torch.int64), torch.zeros(4), [0, 0, 0, 0]])
def test_communities_are_checked(communities):
    with pytest.raises(ArgumentError, match="communities: expected integers"):
        modularity(grid(2, 2), communities)
