"""BFS against networkx: hops, parents, several sources, depth limits."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import MODES, graphs, grid, random_graph, refused_naming, twin

import tgraph as tg
from tgraph.algorithms import BFS, bfs
from tgraph.errors import ArgumentError


def hops(graph, source, max_depth=None):
    found = nx.single_source_shortest_path_length(twin(graph), source, cutoff=max_depth)
    return [found.get(v, -1) for v in range(graph.num_vertices)]


def smallest_parents(graph, source, depth):
    """Of the in-neighbours one hop nearer the smallest; the source is its own parent."""
    G = twin(graph)
    nearer = [[u for u in G.predecessors(v) if depth[u] == depth[v] - 1 and depth[u] >= 0] for v in G]
    parent = [min(candidates) if candidates else -1 for candidates in nearer]
    parent[source] = source
    return parent


@given(graphs(min_vertices=1), st.data())
def test_depth_and_parents_equal_networkx(graph, data):
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    expected = hops(graph, source)
    smallest = smallest_parents(graph, source, expected)
    for mode in MODES:
        depth, parents = bfs(graph, source, parents=True, mode=mode)
        assert depth.dtype == torch.int32 and parents.dtype == torch.int64
        assert depth.tolist() == expected
        assert parents.tolist() == smallest


@given(graphs(min_vertices=1), st.data(), st.integers(0, 6))
def test_max_depth_stops_after_so_many_hops(graph, data, max_depth):
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    expected = hops(graph, source, max_depth)
    smallest = smallest_parents(graph, source, expected)
    for mode in MODES:
        depth, parents = bfs(graph, source, parents=True, max_depth=max_depth, mode=mode)
        assert depth.tolist() == expected
        assert parents.tolist() == smallest


@given(graphs(min_vertices=1), st.data())
def test_several_sources_at_once(graph, data):
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), max_size=4))
    limit = data.draw(st.none() | st.integers(0, 4))
    expected = [hops(graph, source, limit) for source in sources]
    smallest = [smallest_parents(graph, *each) for each in zip(sources, expected, strict=True)]
    for mode in MODES:
        depth, parents = bfs(graph, sources, parents=True, max_depth=limit, mode=mode)
        assert depth.shape == parents.shape == (graph.num_vertices, len(sources))
        assert depth.T.tolist() == expected and parents.T.tolist() == smallest


def test_a_pull_goes_one_hop_in_one_iteration():
    """Vertex 6 is reached last, after the scan of the head of its row, whose new values must not be read in that
    round."""
    src, dst = [9, 0, 1, 2, 3, 4, 0], [0, 5, 6, 6, 6, 6, 1]
    graph = tg.Graph.from_edges([*src, 5], [*dst, 6], num_vertices=10)
    for mode in MODES:
        assert bfs(graph, 0, max_depth=1, mode=mode).tolist() == hops(graph, 0, 1)


@pytest.mark.covering(1)
@pytest.mark.parametrize("directed", [True, False])
def test_a_skewed_graph_in_which_auto_pulls(directed, backend):
    graph, source = random_graph(400, 6000, directed=directed), 1
    directions = {step.direction for step in tg.run(BFS(source), graph, trace=True).trace.iterations}
    assert directions == {"push", "pull"}
    for limit in (None, 1, 2):
        expected = hops(graph, source, limit)
        for mode in MODES:
            assert bfs(graph, source, max_depth=limit, mode=mode, backend=backend).tolist() == expected


def test_a_long_grid_and_a_long_path(mode):
    assert bfs(grid(3, 80), 0, mode=mode).tolist() == hops(grid(3, 80), 0)
    path = tg.Graph.from_edges(range(199), range(1, 200))
    assert bfs(path, 0, mode=mode).tolist() == list(range(200))
    assert bfs(path, 199, mode=mode).tolist() == [-1] * 199 + [0]


def test_one_vertex_and_a_graph_without_arcs(mode):
    alone = tg.Graph.from_edges([], [], num_vertices=1)
    assert bfs(alone, 0, mode=mode, parents=True)[0].tolist() == [0]
    assert bfs(alone, 0, mode=mode, parents=True)[1].tolist() == [0]
    looped = tg.Graph.from_edges([0, 0], [0, 0])
    assert [x.tolist() for x in bfs(looped, 0, mode=mode, parents=True)] == [[0], [0]]
    empty = tg.Graph.from_edges([], [], num_vertices=3)
    assert [x.tolist() for x in bfs(empty, 2, mode=mode, parents=True)] == [[-1, -1, 0], [-1, -1, 2]]


def test_the_forms_in_which_a_source_is_named():
    graph = tg.Graph.from_edges([0, 1], [1, 2])
    for source in (1, torch.tensor(1), torch.tensor(1, dtype=torch.int32)):
        assert bfs(graph, source).tolist() == [-1, 0, 1]
    for sources in ([1, 0], (1, 0), torch.tensor([1, 0]), torch.tensor([1, 0], dtype=torch.int32)):
        assert bfs(graph, sources).tolist() == [[-1, 0], [0, 1], [1, 2]]
    assert bfs(graph, [2, 2]).tolist() == [[-1, -1], [-1, -1], [0, 0]]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (3, ("3", "position 0", "0..2", "graph.index")),
        (-1, ("-1", "0..2")),
        ([0, 1, 7], ("7", "position 2")),
        (torch.tensor([0, -2]), ("-2", "position 1")),
        (0.5, ("float", "int64")),
        ([0.5, 1.0], ("float", "int64")),
    ],
)
def test_a_source_that_is_no_vertex(source, words):
    refused_naming(words, bfs, tg.Graph.from_edges([0, 1], [1, 2]), source)


def test_no_source_fits_a_graph_without_vertices():
    with pytest.raises(ArgumentError):
        bfs(tg.Graph.from_edges([], []), 0)


def test_a_negative_depth():
    with pytest.raises(ArgumentError, match=r"max_depth.*-1"):
        bfs(tg.Graph.from_edges([0], [1]), 0, max_depth=-1)
