"""Random graphs have the shape of their models, and are the same on every machine."""

import zlib

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tgraph as tg
from tgraph.errors import ArgumentError
from tgraph.generators import exact

make = tg.generators


def graph_of(made):
    return made[0] if isinstance(made, tuple) else made


def edges(graph) -> set:
    """(u, v) of every arc, the smaller first where the graph is undirected."""
    src = torch.repeat_interleave(torch.arange(graph.num_vertices), graph.out_degree).tolist()
    pairs = zip(src, graph.neighbors.tolist(), strict=True)
    return set(pairs) if graph.directed else {(min(pair), max(pair)) for pair in pairs}


# Computed once: another value means that the same seed gives another graph than it gave to users before.
GOLDEN = [
    (lambda: make.erdos_renyi(3000, 0.002, 1, weighted=True), 0xF3221DC5),
    (lambda: make.erdos_renyi(300, 0.02, 1, directed=True), 0x30FF2BBD),
    (lambda: make.random_edges(500, 2000, 2), 0xAE0D2D7A),
    (lambda: make.barabasi_albert(2000, 3, 3), 0x9254DD57),
    (lambda: make.watts_strogatz(1000, 6, 0.2, 4), 0xE3C2ED23),
    (lambda: make.stochastic_block_model([300, 400], [[0.05, 0.01], [0.01, 0.05]], 5), 0x1CC873FD),
    (lambda: make.configuration_model(np.arange(100) % 8 + 4, 6, multi=True), 0x331B76CE),
    (lambda: make.random_regular(500, 5, 7), 0x3F8B3C4A),
    (lambda: make.random_geometric(2000, 0.03, 8), 0x9ABAC6EA),
    (lambda: make.hyperbolic(2000, 8, 2.6, 9), 0x4F6B092B),
    (lambda: make.lfr(2000, seed=10), 0x8D374150),
    (lambda: make.kronecker([[0.9, 0.6], [0.5, 0.2]], 10, 4000, 11), 0x845588B8),
    (lambda: make.random_tree(3000, 12), 0xD29A8A98),
]


@pytest.mark.parametrize(("build", "expected"), GOLDEN)
def test_the_same_on_every_machine(build, expected):
    graph = graph_of(build())
    data = graph.offset.numpy().astype("<i8").tobytes() + graph.neighbors.numpy().astype("<i4").tobytes()
    assert zlib.crc32(data) == expected
    assert graph_of(build()).neighbors.equal(graph.neighbors)


@pytest.mark.parametrize("directed", [False, True])
def test_erdos_renyi_joins_each_pair_with_the_probability(directed):
    n, p, drawn = 40, 0.3, 200
    count = torch.zeros(n, n)
    for seed in range(drawn):
        graph = make.erdos_renyi(n, p, seed, directed=directed)
        src = torch.repeat_interleave(torch.arange(n), graph.out_degree)
        count[src, graph.neighbors.long()] += 1
    off = ~torch.eye(n, dtype=torch.bool)
    assert not count.diagonal().any()
    assert float(count[off].mean() / drawn) == pytest.approx(p, abs=0.005)
    assert float(count[off].max() / drawn) < p + 0.15 and float(count[off].min() / drawn) > p - 0.15


@pytest.mark.parametrize(("p", "expected"), [(0.0, 0), (1.0, 45), (1e-12, 0)])
def test_erdos_renyi_at_the_ends(p, expected):
    assert make.erdos_renyi(10, p).num_edges == expected


def test_erdos_renyi_on_many_vertices():
    graph = make.erdos_renyi(2_000_000, 1e-7, 3)
    assert graph.num_edges == pytest.approx(2e5, rel=0.02)


@given(st.integers(0, 12), st.data(), st.booleans())
def test_random_edges_are_as_many_as_asked(n, data, directed):
    pairs = n * (n - 1) // (1 if directed else 2)
    m = data.draw(st.integers(0, pairs))
    assert len(edges(make.random_edges(n, m, 5, directed=directed))) == m
    with pytest.raises(ArgumentError, match="m: "):
        make.random_edges(n, pairs + 1, directed=directed)


