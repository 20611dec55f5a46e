"""Centralities by electric current against networkx."""

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from strategies import arcs, graphs, merged_twin, on_threads, random_graph

import tgraph as tg
from tgraph.algorithms import (
    current_flow_betweenness,
    current_flow_closeness,
    edge_current_flow_betweenness,
    information,
    wcc,
)
from tgraph.errors import ArgumentError, NotConvergedError


def connected(graph):
    """The component of vertex 0."""
    return tg.algorithms.induced_subgraph(graph, (wcc(graph) == 0).nonzero().flatten())


def check(graph, weighted, method="auto"):
    G, options = merged_twin(graph.without_self_loops(), sum, weighted), {"weighted": weighted, "method": method}
    expected = nx.current_flow_closeness_centrality(G, weight="weight")
    for function in (current_flow_closeness, information):
        assert function(graph, **options).tolist() == pytest.approx([expected[v] for v in G])
    for normalized in (True, False):
        expected = nx.current_flow_betweenness_centrality(G, weight="weight", normalized=normalized)
        found = current_flow_betweenness(graph, normalized=normalized, **options)
        assert found.tolist() == pytest.approx([expected[v] for v in G], abs=1e-7)
        expected = nx.edge_current_flow_betweenness_centrality(G, weight="weight", normalized=normalized)
        expected |= {(v, u): value for (u, v), value in expected.items()}
        found = edge_current_flow_betweenness(graph, normalized=normalized, **options).tolist()
        assert found == pytest.approx([expected.get((u, v), 0) for u, v, _ in arcs(graph)], abs=1e-7)


@settings(max_examples=min(30, settings().max_examples))
@given(graphs(min_vertices=3, directed=False, dtypes=(None, torch.int32, torch.float64), lowest=1))
def test_values_are_those_of_networkx(graph):
    graph = connected(graph)
    if graph.num_vertices > 2:
        check(graph, graph.weights is not None)
        check(graph, False, "cg")


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["dense", "cg"])
def test_a_larger_graph(method, monkeypatch):
    monkeypatch.setattr("tgraph.algorithms.centrality.current_flow.AT_ONCE", 1000)
    graph = connected(random_graph(60, 160, seed=2, directed=False, dtype=torch.float32))
    check(graph, True, method)
    one, *others = on_threads(lambda: current_flow_betweenness(graph, method=method))
    others.append(current_flow_betweenness(graph.to_format("sell"), method=method))
    rounding = 0 if method == "cg" else 1e-12  # the order in which LAPACK adds depends on the number of threads
    for other in others:
        torch.testing.assert_close(other, one, rtol=rounding, atol=rounding)


def test_small_graphs_and_arguments():
    one = tg.Graph.from_edges([], [], num_vertices=1, directed=False)
    pair = tg.Graph.from_edges([0, 0], [1, 1], directed=False)
    assert current_flow_closeness(one).tolist() == current_flow_betweenness(one).tolist() == [0]
    assert current_flow_closeness(pair).tolist() == pytest.approx([2, 2])
    assert current_flow_betweenness(pair).tolist() == [0, 0]
    assert edge_current_flow_betweenness(one).tolist() == []
    assert len(current_flow_closeness(tg.Graph.from_edges([], [], directed=False))) == 0
    with pytest.raises(ArgumentError, match="no current flows between vertices 0 and 1"):
        current_flow_closeness(tg.Graph.from_edges([0], [2], directed=False))
    with pytest.raises(ArgumentError, match=r"weights: 0.0 at position 0, arc 0 -> 1; .* finite and above zero"):
        current_flow_betweenness(tg.Graph.from_edges([0], [1], [0.0], directed=False), weighted=True)
    with pytest.raises(ArgumentError, match="method: 'lu'"):
        current_flow_closeness(pair, method="lu")


def test_conductances_that_lie_too_far_apart_are_refused():
    u = torch.arange(199)
    for spread, methods in ((7, ("dense", "cg")), (5.9, ("dense",))):
        weights = 10.0 ** (spread * torch.sin(1.7 * u.double()))
        graph = tg.Graph.from_edges(u, u + 1, weights=weights, num_vertices=200, directed=False)
        for method in methods:
            with pytest.raises(ArgumentError, match=r"weights: from .* they lie too far apart"):
                current_flow_closeness(graph, weighted=True, method=method)
    with pytest.raises(NotConvergedError, match=r"tol: .* of a current is left after 2010 steps"):
        current_flow_closeness(graph, weighted=True, method="cg")


@pytest.mark.parametrize("scale", [1e-9, 1.0, 2.0**33, 1e15])
def test_conductances_of_any_size(scale):
    """The dense matrix of conductances is solved as well for large ones."""
    weights = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0], dtype=torch.float64)
    graph = tg.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], weights, directed=False)
    larger = tg.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], weights * scale, directed=False)
    expected = tg.algorithms.current_flow_closeness(graph, weighted=True, method="dense") * scale
    found = tg.algorithms.current_flow_closeness(larger, weighted=True, method="dense")
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=0)
    assert bool((found > 0).all())
