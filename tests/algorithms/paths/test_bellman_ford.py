"""Negative weights against networkx: distances, trees, cycles, all pairs; and widest paths."""

import math

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import BACKENDS, arcs, graphs, random_graph, refused, relaxed, twin

import tgraph as tg
from tgraph.algorithms import all_pairs, bellman_ford, bfs, negative_cycle, sssp, widest_path
from tgraph.errors import ArgumentError, NegativeCycleError

SIGNED = (torch.int8, torch.int64, torch.float32, torch.float64)


def weight_of(graph, cycle):
    G = twin(graph)
    return sum(
        min(arc["weight"] for arc in G[u][v].values()) for u, v in zip(cycle, cycle[1:] + cycle[:1], strict=True)
    )


@given(graphs(min_vertices=1, dtypes=SIGNED, lowest=-2), st.data())
def test_distances_or_a_negative_cycle(graph, data):
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    try:
        expected = nx.single_source_bellman_ford_path_length(twin(graph), source)
    except nx.NetworkXUnbounded:
        expected = None
    for backend in BACKENDS:
        if expected is None:
            with pytest.raises(NegativeCycleError) as found:
                bellman_ford(graph, source, backend=backend)
            assert weight_of(graph, found.value.cycle) < 0
            continue
        distance, parent = bellman_ford(graph, source, backend=backend)
        assert {v: distance[v].item() for v in (parent >= 0).nonzero().flatten().tolist()} == expected
        for v in expected:
            steps = 0
            while v != source:
                u = int(parent[v])
                assert (
                    distance[u] + weight_of_arc(graph, u, v) == distance[v]
                    and (steps := steps + 1) < graph.num_vertices
                )
                v = u


def weight_of_arc(graph, u, v):
    return min(weight for a, b, weight in arcs(graph) if (a, b) == (u, v))


@given(graphs(dtypes=SIGNED, lowest=-1))
def test_negative_cycles(graph):
    expected = graph.num_vertices > 0 and nx.negative_edge_cycle(twin(graph))
    for backend in BACKENDS:
        cycle = negative_cycle(graph, backend=backend).tolist()
        assert bool(cycle) == expected and (not cycle or weight_of(graph, cycle) < 0)


@given(graphs(dtypes=(None, *SIGNED), lowest=-1), st.integers(1, 5), st.booleans())
def test_all_pairs_in_blocks(graph, block, weighted):
    if weighted and graph.num_vertices and nx.negative_edge_cycle(twin(graph)):
        with pytest.raises(NegativeCycleError):
            list(all_pairs(graph, weighted=True))
        return
    expected = dict(nx.all_pairs_bellman_ford_path_length(twin(graph), weight="weight" if weighted else None))
    seen = []
    for sources, distance in all_pairs(graph, weighted=weighted, block=block):
        assert len(sources) <= block and distance.shape == (len(sources), graph.num_vertices)
        for source, row in zip(sources.tolist(), distance.tolist(), strict=True):
            seen.append(source)
            other = math.inf if distance.is_floating_point() else -1
            assert row == pytest.approx([expected[source].get(v, other) for v in range(graph.num_vertices)])
    assert seen == list(range(graph.num_vertices))


def test_rounding_hides_no_improvement(backend):
    """Distances that fall by less than an arc further on can tell."""
    src, dst, weights = [0, 0, 1, 2, 3], [1, 2, 3, 1, 4], [1e-30, 0.0, 1e30, 0.0, 1.0]
    distance, parent = bellman_ford(tg.Graph.from_edges(src, dst, weights), 0, backend=backend)
    assert distance.tolist() == [0, 0, 0, 1e30, 1e30] and parent.tolist() == [0, 2, 0, 1, 3]


def test_a_larger_graph(backend):
    graph = random_graph(300, 2000, dtype=torch.int64)
    distance, _ = bellman_ford(graph, 0, backend=backend)
    unreached = torch.iinfo(torch.int64).max
    assert torch.equal(torch.where(distance == unreached, -1, distance), sssp(graph, 0))
    hops = bellman_ford(tg.Graph(graph.offset, graph.neighbors), 0, backend=backend)[0]
    assert torch.equal(torch.where(hops == unreached, -1, hops), bfs(graph, 0).to(torch.int64))


def test_several_sources_and_errors(backend):
    path = tg.Graph.from_edges(range(9), range(1, 10), [2] * 9, directed=False)
    assert bellman_ford(path, [0, 9], backend=backend)[0].tolist() == [0, 2, 4, 6, 8, 8, 6, 4, 2, 0]
    with pytest.raises(ArgumentError, match="nan at position 1, arc 1 -> 0"):
        bellman_ford(tg.Graph.from_edges([0, 1], [1, 0], [1, math.nan]), 0, backend=backend)
    loop = tg.Graph.from_edges([0, 1], [1, 1], [1, -1], vertices=["a", "b"])
    refused("cycle b -> b has a negative weight", bellman_ford, loop, 0, backend=backend, error=NegativeCycleError)
    refused("block: expected 1 or more", all_pairs, path, block=0)


@given(graphs(min_vertices=1, dtypes=(torch.int32, torch.float32), lowest=-3), st.data())
def test_widest_paths(graph, data):
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    floating = graph.weights.is_floating_point()
    info = torch.iinfo(torch.int32)
    start = [(math.inf if floating else info.max) if v == source else None for v in range(graph.num_vertices)]
    expected = relaxed(graph, start, "max", "min", [weight for _, _, weight in arcs(graph)])
    nothing = -math.inf if floating else info.min
    assert widest_path(graph, source).tolist() == [nothing if width is None else width for width in expected]


def test_widths_need_weights():
    with pytest.raises(ArgumentError, match="no weights"):
        widest_path(tg.Graph.from_edges([0], [1]), 0)
