"""Whether arcs are there in both directions, by a fingerprint and, where they are not, by name."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import FLOATS, INTEGERS, arcs, graphs, random_graph

import tgraph as tg
from tgraph.core.building import symmetry
from tgraph.errors import ArgumentError

pytestmark = pytest.mark.usefixtures("kernels")


def has_all_reverses(graph):
    forth = sorted(arcs(graph))
    return forth == sorted((v, u, weight) for u, v, weight in forth)


@given(graphs(dtypes=(None, *INTEGERS, *FLOATS)), st.booleans(), st.data())
def test_undirected_graphs_and_those_that_are_nearly(kernels, graph, both_ways, data):
    """Parallel arcs, weights and self-loops among them; of a graph that lacks an arc the error names one."""
    if both_ways:
        graph = graph.to_undirected(multi="keep")
        if graph.num_arcs and data.draw(st.booleans()):
            keep = torch.ones(graph.num_arcs, dtype=torch.bool)
            keep[data.draw(st.integers(0, graph.num_arcs - 1))] = False
            rows, weights = graph.to_edge_index()[0], graph.weights
            weights = None if weights is None else weights[keep]
            n = graph.num_vertices
            graph = tg.Graph.from_edges(rows[keep], graph.neighbors[keep], weights, num_vertices=n)
    given_arcs = (graph.offset, graph.neighbors, graph.weights)
    if has_all_reverses(graph):
        made = tg.Graph.from_csr(*given_arcs, directed=False)
        assert not made.directed and sorted(arcs(made)) == sorted(arcs(graph))
        pairs = {(u, v): [w for a, b, w in arcs(made) if (a, b) == (u, v)] for u, v, _ in arcs(made)}
        assert all(weights == pairs[v, u] for (u, v), weights in pairs.items())
    else:
        with pytest.raises(ArgumentError, match="lacks its reverse") as caught:
            tg.Graph.from_csr(*given_arcs, directed=False)
        u, v, position = map(int, re.search(r"arc (\d+) -> (\d+).* at position (\d+)", str(caught.value)).groups())
        listed = arcs(graph)
        assert listed[position][:2] == (u, v)
        assert listed.count(listed[position]) > listed.count((v, u, listed[position][2]))


def test_large_graphs_in_chunks(monkeypatch):
    graph = random_graph(5000, 60_000, directed=False, dtype=torch.float32)
    monkeypatch.setattr(symmetry, "CHUNK", 7001)
    assert tg.Graph.from_csr(graph.offset, graph.neighbors, graph.weights, directed=False).num_edges == graph.num_edges
    weights = graph.weights.clone()
    weights[17_000] += 1
    with pytest.raises(ArgumentError, match=r"at position \d+ lacks its reverse of equal weight"):
        tg.Graph.from_csr(graph.offset, graph.neighbors, weights, directed=False)


def test_equal_weights():
    """NaN equals NaN, and -0 equals 0."""
    nan = torch.tensor([torch.nan, torch.nan, 0.0, -0.0])
    graph = tg.Graph.from_csr([0, 1, 2, 3, 4], [1, 0, 3, 2], nan, directed=False)
    assert graph.num_edges == 2


def test_rows_and_lists_of_arcs_have_one_sum():
    graph = random_graph(300, 2000, dtype=torch.float32)
    rows, listed = symmetry.Mirror(), symmetry.Mirror()
    rows.note_rows(graph.offset, graph.neighbors, graph.weights)
    listed.note(graph.to_edge_index()[0], graph.neighbors, graph.weights)
    assert not rows.complete and (rows.total - listed.total) % 2**64 == 0


def test_nothing_of_the_size_of_the_arcs_is_made(monkeypatch):
    graph = random_graph(5000, 500_000, directed=False, dtype=torch.float32)
    monkeypatch.setattr(symmetry, "CHUNK", 1 << 14)
    with torch.profiler.profile(profile_memory=True) as seen:
        symmetry.check_mirrored(graph.offset, graph.neighbors, graph.weights)
    assert max(event.cpu_memory_usage for event in seen.events()) <= 8 * symmetry.CHUNK < graph.num_arcs
