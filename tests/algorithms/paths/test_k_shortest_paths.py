"""The k shortest loopless paths against those of networkx."""

import itertools

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import BACKENDS, arcs, graphs, grid, merged_twin

from tgraph.algorithms import k_shortest_paths
from tgraph.errors import ArgumentError


@given(graphs(min_vertices=1, dtypes=(None, torch.int8, torch.int64, torch.float32)), st.data())
def test_lengths_are_those_of_networkx(graph, data):
    vertex = st.integers(0, graph.num_vertices - 1)
    source, target, weighted = data.draw(vertex), data.draw(vertex), data.draw(st.booleans())
    G = merged_twin(graph, min, weighted)
    expected = []
    if nx.has_path(G, source, target):
        every = nx.shortest_simple_paths(G, source, target, weight="weight")
        expected = [nx.path_weight(G, path, "weight") for path in itertools.islice(every, 6)]
    for backend in BACKENDS:
        found = k_shortest_paths(graph, source, target, 6, weighted=weighted, backend=backend)
        paths = [tuple(path.tolist()) for path, _ in found]
        assert [length for _, length in found] == expected == [nx.path_weight(G, path, "weight") for path in paths]
        assert len(set(paths)) == len(paths) and all(len(set(path)) == len(path) for path in paths)
        assert all((path[0], path[-1]) == (source, target) for path in paths)


def test_a_long_grid():
    graph = grid(12, 15, torch.int32)
    G = nx.Graph()
    G.add_weighted_edges_from(arcs(graph))
    expected = itertools.islice(nx.shortest_simple_paths(G, 0, 179, weight="weight"), 8)
    found = k_shortest_paths(graph, 0, 179, 8, weighted=True)
    assert [length for _, length in found] == [nx.path_weight(G, path, "weight") for path in expected]
    assert k_shortest_paths(graph, 0, 179, 0) == []
    with pytest.raises(ArgumentError, match="count: expected 0 paths or more, got -1"):
        k_shortest_paths(graph, 0, 179, -1)
