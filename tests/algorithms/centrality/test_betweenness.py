"""Betweenness against networkx: all sources, samples, subsets, multigraphs; and against LAGraph."""

import json
import math
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import close, graphs, grid, networkx_of, random_graph, refused_naming

import tgraph as tg
from tgraph.algorithms import betweenness

module = sys.modules["tgraph.algorithms.centrality.betweenness"]  # the name is that of the function
LAGRAPH = Path(__file__).parents[4] / "shared" / "data" / "conformance" / "lagraph"


def same(found, expected):
    assert found.dtype == torch.float64 and found.tolist() == pytest.approx(expected, rel=1e-12, abs=1e-14, nan_ok=True)


@given(graphs(), st.booleans(), st.booleans(), st.sampled_from([None, 1, 3]))
def test_all_sources(graph, normalized, endpoints, batch):
    expected = nx.betweenness_centrality(networkx_of(graph), normalized=normalized, endpoints=endpoints)
    same(betweenness(graph, normalized=normalized, endpoints=endpoints, batch=batch), list(expected.values()))


@given(graphs(min_vertices=1), st.data(), st.booleans(), st.booleans())
def test_a_sample_of_sources(graph, data, normalized, endpoints):
    options = {"k": data.draw(st.integers(1, graph.num_vertices)), "normalized": normalized, "endpoints": endpoints}
    expected = nx.betweenness_centrality(networkx_of(graph), seed=7, **options)
    same(betweenness(graph, seed=7, **options), list(expected.values()))


@given(graphs(min_vertices=1), st.data(), st.booleans())
def test_a_subset_of_sources(graph, data, normalized):
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), max_size=4))
    expected = nx.betweenness_centrality_subset(
        networkx_of(graph), sources, range(graph.num_vertices), normalized=normalized
    )
    same(betweenness(graph, sources, normalized=normalized), list(expected.values()))


@settings(max_examples=min(20, settings().max_examples))
@given(graphs(min_vertices=1))
def test_directions_and_backends(graph):
    expected = list(nx.betweenness_centrality(networkx_of(graph)).values())
    for options in ({"mode": "push"}, {"mode": "pull"}, {"backend": "portable"}):
        same(betweenness(graph, **options), expected)


@pytest.mark.thorough
@pytest.mark.parametrize("directed", [True, False])
def test_a_skewed_graph(directed, backend):
    graph = random_graph(120, 700, seed=2, directed=directed)
    same(betweenness(graph, backend=backend), list(nx.betweenness_centrality(networkx_of(graph)).values()))


def test_counts_of_paths_that_no_integer_holds():
    """Shortest paths across a grid are binomial coefficients: from corner to corner C(398, 199), about 1e118."""
    graph = grid(200, 200)
    found = betweenness(graph, [0], normalized=False)
    paths = [math.comb(i + j, i) for i in range(200) for j in range(200)]
    dependency = [0.0] * 40_000
    for v in reversed(range(40_000)):
        right = [w for w in ((v + 1) if v % 200 < 199 else None, (v + 200) if v < 39_800 else None) if w is not None]
        dependency[v] = sum(paths[v] / paths[w] * (1 + dependency[w]) for w in right)
    dependency[0] = 0
    assert close(found.tolist(), [x / 2 for x in dependency], 1e-9)


@pytest.mark.skipif(not LAGRAPH.is_dir(), reason=f"the folder of reference results {LAGRAPH} is not there")
def test_lagraph_batches():
    """Sums over some sources, where LAGraph counts an undirected path once for each of its ends."""
    for name, expected in json.loads((LAGRAPH / "expected.json").read_text())["betweenness_batch"].items():
        stored = scipy.io.mmread(LAGRAPH / name).tocoo()
        upper = stored.row <= stored.col
        graph = tg.Graph.from_edges(
            stored.row[upper], stored.col[upper], num_vertices=stored.shape[0], directed=False, multi="first"
        )
        found = 2 * betweenness(graph, expected["sources_0based"], normalized=False)
        np.testing.assert_allclose(found.numpy(), expected["bc"], rtol=1e-4, atol=1e-5)


def test_the_smallest_graphs():
    assert betweenness(tg.Graph.from_edges([], [])).tolist() == []
    assert betweenness(tg.Graph.from_edges([], [], num_vertices=2)).tolist() == [0, 0]
    assert betweenness(tg.Graph.from_edges([0, 0, 1], [0, 1, 2]), normalized=False).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sources": [0, 3]}, ("sources", "3", "position 1")),
        ({"sources": [0], "k": 1}, ("k", "sources")),
        ({"k": 0}, ("k", "0", "1..3")),
        ({"k": 4}, ("k", "4", "1..3")),
        ({"batch": 0}, ("batch", "0")),
    ],
)
def test_arguments_out_of_range(arguments, words):
    refused_naming(words, betweenness, tg.Graph.from_edges([0, 1], [1, 2]), **arguments)


def test_more_paths_than_a_float_can_count(backend, monkeypatch):
    """Two corners of a grid of 600 x 600 are joined by 1e359 paths, half of them through each neighbour of a corner."""
    graph = tg.generators.grid2d(600, 600)
    if backend == "portable":  # one level at a time in Python: by logarithms on a grid whose paths could be counted
        graph = tg.generators.grid2d(30, 30)
        monkeypatch.setattr(module, "COUNTABLE", 0)
    n, side = graph.num_vertices, math.isqrt(graph.num_vertices)
    score = betweenness(graph, [0], normalized=False, backend=backend) * 2
    assert torch.isfinite(score).all()
    assert score[1] == pytest.approx((n - 3) / 2) and score[side] == pytest.approx((n - 3) / 2)
    assert torch.allclose(score.view(side, side), score.view(side, side).T, rtol=1e-9)
    monkeypatch.setattr(module, "COUNTABLE", math.inf)
    small = tg.generators.grid2d(20, 30)
    expected = betweenness(small, [7, 50], backend=backend)
    monkeypatch.setattr(module, "COUNTABLE", 0)
    assert torch.allclose(betweenness(small, [7, 50], backend=backend), expected, rtol=1e-9, atol=1e-15)
