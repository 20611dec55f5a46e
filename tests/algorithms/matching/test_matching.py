"""Matchings against a greedy pass, and against networkx."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import arcs, graphs, random_graph, refused, simple_twin

import tgraph as tg
from tgraph.algorithms import heavy_matching, maximal_matching, maximum_bipartite_matching, minimum_vertex_cover

DTYPES = (None, torch.uint8, torch.int64, torch.float32, torch.float64)


def in_order(graph):
    """The mates by a pass over the edges of positive weight, the heaviest first, then by ends."""
    mate = [-1] * graph.num_vertices
    for weight, u, v in sorted((-weight, u, v) for u, v, weight in arcs(graph) if u < v):
        if weight < 0 and mate[u] == mate[v] == -1:
            mate[u], mate[v] = v, u
    return mate


def pairs(mate):
    return {(u, v) for u, v in enumerate(mate.tolist()) if v > u}


@given(graphs(directed=False, dtypes=DTYPES))
def test_heavy_matchings_are_greedy(graph):
    assert heavy_matching(graph).tolist() == in_order(graph)


@given(graphs(directed=False))
def test_maximal_matchings(graph):
    for seed in (0, 1):
        mate = maximal_matching(graph, seed=seed)
        assert nx.is_maximal_matching(simple_twin(graph), pairs(mate))
        assert all(mate[v] == u for u, v in enumerate(mate.tolist()) if v >= 0)


def test_larger_graphs(kernels):
    graph = random_graph(300, 3000, seed=1, directed=False, dtype=torch.float64)
    assert heavy_matching(graph).tolist() == in_order(graph)
    assert nx.is_maximal_matching(simple_twin(graph), pairs(maximal_matching(graph)))


def test_the_kernels_agree(monkeypatch):
    graph = tg.generators.rmat(9)
    found = maximal_matching(graph, seed=5)
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    assert torch.equal(maximal_matching(graph, seed=5), found)


def test_seeds_differ():
    graph = tg.generators.rmat(12, weighted=True)
    assert not torch.equal(maximal_matching(graph, seed=1), maximal_matching(graph))


# ---- bipartite graphs ----------------------------------------------------------------------------------------------


@st.composite
def bipartite(draw):
    """(graph, left): a bipartite multigraph whose sides are mixed."""
    n = draw(st.integers(0, 16))
    left = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    sides = [v for v in range(n) if left[v]], [v for v in range(n) if not left[v]]
    edge = st.tuples(*(st.sampled_from(side or [0]) for side in sides))
    edges = draw(st.lists(edge, max_size=30)) if all(sides) else []
    src, dst = zip(*edges, strict=True) if edges else ((), ())
    return tg.Graph.from_edges(list(src), list(dst), num_vertices=n, directed=False), torch.tensor(
        left, dtype=torch.bool
    )


def check(graph, left):
    G = simple_twin(graph)
    mate = maximum_bipartite_matching(graph, left)
    size = len(pairs(mate))
    assert size == len(nx.max_weight_matching(G, maxcardinality=True))
    assert all(G.has_edge(u, v) and mate[v] == u for u, v in enumerate(mate.tolist()) if v >= 0)
    cover = set(minimum_vertex_cover(graph, left).tolist())
    assert len(cover) == size and all(u in cover or v in cover for u, v in G.edges())


@given(bipartite())
def test_bipartite_matchings_are_maximum(given):
    graph, left = given
    check(graph, left)
    check(graph, None)


@pytest.mark.parametrize("edges", [100, 250, 600])
def test_larger_bipartite_graphs(edges, kernels):
    random = torch.Generator().manual_seed(edges)
    src, dst = torch.randint(0, 90, (edges,), generator=random), torch.randint(90, 200, (edges,), generator=random)
    check(tg.Graph.from_edges(src, dst, num_vertices=200, directed=False), torch.arange(200) < 90)


def test_a_long_augmenting_path(kernels):
    """The only perfect matching of a path."""
    path = tg.Graph.from_edges(range(399), range(1, 400), directed=False)
    assert pairs(maximum_bipartite_matching(path)) == {(v, v + 1) for v in range(0, 400, 2)}


def test_what_is_refused():
    triangle = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], directed=False)
    refused("not bipartite", maximum_bipartite_matching, triangle)
    refused("within a side", minimum_vertex_cover, triangle, torch.tensor([True, False, True]))
    refused("left: ", maximum_bipartite_matching, triangle, torch.tensor([0, 1, 0]))
