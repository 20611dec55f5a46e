"""Closeness and harmonic centrality against networkx."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, networkx_of, random_graph, same_on_threads

import tgraph as tg
from tgraph.algorithms import closeness, harmonic
from tgraph.errors import ArgumentError

DTYPES = (torch.int32, torch.float32, torch.float64)


def same(found, expected):
    assert found.dtype == torch.float64
    assert found.tolist() == pytest.approx(list(expected.values()), rel=1e-12, abs=1e-14)


@given(graphs(), st.booleans())
def test_in_hops(graph, improved):
    G = networkx_of(graph)
    same(closeness(graph, wf_improved=improved), nx.closeness_centrality(G, wf_improved=improved))
    same(harmonic(graph), nx.harmonic_centrality(G))


@given(graphs(dtypes=DTYPES), st.booleans())
def test_over_weights(graph, improved):
    G = networkx_of(graph)
    expected = nx.closeness_centrality(G, distance="weight", wf_improved=improved)
    same(closeness(graph, weighted=True, wf_improved=improved), expected)
    same(harmonic(graph, weighted=True), nx.harmonic_centrality(G, distance="weight"))


@given(graphs(min_vertices=1, dtypes=(None, torch.int32, torch.float64), lowest=1), st.data())
def test_harmonic_from_some(graph, data):
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), unique=True))
    weight = None if graph.weights is None else "weight"
    expected = nx.harmonic_centrality(networkx_of(graph), distance=weight, sources=sources)
    found = harmonic(graph, sources=sources, weighted=weight is not None)
    assert found.tolist() == pytest.approx([expected[v] for v in range(graph.num_vertices)])
    assert harmonic(graph, [0], sources=sources, weighted=weight is not None).tolist() == found[:1].tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_some_vertices_backends_and_threads(weighted):
    graph = random_graph(300, 900, seed=1, dtype=torch.float64)
    G, distance = networkx_of(graph), "weight" if weighted else None
    chosen = [7, 0, 299, 7]
    expected = [nx.closeness_centrality(G, vertex, distance) for vertex in chosen]
    for backend in ("auto", "portable"):
        found = closeness(graph, chosen, weighted=weighted, backend=backend)
        assert found.tolist() == pytest.approx(expected, rel=1e-12)
    same_on_threads(lambda: harmonic(graph, weighted=weighted))


def test_arguments():
    graph = tg.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(ArgumentError, match=r"vertices.*3"):
        harmonic(graph, [3])