def test_barabasi_albert_degrees_follow_a_power_law():
    graph = make.barabasi_albert(50_000, 4, 1)
    degree = graph.out_degree
    assert tg.algorithms.wcc(graph).unique().numel() == 1
    # P(degree >= k) falls as k**-2: from 10 to 40 by a factor of about 16
    fraction = [float((degree >= k).float().mean()) for k in (10, 40)]
    assert 10 < fraction[0] / fraction[1] < 24
    assert int(degree.max()) > 500


def test_watts_strogatz_is_a_ring_that_shrinks():
    assert edges(make.watts_strogatz(20, 4, 0)) == {
        (min(pair), max(pair)) for pair in nx.watts_strogatz_graph(20, 4, 0).edges()
    }
    moved = make.watts_strogatz(1000, 6, 0.3, 1)
    kept = edges(moved) & edges(make.watts_strogatz(1000, 6, 0))
    assert len(kept) / 3000 == pytest.approx(0.7, abs=0.04)


def test_blocks_have_their_densities():
    sizes, p = [300, 500, 0, 200], np.full((4, 4), 0.01) + np.diag([0.1, 0.05, 0.5, 0.2])
    for directed in (False, True):
        graph = make.stochastic_block_model(sizes, p, 2, directed=directed)
        block = np.repeat(np.arange(4), sizes)
        found = np.zeros((4, 4))
        src = torch.repeat_interleave(torch.arange(1000), graph.out_degree).numpy()
        np.add.at(found, (block[src], block[graph.neighbors.numpy()]), 1)
        pairs = np.outer(sizes, sizes) - np.diag(sizes)
        np.testing.assert_allclose(found, pairs * p, rtol=0.2, atol=60)


@given(st.lists(st.integers(0, 5), max_size=12), st.integers(0, 9))
def test_configuration_models_have_the_degrees(degrees, seed):
    if sum(degrees) % 2:
        with pytest.raises(ArgumentError, match="odd"):
            make.configuration_model(degrees, seed)
        return
    graph = make.configuration_model(degrees, seed, multi=True)
    src = torch.repeat_interleave(torch.arange(len(degrees)), graph.out_degree)
    loops = (src == graph.neighbors).to(torch.int64)
    found = graph.out_degree.index_add(0, src, loops)  # a self-loop is stored once and takes two stubs
    assert found.tolist() == degrees
    assert (make.configuration_model(degrees, seed).out_degree <= torch.tensor(degrees).long()).all()


@given(st.integers(1, 14), st.data(), st.integers(0, 3))
@settings(max_examples=min(30, settings().max_examples))
def test_random_regular(n, data, seed):
    degree = data.draw(st.integers(0, n - 1).filter(lambda d: n * d % 2 == 0))
    assert make.random_regular(n, degree, seed).out_degree.tolist() == [degree] * n


@pytest.mark.covering(1)
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("radius", [0.03, 0.3, 1.2])
def test_random_geometric_joins_what_is_near(dim, radius):
    graph, points = make.random_geometric(200, radius, 3, dim=dim)
    near = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist") <= radius
    assert edges(graph) == {(u, v) for u, v in near.nonzero().tolist() if u < v}


@pytest.mark.parametrize(
    ("n", "degree", "exponent"), [(1, 3, 3), (2, 1, 2.5), (300, 8, 2.2), (300, 20, 4), (50, 200, 3)]
)
def test_hyperbolic_joins_what_is_near(n, degree, exponent):
    graph, place = make.hyperbolic(n, degree, exponent, 5)
    r, angle = place.unbind(1)
    cosh = r.cosh()[:, None] * r.cosh() - r.sinh()[:, None] * r.sinh() * (angle[:, None] - angle).cos()
    alpha = (exponent - 1) / 2
    disk = max(2 * np.log(max(2 * n * (alpha / (alpha - 0.5)) ** 2 / (np.pi * degree), 1.0)), 1.0)
    assert edges(graph) == {(u, v) for u, v in (cosh <= np.cosh(disk) * (1 + 1e-12)).nonzero().tolist() if u < v}


