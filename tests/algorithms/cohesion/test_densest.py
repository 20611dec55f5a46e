"""The densest subgraph against all sets of vertices, and the rich club against networkx."""

import itertools

import networkx as nx
import pytest
import torch
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


@given(graphs(directed=False))
def test_the_exact_density_is_the_largest(graph):
    G = simple_twin(graph)
    density, vertices = densest_subgraph(graph, method="exact")
    if len(G) > 9:
        return
    sets = itertools.chain.from_iterable(itertools.combinations(G, size) for size in range(1, len(G) + 1))
    found = {chosen: G.subgraph(chosen).number_of_edges() / len(chosen) for chosen in sets}
    largest = max(found.values(), default=0)
    assert density == pytest.approx(largest)
    densest = [set(chosen) for chosen, value in found.items() if value == pytest.approx(largest)]
    assert vertices.tolist() == sorted(set().union(*densest))


@pytest.mark.parametrize("seed", range(3))
def test_exact_densities_of_larger_graphs(seed):
    """No density is above the largest load that edges, divided among their ends, leave at a vertex: the dual."""
    graph = tg.generators.barabasi_albert(400, 4 + seed, seed=seed)
    density, vertices = densest_subgraph(graph, method="exact")
    part = simple_twin(graph).subgraph(vertices.tolist())
    assert density == pytest.approx(part.number_of_edges() / len(part))
    assert density >= densest_subgraph(graph)[0]
    assert density >= nx.approximation.densest_subgraph(simple_twin(graph), iterations=20)[0] - 1e-9
    u, v = torch.tensor(list(simple_twin(graph).edges)).T
    share, load = torch.full((len(u),), 0.5), torch.zeros(400)
    for step in range(300):
        load = torch.zeros(400).index_add(0, u, share).index_add(0, v, 1 - share)
        share += ((load[u] < load[v]).float() - share) * 2 / (step + 3)
    assert density <= float(load.max()) + 1e-4


def test_a_clique_in_a_forest(kernels):
    edges = [*itertools.combinations(range(8), 2), *((v, v + 1) for v in range(7, 60))]
    density, vertices = densest_subgraph(tg.Graph.from_edges(*zip(*edges, strict=True), directed=False))
    assert densest_subgraph(tg.Graph.from_edges(*zip(*edges, strict=True), directed=False), method="exact")[0] == 3.5
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


def test_an_unknown_method_is_refused():
    with pytest.raises(ArgumentError, match="method: 'flow' is not one of"):
        densest_subgraph(tg.Graph.from_edges([0], [1], directed=False), method="flow")
