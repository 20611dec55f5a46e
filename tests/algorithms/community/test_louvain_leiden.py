"""Louvain, Leiden and label propagation: modularity beside networkx's, and what each of them promises."""

import itertools

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, grid, random_graph, refused, same_on_threads, simple_twin

import tgraph as tg
from tgraph.algorithms import label_propagation, leiden, louvain, louvain_levels, modularity
from tgraph.errors import ArgumentError

FUNCTIONS = (louvain, leiden, label_propagation)
DTYPES = (None, torch.int32, torch.float32)


def clustered(seed=1, groups=12, size=30):
    """Groups that are dense inside, in networkx and here."""
    G = nx.random_partition_graph([size] * groups, 0.4, 0.01, seed=seed)
    return G, tg.from_networkx(G)


def is_connected_within(graph, community):
    twin = simple_twin(graph)
    groups = {}
    for vertex, name in enumerate(community.tolist()):
        groups.setdefault(name, []).append(vertex)
    return all(nx.is_connected(twin.subgraph(members)) for members in groups.values())


@given(graphs(dtypes=DTYPES, lowest=0), st.integers(0, 3), st.sampled_from([0.3, 1.0, 1.7]))
def test_backends_find_the_same_communities(graph, seed, resolution):
    weighted = graph.weights is not None
    for function in FUNCTIONS:
        options = {"seed": seed, "weighted": weighted} | (
            {} if function is label_propagation else {"resolution": resolution}
        )
        native, portable = (function(graph, backend=name, **options) for name in ("auto", "portable"))
        assert native.tolist() == portable.tolist()
        names, first = native.unique(), torch.arange(len(native))
        assert all(int(first[native == name][0]) == int(name) for name in names)


@pytest.mark.thorough
@pytest.mark.parametrize("function", FUNCTIONS)
def test_backends_agree_on_long_rows(function):
    graph = tg.generators.rmat(11, 16)
    assert int(graph.out_degree.max()) > 256
    assert torch.equal(function(graph), function(graph, backend="portable"))


@given(graphs(dtypes=DTYPES, lowest=1), st.integers(0, 3))
def test_communities_of_leiden_are_connected(graph, seed):
    assert is_connected_within(graph, leiden(graph, seed=seed, weighted=graph.weights is not None))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("resolution", [0.5, 1.0, 3.0])
def test_communities_of_leiden_are_connected_in_a_sparse_graph(directed, resolution):
    """Where Louvain leaves communities in pieces."""
    graph = random_graph(600, 900, seed=3, directed=directed)
    assert is_connected_within(graph, leiden(graph, resolution=resolution))


@given(graphs(dtypes=DTYPES), st.sampled_from([louvain, leiden]))
def test_no_partition_is_worse_than_that_into_vertices(graph, function):
    weighted = graph.weights is not None
    found, alone = function(graph, weighted=weighted), torch.arange(graph.num_vertices)
    before, after = (modularity(graph, each, weighted=weighted) for each in (alone, found))
    assert before != before or after >= before - 1e-9


@pytest.mark.parametrize("function", [louvain, leiden])
def test_moves_that_lower_modularity_together_are_not_made(function):
    graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 1, 2], directed=False)
    assert modularity(graph, function(graph)) >= modularity(graph, torch.arange(3)) == 0.15625


@pytest.mark.parametrize("directed", [True, False])
def test_gain_is_the_difference_of_modularity(directed):
    graph = random_graph(60, 400, directed=directed, dtype=torch.float32)
    generator = torch.Generator().manual_seed(5)
    before, after = torch.randint(60, (2, 60), generator=generator)
    steps = tg.primitives.communities
    quotient = steps.quotient(graph, weighted=True)
    expected = modularity(graph, after, weighted=True, resolution=1.5)
    expected -= modularity(graph, before, weighted=True, resolution=1.5)
    assert steps.gain(quotient, before, after, resolution=1.5) == pytest.approx(expected)