def test_hyperbolic_has_about_the_degree_and_triangles():
    graph, _ = make.hyperbolic(20_000, 12, 2.8, 1)
    assert float(graph.out_degree.double().mean()) == pytest.approx(12, rel=0.25)
    assert float(tg.algorithms.local_clustering(graph).mean()) > 0.5


def test_lfr_has_communities_and_mixing():
    graph, community = make.lfr(5000, mu=0.3, seed=1)
    src = torch.repeat_interleave(torch.arange(5000), graph.out_degree)
    outside = community[src] != community[graph.neighbors.long()]
    assert float(outside.double().mean()) == pytest.approx(0.3, abs=0.02)
    sizes = community.bincount()
    assert int(sizes.min()) >= 20 and int(graph.out_degree.min()) >= 8
    assert float((graph.out_degree < 10).double().mean()) < 0.05


def test_kronecker_cells_have_their_share():
    graph = make.kronecker([[6, 3], [1, 0]], 1, 60, directed=True)
    assert edges(graph) == {(0, 1), (1, 0)}
    graph = make.kronecker([[4, 2, 1], [2, 1, 1], [1, 1, 0]], 4, 3000, 2, directed=True)
    assert graph.num_vertices == 81 and not any(u % 3 == 2 and v % 3 == 2 for u, v in edges(graph))


def test_random_trees_are_trees_and_evenly_drawn():
    for n in (0, 1, 2, 3, 1000):
        tree = make.random_tree(n, 4)
        assert tree.num_edges == max(n - 1, 0) and tg.algorithms.wcc(tree).unique().numel() == min(n, 1)
    drawn = [frozenset(edges(make.random_tree(4, seed))) for seed in range(800)]
    counts = [drawn.count(tree) for tree in set(drawn)]
    assert len(counts) == 16 and min(counts) > 25 and max(counts) < 80


WRONG = [
    (lambda: make.erdos_renyi(-1, 0.5), "n: "),
    (lambda: make.erdos_renyi(5, 1.5), "p: 1.5 is not a probability"),
    (lambda: make.barabasi_albert(5, 0), "m: 0 is too small"),
    (lambda: make.watts_strogatz(5, 3, 0.1), "k: 3 is odd"),
    (lambda: make.stochastic_block_model([2, 2], [[0, 0.5], [0.1, 0]]), "not symmetric"),
    (lambda: make.stochastic_block_model([2, 2], [0.5]), r"expected \[2, 2\]"),
    (lambda: make.configuration_model([1, -1]), "degrees: -1 at position 1"),
    (lambda: make.random_regular(5, 3), "even n"),
    (lambda: make.random_geometric(5, 0), "radius: 0 is not positive"),
    (lambda: make.hyperbolic(5, 3, 2), "exponent > 2"),
    (lambda: make.lfr(100, mu=2), "mu: 2"),
    (lambda: make.lfr(100, max_degree=50, max_community=20), "max_community: 20"),
    (lambda: make.kronecker([[1, 2]], 2, 3), "initiator"),
    (lambda: make.kronecker([[1, 2], [1, 2]], 40, 3), "power"),
    (lambda: make.famous("nobody"), "name: 'nobody'"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_wrong_arguments(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_exact_functions_are_accurate():
    x = np.linspace(1e-9, 60, 10_001)
    np.testing.assert_allclose(exact.log(x), np.log(x), rtol=4e-16, atol=1e-16)
    np.testing.assert_allclose(exact.exp(x - 30), np.exp(x - 30), rtol=1e-15)
    np.testing.assert_allclose(exact.power(x, -1.7), x**-1.7, rtol=2e-14)
    turns = np.linspace(0, 1, 10_001)[:-1]
    cosine, sine = exact.cosine_and_sine(turns)
    np.testing.assert_allclose(cosine, np.cos(2 * np.pi * turns), atol=1e-15)
    np.testing.assert_allclose(sine, np.sin(2 * np.pi * turns), atol=1e-15)
