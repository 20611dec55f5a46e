"""Biconnected components, articulation points and bridges against networkx."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from strategies import BACKENDS, graphs, grid, random_graph, simple_twin

import tgraph as tg
from tgraph.algorithms import articulation_points, biconnected_components, biconnected_edges, bridges


def rows(found):
    offset, vertices = found
    return [part.tolist() for part in vertices.split(offset.diff().tolist())] if len(offset) > 1 else []


def check(graph, backend):
    G = simple_twin(graph)
    members = rows(biconnected_components(graph, backend=backend))
    assert sorted(members) == sorted(map(sorted, nx.biconnected_components(G)))
    assert articulation_points(graph, backend=backend).tolist() == sorted(nx.articulation_points(G))
    edges = list(zip(*graph.to_edge_index().tolist(), strict=True))
    for (u, v), number in zip(edges, biconnected_edges(graph, backend=backend).tolist(), strict=True):
        assert number == -1 if u == v else {u, v} <= set(members[number])
    single = sorted(tuple(sorted(edge)) for edge in nx.bridges(G) if edges.count(edge) == 1)
    assert list(zip(*bridges(graph, backend=backend).tolist(), strict=True)) == single


@given(graphs(directed=False))
def test_equal_to_networkx(graph):
    for backend in BACKENDS:
        check(graph, backend)


@pytest.mark.parametrize("m", [150, 300, 900])
def test_random_graphs(m, backend):
    check(random_graph(300, m, seed=m, directed=False), backend)


def test_components_along_a_path(backend):
    """Triangles that hang together, and a long way around."""
    corners = torch.arange(0, 400, 2)
    src, dst = torch.cat((corners, corners, corners + 1)), torch.cat((corners + 1, corners + 2, corners + 2))
    graph = tg.Graph.from_edges(src, dst, directed=False)
    assert articulation_points(graph, backend=backend).tolist() == list(range(2, 400, 2))
    assert len(rows(biconnected_components(graph, backend=backend))) == 200
    closed = tg.Graph.from_edges([*src.tolist(), 400], [*dst.tolist(), 0], directed=False)
    assert rows(biconnected_components(closed, backend=backend)) == [list(range(401))]


def test_grid_and_the_smallest_graphs(backend):
    assert rows(biconnected_components(grid(20, 30), backend=backend)) == [list(range(600))]
    for n in (0, 1, 2):
        empty = tg.Graph.from_edges([], [], num_vertices=n, directed=False)
        assert rows(biconnected_components(empty, backend=backend)) == []
        assert bridges(empty, backend=backend).shape == (2, 0) and not len(articulation_points(empty, backend=backend))
