"""Random walks: along arcs, by the exact probabilities of each step, the same on all backends and threads."""

import itertools
from collections import Counter
from functools import partial

import pytest
import scipy.stats
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import arcs, graphs, random_graph, refused, same_on_threads

import tgraph as tg
from tgraph.algorithms import node2vec_walks, random_walks, walks_with_restart
from tgraph.errors import ArgumentError

EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (3, 4), (4, 5), (4, 0), (5, 5), (5, 0), (1, 2), (2, 1), (3, 2), (2, 0)]
WEIGHTS = [1.0, 2.5, 0.5, 4.0, 1.0, 1.0, 0.25, 3.0, 1.0, 2.0, 0.5, 1.0, 0.0, 2.0]


def sample(directed=True):
    return tg.Graph.from_edges(*zip(*EDGES, strict=True), WEIGHTS, directed=directed)


def chances(graph, v, before, weighted, p, q):
    """The probability of each next vertex."""
    chance, held = Counter(), arcs(graph)
    known = {(a, b) for a, b, _ in held}
    for u, x, weight in held:
        if u == v:
            bias = 1 if before is None else 1 / p if x == before else 1 if (before, x) in known else 1 / q
            chance[x] += (weight if weighted else 1) * bias
    total = sum(chance.values())
    return {x: value / total for x, value in chance.items() if value}


def check_steps(graph, walks, weighted, p=1.0, q=1.0):
    """The counts of all next vertices after each pair of vertices, by a chi-square test."""
    seen = Counter()
    for row in walks.tolist():
        seen.update(_triples(row, p, q))
    statistic = freedom = 0
    for before, v in {key[:2] for key in seen}:
        expected = chances(graph, v, before, weighted, p, q)
        found = {key[2]: count for key, count in seen.items() if key[:2] == (before, v)}
        assert found.keys() <= expected.keys()
        total = sum(found.values())
        statistic += sum((found.get(x, 0) - total * chance) ** 2 / (total * chance) for x, chance in expected.items())
        freedom += len(expected) - 1
    assert scipy.stats.chi2.sf(statistic, freedom) > 0.001


def _triples(row, p, q):
    """(vertex before where it matters, vertex, next)."""
    first_order = p == q == 1
    return [(None if first_order or i == 0 else row[i - 1], v, x) for i, (v, x) in enumerate(itertools.pairwise(row))]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.25, 4), (4, 0.25), (0.05, 1.5)])
def test_steps_have_their_probabilities(directed, weighted, p, q):
    graph = sample(directed)
    walks = node2vec_walks(graph, length=12, p=p, q=q, walks=400, weighted=weighted, seed=1)
    assert walks.shape == (2400, 13) and walks[:6, 0].tolist() == list(range(6)) == walks[6:12, 0].tolist()
    check_steps(graph, walks, weighted, p, q)


def test_restarts_have_their_probability():
    graph = tg.generators.cycle(1000)
    walks = walks_with_restart(graph, [500], 400, restart=0.3, walks=50, seed=2)
    jumps = (walks[:, 1:] - walks[:, :-1]).abs() != 1
    # Those that restart where the walk would have come anyway are not seen: steps from a neighbour of the start.
    away = (walks[:, :-1] - 500).abs() > 1
    share = float((jumps & away).sum() / away.sum())
    assert 0.27 < share < 0.33 and bool((walks[:, 1:][jumps] == 500).all())
    ranks = tg.algorithms.pagerank(sample(False), damping=0.8, personalization=torch.eye(6)[2], tol=1e-7).double()
    ends = walks_with_restart(sample(False), 2, 40, restart=0.2, walks=4000, seed=3)[:, -1].bincount(minlength=6)
    assert scipy.stats.chisquare(ends, ranks / ranks.sum() * 4000).pvalue > 0.001


@given(
    graphs(min_vertices=1, dtypes=(None, torch.int32, torch.float32, torch.float64)),
    st.sampled_from([{}, {"p": 0.3, "q": 2.0}, {"q": 0.4}, {"restart": 0.3}, {"p": 0.2, "restart": 0.5}]),
    st.booleans(),
)
def test_backends_walk_alike(graph, rule, weighted):
    weighted = weighted and graph.weights is not None
    start, options = torch.arange(graph.num_vertices).repeat(3), {"weighted": weighted, **rule}
    walk = tg.primitives.walks.random_walks
    found = walk(graph, start, 9, tg.random.key(5), **options)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TGRAPH_NATIVE", "0")
        assert torch.equal(found, walk(graph, start, 9, tg.random.key(5), **options))
    known = {(u, v) for u, v, w in arcs(graph) if w or not weighted}
    leads_on = {u for u, _ in known}
    for row in found.tolist():
        for u, v in itertools.pairwise(row):
            assert (u, v) in known or (u == v and u not in leads_on) or (v == row[0] and "restart" in rule)


def test_threads_and_layouts_change_nothing():
    graph = random_graph(300, 3000, seed=4, dtype=torch.float32)
    for function, rule in ((random_walks, {}), (node2vec_walks, {"p": 0.5, "q": 2}), (walks_with_restart, {})):
        for weighted in (False, True):
            options = {"length": 30, "weighted": weighted, "seed": 7, **rule}
            one = same_on_threads(partial(function, graph, walks=20, **options))
            again = function(graph.to_format("sell"), walks=2, **options)
            assert torch.equal(one[: len(again)], again)
            assert not torch.equal(again, function(graph, walks=2, **{**options, "seed": 8}))


def test_small_graphs_and_arguments():
    assert random_walks(tg.Graph.from_edges([], []), length=3).shape == (0, 4)
    alone = tg.Graph.from_edges([0], [1], num_vertices=3)
    assert random_walks(alone, length=2).tolist() == [[0, 1, 1], [1, 1, 1], [2, 2, 2]]
    assert walks_with_restart(alone, 0, 3, restart=1).tolist() == [[0, 0, 0, 0]]
    assert random_walks(alone, [1, 0], length=0, walks=2).tolist() == [[1], [0], [1], [0]]
    for options, message in (
        ({"length": -1}, "length: must not be negative, got -1"),
        ({"walks": -1}, "walks: must not be negative, got -1"),
        ({"start": 5}, "start"),
    ):
        with pytest.raises(ArgumentError, match=message):
            random_walks(alone, **options)
    refused("p: must be finite and above 0, got 0", node2vec_walks, alone, p=0)
    refused("restart: must be between 0 and 1, got 2", walks_with_restart, alone, restart=2)
    with pytest.raises(
        ArgumentError, match="weights: -1 at position 0, arc 0 -> 1; walks need weights that are finite and not"
    ):
        random_walks(tg.Graph.from_edges([0], [1], [-1]), weighted=True)