@pytest.mark.parametrize("make", [nx.karate_club_graph, nx.les_miserables_graph, lambda: clustered()[0]])
def test_modularity_is_at_least_that_of_networkx(make):
    G = make()
    edges, n = list(G.edges), G.number_of_nodes()
    number = {node: place for place, node in enumerate(G)}
    ends = torch.tensor([(number[u], number[v]) for u, v in edges]).T
    graph = tg.Graph.from_edges(*ends, num_vertices=n, directed=False)
    found = [nx.community.louvain_communities(G, weight=None, seed=seed) for seed in range(4)]
    reference = max(nx.community.modularity(G, communities, weight=None) for communities in found)
    best = {function: max(modularity(graph, function(graph, seed=seed)) for seed in range(4)) for function in FUNCTIONS}
    assert best[louvain] > reference - 0.01
    assert best[leiden] > reference - 0.005
    assert best[label_propagation] > 0.2


@pytest.mark.parametrize("function", [louvain, leiden])
def test_groups_that_were_planted_are_found(function):
    _, graph = clustered()
    expected = torch.arange(graph.num_vertices) // 30 * 30
    assert function(graph).tolist() == expected.tolist()


def test_directed_modularity_beside_networkx():
    graph = random_graph(200, 1200, seed=5, directed=True, dtype=torch.float64)
    G = nx.DiGraph()
    G.add_nodes_from(range(200))
    merged = tg.Graph.from_csr(graph.offset, graph.neighbors, graph.weights)
    src = torch.arange(200).repeat_interleave(merged.offset.diff())
    for u, v, w in zip(src.tolist(), merged.neighbors.tolist(), merged.weights.tolist(), strict=True):
        G.add_edge(u, v, weight=w + (G[u][v]["weight"] if G.has_edge(u, v) else 0))
    theirs = nx.community.louvain_communities(G, seed=1)
    expected = nx.community.modularity(G, theirs)
    assert modularity(graph, louvain(graph, weighted=True), weighted=True) > expected - 0.02
    assert modularity(graph, leiden(graph, weighted=True), weighted=True) > expected - 0.01


@pytest.mark.covering(1)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("directed", [False, True])
def test_the_number_of_threads_changes_nothing(function, directed):
    graph = random_graph(20000, 200000, seed=6, directed=directed, dtype=torch.float32)
    same_on_threads(lambda: function(graph, weighted=True))


def test_seeds_and_resolutions_differ():
    graph = random_graph(500, 2000, seed=7, directed=False)
    assert not torch.equal(louvain(graph, seed=1), louvain(graph, seed=2))
    counts = [len(louvain(graph, resolution=resolution).unique()) for resolution in (0.1, 1, 10)]
    assert counts == sorted(counts) and counts[0] < counts[-1]


def test_levels_are_nested():
    graph = grid(40, 40)
    levels = louvain_levels(graph)
    assert len(levels) > 1 and torch.equal(levels[-1], louvain(graph))
    for fine, coarse in itertools.pairwise(levels):
        assert torch.equal(coarse[fine], coarse) and len(coarse.unique()) < len(fine.unique())
    assert torch.equal(louvain(graph, max_level=1), levels[0])


def test_label_propagation_ends_where_no_label_is_exceeded():
    G, graph = clustered(seed=4)
    label = label_propagation(graph, seed=2).tolist()
    for vertex in G:
        votes = [label[u] for u in G[vertex]]
        assert votes.count(label[vertex]) == max(map(votes.count, votes))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_smallest_graphs(function, backend):
    for n in (0, 1, 3):
        assert function(tg.Graph.from_edges([], [], num_vertices=n), backend=backend).tolist() == list(range(n))
    loops = tg.Graph.from_edges([1, 0], [1, 0], directed=False)
    assert function(loops, backend=backend).tolist() == [0, 1]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_weights_are_checked(function):
    with pytest.raises(ArgumentError, match=r"weights: -1\.0 at position 0"):
        function(tg.Graph.from_edges([0], [1], [-1.0]), weighted=True)


def test_options_are_checked():
    refused("resolution", louvain, grid(2, 2), resolution=-1)
    refused("max_level", louvain, grid(2, 2), max_level=0)
    for function in (leiden, label_propagation):
        with pytest.raises(ArgumentError, match="iterations"):
            function(grid(2, 2), iterations=0)
