"""Similarities of pairs and link prediction against networkx, and the best of each vertex against all pairs."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from strategies import arcs, close, graphs, random_graph, thread_count

import tgraph as tg
from tgraph.algorithms import (
    adamic_adar,
    common_neighbors,
    cosine,
    jaccard,
    most_similar,
    overlap,
    preferential_attachment,
    resource_allocation,
    sorensen,
)

MEASURES = {"jaccard": jaccard, "overlap": overlap, "sorensen": sorensen, "cosine": cosine}
LINKS = {"common": common_neighbors, "adamic_adar": adamic_adar, "resource_allocation": resource_allocation}
BY_NETWORKX = {
    jaccard: nx.jaccard_coefficient,
    adamic_adar: nx.adamic_adar_index,
    resource_allocation: nx.resource_allocation_index,
    preferential_attachment: nx.preferential_attachment,
}


def simple_graph(graph):
    """The same for networkx: its neighbours are those of ours, self-loops included."""
    G = nx.Graph()
    G.add_nodes_from(range(graph.num_vertices))
    G.add_edges_from((u, v) for u, v, _ in arcs(graph))
    return G


def all_pairs(n):
    return torch.cartesian_prod(torch.arange(n), torch.arange(n)).view(-1, 2)


@given(graphs(directed=False))
def test_pairs_without_an_edge_equal_networkx(graph):
    G = simple_graph(graph)
    G.remove_edges_from(list(nx.selfloop_edges(G)))  # networkx does not agree with itself on self-loops
    graph = graph.without_self_loops()
    for ours, theirs in BY_NETWORKX.items():
        expected = {(min(u, v), max(u, v)): score for u, v, score in theirs(G)}
        assert close(ours(graph), [expected[pair] for pair in sorted(expected)])


@given(graphs(directed=False))
def test_measures_follow_their_definition(graph):
    near = [set(simple_graph(graph)[v]) for v in range(graph.num_vertices)]
    pairs = all_pairs(graph.num_vertices)
    for name in ("auto", "portable"):
        sizes = [(len(near[u] & near[v]), len(near[u]), len(near[v])) for u, v in pairs.tolist()]
        assert common_neighbors(graph, pairs, backend=name).tolist() == [c for c, _, _ in sizes]
        assert close(jaccard(graph, pairs, backend=name), [c and c / (a + b - c) for c, a, b in sizes])
        assert close(overlap(graph, pairs, backend=name), [c and c / min(a, b) for c, a, b in sizes])
        assert close(sorensen(graph, pairs, backend=name), [c and 2 * c / (a + b) for c, a, b in sizes])
        assert close(cosine(graph, pairs, backend=name), [c and c / (a * b) ** 0.5 for c, a, b in sizes])


@pytest.mark.parametrize("name", [*MEASURES, *LINKS])
@pytest.mark.parametrize("new_links", [False, True])
def test_the_best_of_each_vertex_are_the_best_of_all_pairs(name, new_links, backend):
    graph = random_graph(60, 300, seed=3, directed=False)
    n, function = graph.num_vertices, (MEASURES | LINKS)[name]
    pairs = all_pairs(n)
    score = function(graph, pairs).double().view(n, n)
    shared = common_neighbors(graph, pairs).view(n, n) > 0
    shared &= ~torch.eye(n, dtype=torch.bool)
    if new_links:
        for u, v, _ in arcs(graph):
            shared[u, v] = False
    score[~shared] = -1
    best, order = torch.sort(score, dim=1, descending=True, stable=True)
    found, similarity = most_similar(graph, 5, name, new_links=new_links, backend=backend)
    expected = torch.where(best[:, :5] >= 0, order[:, :5], -1)
    assert torch.allclose(similarity, best[:, :5].clamp(min=0))
    assert torch.equal(found, expected) or name in ("adamic_adar", "cosine")  # ties that rounding breaks
    some = torch.tensor([7, 3, 0])
    for part, whole in zip(most_similar(graph, 5, name, vertices=some, new_links=new_links, backend=backend),
                           (found, similarity), strict=True):  # fmt: skip
        assert torch.equal(part, whole[some])


def test_kernels_agree_on_any_number_of_threads():
    graph = tg.generators.rmat(10, 16, seed=4)
    pairs = torch.randint(graph.num_vertices, (20_000, 2), generator=torch.Generator().manual_seed(0))
    pairs[:5000, 0] = int(graph.out_degree.argmax())
    for measure in (jaccard, adamic_adar):
        expected = measure(graph, pairs, backend="portable")
        for count in (1, 2):
            with thread_count(count):
                assert torch.equal(measure(graph, pairs), expected)
    expected = most_similar(graph, 7, backend="portable")
    for count in (1, 2):
        with thread_count(count):
            found = most_similar(graph, 7)
        assert torch.equal(found[0], expected[0]) and torch.equal(found[1], expected[1])


def test_the_smallest_graphs(backend):
    for n in (0, 1, 2):
        graph = tg.Graph.from_edges([], [], num_vertices=n, directed=False)
        assert len(jaccard(graph, backend=backend)) == n // 2
        assert most_similar(graph, 2, backend=backend)[0].tolist() == [[-1, -1]] * n
        assert len(jaccard(graph, [], backend=backend)) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda graph: jaccard(graph, [[0, 5]]), "pairs: 5 at position 1 is no vertex"),
        (lambda graph: jaccard(graph, [0, 1]), r"pairs: expected two vertices each, shape \[k, 2\]"),
        (lambda graph: most_similar(graph, 3, "euclid"), "measure: 'euclid' is not one of"),
        (lambda graph: most_similar(graph, -1), "count: must not be negative"),
        (lambda graph: tg.primitives.row_similarity.most_similar(graph, 2, "x"), "score: 'x' is not one of"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(tg.errors.ArgumentError, match=message):
        call(tg.Graph.from_edges([0], [1], directed=False))
