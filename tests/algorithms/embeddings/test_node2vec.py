"""node2vec: communities lie apart, missing links are told from others, and the seed settles everything."""

import networkx as nx
import pytest
import torch

import tgraph as tg
from tgraph.algorithms import node2vec
from tgraph.errors import ArgumentError

OPTIONS = {"dimensions": 16, "length": 20, "walks": 10, "window": 4}


@pytest.mark.thorough
def test_communities_lie_apart():
    sizes = [60, 60, 60]
    chance = [[0.2 if i == j else 0.01 for j in range(3)] for i in range(3)]
    graph = tg.generators.stochastic_block_model(sizes, chance, seed=2)
    points = torch.nn.functional.normalize(node2vec(graph, q=0.5, **OPTIONS), dim=1)
    group = torch.arange(3).repeat_interleave(60)
    alike = (points @ points.T).fill_diagonal_(-1)
    nearest = group[alike.topk(5).indices]
    assert float((nearest == group[:, None]).double().mean()) > 0.9


def test_karate_club():
    G = nx.karate_club_graph()
    points = torch.nn.functional.normalize(node2vec(tg.from_networkx(G), epochs=2, seed=1, **OPTIONS), dim=1)
    club = torch.tensor([G.nodes[v]["club"] == "Officer" for v in G])
    alike = points @ points.T
    same = club[:, None] == club
    assert float(alike[same & ~torch.eye(34, dtype=torch.bool)].mean()) > float(alike[~same].mean()) + 0.2


@pytest.mark.thorough
def test_missing_links():
    """Edges that were left out score higher than pairs that are none: the area under the ROC curve."""
    graph = tg.generators.watts_strogatz(200, 8, 0.1, seed=3)
    source = torch.arange(200).repeat_interleave(graph.out_degree)
    once = (source < graph.neighbors).nonzero().flatten()
    source, target = source[once], graph.neighbors[once].long()
    hidden = torch.arange(len(once)) % 10 == 0
    held = tg.Graph.from_edges(source[~hidden], target[~hidden], num_vertices=200, directed=False)
    points = node2vec(held, **OPTIONS)
    points = torch.nn.functional.normalize(points, dim=1)
    alike = points @ points.T
    joined = torch.eye(200, dtype=torch.bool)
    joined[source, target] = joined[target, source] = True
    real, other = alike[source[hidden], target[hidden]], alike[~joined]
    assert float((real[:, None] > other).double().mean()) > 0.85


def test_the_seed_settles_everything():
    graph = tg.generators.random_tree(40)
    options = OPTIONS | {"epochs": 2}
    one, two, other = (node2vec(graph, seed=seed, **options) for seed in (5, 5, 6))
    assert torch.equal(one, two) and not torch.equal(one, other)
    assert one.shape == (40, 16) and one.dtype == torch.float32 and not one.requires_grad
    with torch.no_grad():
        assert torch.equal(one, node2vec(graph.to_format("sell"), seed=5, **options))


def test_small_graphs_and_arguments():
    assert node2vec(tg.Graph.from_edges([], []), 4).shape == (0, 4)
    assert node2vec(tg.Graph.from_edges([0], [1]), 4, walks=0).shape == (2, 4)
    for name in ("dimensions", "window", "batch", "learning_rate"):
        with pytest.raises(ArgumentError, match=f"{name}: must be above 0, got 0"):
            node2vec(tg.Graph.from_edges([0], [1]), **{name: 0})
    with pytest.raises(ArgumentError, match="p: must be"):
        node2vec(tg.Graph.from_edges([0], [1]), p=-1)
