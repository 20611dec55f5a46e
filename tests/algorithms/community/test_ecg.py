"""The ensemble: its weights beside those counted one by one, and the groups that it finds."""

import torch
from hypothesis import given, settings
from strategies import graphs, grid, refused

import tgraph as tg
from tgraph.algorithms import core_number, ecg, louvain, louvain_levels, modularity


def test_the_groups_that_were_planted_are_found():
    graph, planted = tg.generators.lfr(1000, mu=0.3, seed=2)
    found = ecg(graph, ensemble_size=8)
    pairs = torch.stack((found, planted)).unique(dim=1).shape[1]
    assert pairs == len(found.unique()) == len(planted.unique())
    assert modularity(graph, found) > 0.5


@given(graphs(directed=False, min_vertices=1))
@settings(max_examples=min(25, settings().max_examples))
def test_louvain_takes_the_votes_as_weights(graph):
    members = [louvain_levels(graph, seed=3 + 1000 * member, max_level=1)[0].tolist() for member in range(2)]
    core = core_number(graph).tolist()
    source = torch.arange(graph.num_vertices).repeat_interleave(graph.out_degree).tolist()
    weights = []
    for u, v in zip(source, graph.neighbors.tolist(), strict=True):
        votes = sum(label[u] == label[v] for label in members) if min(core[u], core[v]) >= 2 else 0
        weights.append(0.25 + 0.75 * votes / 2)
    voted = tg.Graph(graph.offset, graph.neighbors, torch.tensor(weights, dtype=torch.float64), directed=False)
    expected = louvain(voted, weighted=True, seed=3)
    for name in ("auto", "portable"):
        found = ecg(graph, min_weight=0.25, ensemble_size=2, seed=3, backend=name)
        assert found.tolist() == expected.tolist()


def test_the_smallest_graphs():
    for n in (0, 1, 3):
        assert ecg(tg.Graph.from_edges([], [], num_vertices=n, directed=False)).tolist() == list(range(n))


def test_what_is_refused():
    refused("ensemble_size", ecg, grid(2, 2), ensemble_size=0)
    refused("min_weight: expected a number from 0 to 1, got 2", ecg, grid(2, 2), min_weight=2)
