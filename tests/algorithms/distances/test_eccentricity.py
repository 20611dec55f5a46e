"""Eccentricities, diameter, radius, centre and periphery against networkx."""

import networkx as nx
import pytest
import torch
from hypothesis import assume, given
from strategies import arcs, graphs, grid, random_graph, twin

import tgraph as tg
from tgraph.algorithms import center, diameter, eccentricity, periphery, radius
from tgraph.errors import ArgumentError


def check(graph, weighted, **options):
    expected = nx.eccentricity(nx.DiGraph(lightest(graph)), weight="weight" if weighted else None)
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


def lightest(graph):
    G = nx.DiGraph()
    G.add_nodes_from(range(graph.num_vertices))
    for u, v, weight in sorted(arcs(graph), key=lambda arc: -arc[2]):
        G.add_edge(u, v, weight=weight)
    return G


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


def test_layouts():
    assert torch.equal(eccentricity(grid(5, 6).to_format("sell")), eccentricity(grid(5, 6)))


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
    with pytest.raises(ArgumentError, match="has no vertices"):
        diameter(tg.Graph.from_edges([], []))
    with pytest.raises(ArgumentError, match=r"no path leads from vertex 'b' to 'a'"):
        radius(tg.Graph.from_edges([0, 1], [1, 2], vertices=["a", "b", "c"]))
    with pytest.raises(ArgumentError, match="not negative"):
        center(tg.Graph.from_edges([0, 1], [1, 0], [1, -1]), weighted=True)
