"""Searches against networkx, and compiled kernels against the portable ones."""

import networkx as nx
import pytest
import torch
from backends import portable
from hypothesis import given, settings
from hypothesis import strategies as st

from tgraph.errors import ArgumentError
from tgraph.kernels.operators.paths import search as operators
from tgraph.primitives.paths import search


@st.composite
def rows(draw):
    """(offset, neighbors, weights) of rows in any order, with loops and parallel arcs."""
    n = draw(st.integers(1, 9))
    arcs = draw(st.lists(st.lists(st.integers(0, n - 1), max_size=5), min_size=n, max_size=n))
    offset = torch.tensor([0, *map(len, arcs)]).cumsum(0)
    neighbors = torch.tensor([v for row in arcs for v in row], dtype=torch.int32)
    weights = draw(st.lists(st.integers(-1, 4), min_size=len(neighbors), max_size=len(neighbors)))
    return offset, neighbors, torch.tensor(weights, dtype=torch.int64)


def equal(found, expected):
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            equal(a, b)
    elif isinstance(expected, torch.Tensor):
        assert torch.equal(found, expected)
    else:
        assert found == expected


@settings(deadline=None)
@given(rows(), st.integers(1, 3), st.sampled_from((torch.int64, torch.float64)))
def test_as_portable(given, limit, dtype):
    offset, neighbors, weights = given
    n = len(offset) - 1
    sources = torch.tensor([n - 1, 0])
    weights = weights.to(dtype)
    equal(search.breadth_first(offset, neighbors, sources), portable.breadth_first(offset, neighbors, sources, n))
    found = search.breadth_first(offset, neighbors, sources, limit)
    equal(found, portable.breadth_first(offset, neighbors, sources, limit))
    found = operators.breadth_first_each(offset, neighbors, sources, limit)
    equal(found, portable.breadth_first_each(offset, neighbors, sources, limit))
    equal(search.depth_first(offset, neighbors, sources), portable.depth_first(offset, neighbors, sources, n + 1))
    found = search.depth_first(offset, neighbors, sources, limit)
    equal(found, portable.depth_first(offset, neighbors, sources, limit))
    equal(search.strong_components(offset, neighbors), portable.strong_components(offset, neighbors))
    in_degree = neighbors.bincount(minlength=n)
    equal(search.generations(offset, neighbors, in_degree), portable.generations(offset, neighbors, in_degree))
    for options in ({}, {"cutoff": 3}, {"target": 0}):
        found = search.dijkstra(offset, neighbors, weights, sources[:1], **options)
        filled = {"cutoff": None, "target": -1} | options
        expected = portable.dijkstra(offset, neighbors, weights, sources[:1], **filled)
        assert (found is None) == (expected is None)
        if found is not None and "target" not in options:
            equal(found[:3], expected[:3])
            equal(found[3][found[0]], expected[3][expected[0]])
        elif found is not None:
            equal(found[0], expected[0])
    for early in (True, False):
        found = search.bellman_ford(offset, neighbors, weights, sources, early=early)
        expected = portable.bellman_ford_in_order(offset, neighbors, weights, sources, early)
        assert (found is None) == (expected is None)
        if expected is not None:
            equal(found, expected)
    arcs = [(offset, neighbors, weights), (offset, neighbors, weights)]
    equal(search.meet_weighted(*arcs[0], *arcs[1], 0, n - 1), portable.meet_weighted(*arcs[0], *arcs[1], 0, n - 1))
    transposed = [[u for u in range(n) if v in neighbors[offset[u] : offset[u + 1]]] for v in range(n)]
    back_offset = torch.tensor([0, *map(len, transposed)]).cumsum(0)
    back = torch.tensor([u for row in transposed for u in row], dtype=torch.int32)
    found = search.meet(offset, neighbors, back_offset, back, 0, n - 1)
    equal(found, portable.meet(offset, neighbors, back_offset, back, 0, n - 1))


def test_as_networkx():
    G = nx.gnp_random_graph(60, 0.05, seed=2, directed=True)
    offset = torch.tensor([0, *(len(G[v]) for v in G)]).cumsum(0)
    neighbors = torch.tensor([w for v in G for w in G[v]], dtype=torch.int32)
    order, parent, _ = search.breadth_first(offset, neighbors, torch.tensor([0]))
    assert list(zip(parent[1:].tolist(), order[1:].tolist(), strict=True)) == list(nx.bfs_edges(G, 0))
    order, _, parent = search.depth_first(offset, neighbors, torch.arange(60))
    edges = [(int(parent[v]), v) for v in order.tolist() if parent[v] >= 0]
    assert edges == list(nx.dfs_edges(G))
    component = search.strong_components(offset, neighbors).tolist()
    for i, members in enumerate(nx.strongly_connected_components(G)):
        assert {v for v in G if component[v] == i} == members


def test_bad_source():
    with pytest.raises(ArgumentError, match="sources: 2 is no vertex of the 2"):
        search.breadth_first(torch.tensor([0, 1, 1]), torch.tensor([1]), torch.tensor([2]))
