"""Eccentricities, diameter, radius, centre and periphery against networkx."""

import random

import networkx as nx
import pytest
import torch
from hypothesis import assume, given
from strategies import graphs, grid, merged_twin, random_graph, refused, twin

import tgraph as tg
from tgraph.algorithms import center, diameter, eccentricity, periphery, radius
from tgraph.errors import ArgumentError


def check(graph, weighted, **options):
    expected = nx.eccentricity(nx.DiGraph(merged_twin(graph, min)), weight="weight" if weighted else None)
    values = [expected[v] for v in range(graph.num_vertices)]
    found = eccentricity(graph, weighted=weighted, **options)
    floating = weighted and graph.weights is not None and graph.weights.is_floating_point()
    assert found.dtype == (torch.float64 if floating else torch.int64)
    assert found.tolist() == pytest.approx(values)
    if values == found.tolist():
        assert diameter(graph, weighted=weighted, **options) == max(values)
        assert radius(graph, weighted=weighted, **options) == min(values)
        for value, function in ((max(values), periphery), (min(values), center)):
            nodes = [v for v, other in enumerate(values) if other == value]
            assert function(graph, weighted=weighted, **options).tolist() == nodes


@given(graphs(min_vertices=1, dtypes=(None, torch.int32, torch.float64)))
def test_connected_graphs(graph):
    assume(nx.is_strongly_connected(twin(graph)))
    check(graph, weighted=False)
    check(graph, weighted=True)


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", [None, torch.int64, torch.float32])
def test_larger_graphs(dtype, backend):
    everything = random_graph(120, 300, seed=2, dtype=dtype)
    largest = max(nx.strongly_connected_components(twin(everything)), key=len)
    for graph in (everything.subgraph(sorted(largest)), grid(7, 9, dtype)):
        check(graph, weighted=True, backend=backend)


def test_known_values():
    path = tg.Graph.from_edges(range(9), range(1, 10), directed=False)
    assert (diameter(path), radius(path)) == (9, 5)
    assert center(path).tolist() == [4, 5] and periphery(path).tolist() == [0, 9]
    ring = tg.Graph.from_edges(range(10), [*range(1, 10), 0])
    assert eccentricity(ring).tolist() == [9] * 10
    assert diameter(tg.Graph.from_edges([0], [0])) == 0


def test_few_searches_are_enough(monkeypatch):
    """Of 3000 vertices."""
    calls, run = [], tg.run
    monkeypatch.setattr(tg, "run", lambda *arguments, **options: calls.append(1) or run(*arguments, **options))
    assert diameter(grid(50, 60)) == 108
    assert len(calls) < 60


def test_what_cannot_be():
    refused("has no vertices", diameter, tg.Graph.from_edges([], []))
    with pytest.raises(ArgumentError, match=r"no path leads from vertex 'b' to 'a'"):
        radius(tg.Graph.from_edges([0, 1], [1, 2], vertices=["a", "b", "c"]))
    refused("not negative", center, tg.Graph.from_edges([0, 1], [1, 0], [1, -1]), weighted=True)


WEIGHTS = (
    lambda chance: chance.randint(1, 9) / 10,
    lambda chance: chance.random(),
    lambda chance: 0.1,
    lambda chance: chance.random() * 10 ** chance.randint(-8, 8),
)


def floating_graph(seed):
    """A connected graph whose distances add up to sums that round, in another order from each vertex."""
    chance = random.Random(seed)
    n, directed, weight = chance.randint(2, 60 if seed % 10 == 0 else 9), chance.random() < 0.4, chance.choice(WEIGHTS)
    edges = [(chance.randrange(v), v) for v in range(1, n)]
    edges += [(chance.randrange(n), chance.randrange(n)) for _ in range(chance.randint(0, n))]
    edges += [(v, u) for u, v in edges] if directed else []
    dtype = chance.choice([torch.float64, torch.float64, torch.float32])
    weights = torch.tensor([weight(chance) for _ in edges], dtype=dtype)
    return tg.Graph.from_edges(*zip(*edges, strict=True), weights, num_vertices=n, directed=directed)


def check_rounding(seed):
    """All five agree with one another to the bit, and with brute force but for rounding."""
    graph = floating_graph(seed)
    expected = nx.eccentricity(merged_twin(graph, min), weight="weight")
    expected = torch.tensor([expected[v] for v in range(graph.num_vertices)], dtype=torch.float64)
    found = eccentricity(graph, weighted=True)
    torch.testing.assert_close(found, expected, rtol=1e-11, atol=0)
    for value, function, best, number in (
        (found.min(), center, expected.min(), radius),
        (found.max(), periphery, expected.max(), diameter),
    ):
        assert number(graph, weighted=True) == value
        chosen = function(graph, weighted=True)
        assert chosen.tolist() == (found == value).nonzero().flatten().tolist()
        assert set((expected == best).nonzero().flatten().tolist()) <= set(chosen.tolist())
        torch.testing.assert_close(expected[chosen], best.expand(len(chosen)), rtol=1e-11, atol=0)


def test_sums_that_round():
    path = tg.Graph.from_edges([0, 0, 2, 3], [1, 2, 3, 4], [0.7, 0.3, 0.1, 0.3], directed=False)
    assert center(path, weighted=True).tolist() == [0] and radius(path, weighted=True) == 0.7
    for seed in random.sample(range(10**6), 8):
        check_rounding(seed)


@pytest.mark.thorough
def test_many_sums_that_round(kernels):
    for seed in range(3000):
        check_rounding(seed)
