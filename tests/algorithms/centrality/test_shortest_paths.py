"""Weighted and edge betweenness, load and percolation against networkx."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import arcs, graphs, merged_twin, networkx_of, refused

import tgraph as tg
from tgraph.algorithms import betweenness, edge_betweenness, load, percolation
from tgraph.errors import ArgumentError

KINDS = (None, torch.int32, torch.float64)


def same(found, expected):
    assert found.dtype == torch.float64 and found.tolist() == pytest.approx(expected, rel=1e-10, abs=1e-13, nan_ok=True)


def weight_of(graph):
    return None if graph.weights is None else "weight"


def of_arcs(graph, G, values):
    """networkx's values of edges in the order of the arcs; those of parallel edges by their weights."""
    left = {}
    for edge, value in values.items():
        u, v = edge[:2]
        weight = G.edges[edge]["weight"]
        for pair in {(u, v), (u, v) if graph.directed else (v, u)}:
            left.setdefault((*pair, weight), []).append(value)
    return [left[u, v, weight].pop() for u, v, weight in arcs(graph)]


@given(graphs(dtypes=KINDS[1:], lowest=1), st.booleans(), st.booleans())
def test_weighted_betweenness(graph, normalized, endpoints):
    options = {"normalized": normalized, "endpoints": endpoints}
    expected = nx.betweenness_centrality(networkx_of(graph), weight="weight", **options)
    same(betweenness(graph, weighted=True, **options), list(expected.values()))


@given(graphs(dtypes=KINDS, lowest=1), st.booleans())
def test_edges(graph, normalized):
    G, weight = networkx_of(graph), weight_of(graph)
    expected = nx.edge_betweenness_centrality(G, normalized=normalized, weight=weight)
    same(edge_betweenness(graph, normalized=normalized, weighted=bool(weight)), of_arcs(graph, G, expected))


@given(graphs(min_vertices=2, dtypes=KINDS, lowest=1), st.data())
def test_edges_by_a_sample(graph, data):
    G, weight, k = networkx_of(graph), weight_of(graph), data.draw(st.integers(1, graph.num_vertices))
    expected = nx.edge_betweenness_centrality(G, k, weight=weight, seed=3)
    same(edge_betweenness(graph, k=k, seed=3, weighted=bool(weight)), of_arcs(graph, G, expected))


@given(graphs(), st.booleans())
def test_load(graph, normalized):
    same(
        load(graph, normalized=normalized), list(nx.load_centrality(networkx_of(graph), normalized=normalized).values())
    )


@given(graphs(dtypes=(torch.int64, torch.float64), lowest=1, highest=3))
def test_load_over_weights(graph):
    """Weights that make many paths of one length, some of them of a single arc."""
    expected = list(nx.load_centrality(merged_twin(graph, min), weight="weight").values())
    for backend in ("auto", "portable"):
        same(load(graph, weighted=True, backend=backend), expected)


@given(graphs(min_vertices=3, dtypes=KINDS, lowest=1))
def test_percolation(graph):
    states = torch.arange(graph.num_vertices, dtype=torch.float64) + 1
    G, weight = networkx_of(graph), weight_of(graph)
    expected = nx.percolation_centrality(G, states=dict(enumerate(states.tolist())), weight=weight)
    same(percolation(graph, states, weighted=bool(weight)), list(expected.values()))
    even = nx.percolation_centrality(G, weight=weight)
    same(percolation(graph, weighted=bool(weight)), list(even.values()))


@given(graphs(min_vertices=1, dtypes=KINDS, lowest=1))
def test_backends(graph):
    weighted = graph.weights is not None
    for function in (betweenness, edge_betweenness, load):
        compiled, portable = (function(graph, weighted=weighted, backend=name) for name in ("auto", "portable"))
        assert torch.allclose(compiled, portable, rtol=1e-12, atol=1e-14)


def test_small_graphs_and_arguments():
    empty, pair = tg.Graph.from_edges([], []), tg.Graph.from_edges([0], [1])
    assert [len(function(empty)) for function in (edge_betweenness, load, percolation)] == [0, 0, 0]
    assert percolation(pair).tolist() == [0, 0] and edge_betweenness(pair).tolist() == [0.5]
    for function in (betweenness, edge_betweenness, load, percolation):
        with pytest.raises(ArgumentError, match="weights: 0 at position 1"):
            function(tg.Graph.from_edges([0, 1], [1, 2], [1, 0]), weighted=True)
        lost = tg.Graph.from_edges([0, 1], [1, 2], [1.0, 1e-20], directed=False)
        with pytest.raises(ArgumentError, match=r"1e-20 at position .* rounded away in distances as large as 1\.0"):
            function(lost, weighted=True)
        assert function(tg.Graph.from_edges([0, 1], [1, 2], [1e10, 1.0]), weighted=True).isfinite().all()
    with pytest.raises(ArgumentError, match="states"):
        percolation(pair, torch.tensor([1.0, -1.0]))
    primitive = tg.primitives.path_counts
    refused("distance", primitive.count_paths, pair, torch.zeros(1, 3))
    refused("left", primitive.add_along_arcs, pair, torch.zeros(1, 2), torch.zeros(2), torch.zeros(2), torch.zeros(1))
