"""Paths from vertex to vertex, trees of paths and A* against networkx."""

import itertools
import math

import networkx as nx
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import BACKENDS, arcs, graphs, grid, merged_twin, random_graph, refused, twin

import tgraph as tg
from tgraph.algorithms import astar_path, predecessors, shortest_path, shortest_path_length, sssp

DTYPES = (None, torch.int8, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)


def least(graph):
    """The least weight of the parallel arcs of each pair."""
    found: dict = {}
    for u, v, weight in arcs(graph):
        found[u, v] = min(weight, found.get((u, v), math.inf))
    return found


def length(graph, path, weighted):
    weight = least(graph)
    return sum(weight[pair] if weighted else 1 for pair in itertools.pairwise(path))


@given(graphs(min_vertices=1, dtypes=DTYPES), st.data())
def test_a_path_is_there_and_none_is_shorter(graph, data):
    vertex = st.integers(0, graph.num_vertices - 1)
    source, target, weighted = data.draw(vertex), data.draw(vertex), data.draw(st.booleans())
    lengths = nx.single_source_dijkstra_path_length(twin(graph), source, weight="weight" if weighted else None)
    for backend in BACKENDS:
        path = shortest_path(graph, source, target, weighted=weighted, backend=backend).tolist()
        found = shortest_path_length(graph, source, target, weighted=weighted, backend=backend)
        assert found == lengths.get(target, math.inf)
        assert bool(path) == (target in lengths)
        if path:
            assert (path[0], path[-1]) == (source, target) and length(graph, path, weighted) == found


@given(graphs(min_vertices=1, dtypes=(None, torch.int32, torch.int64, torch.float32)), st.data())
def test_bounds_lead_to_a_shortest_path(graph, data):
    source, target = (data.draw(st.integers(0, graph.num_vertices - 1)) for _ in range(2))
    left = nx.single_source_dijkstra_path_length(twin(graph).reverse(), target)
    share = data.draw(st.lists(st.sampled_from([0, 0.5, 1]), min_size=graph.num_vertices, max_size=graph.num_vertices))
    bound = torch.tensor([left.get(v, math.inf) * s if s else 0.0 for v, s in enumerate(share)])
    for given_bound in (bound, lambda vertices: bound[vertices], bound.nan_to_num(posinf=9).floor().to(torch.int64)):
        path = astar_path(graph, source, target, given_bound).tolist()
        assert bool(path) == (source in left)
        assert not path or length(graph, path, True) == left[source]


@given(graphs(min_vertices=1, dtypes=(None, torch.int32, torch.int64, torch.float32, torch.float64)), st.data())
def test_parents_are_a_tree_of_shortest_paths(graph, data):
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=1, max_size=2))
    distance, parent = sssp(graph, sources, parents=True)
    weight = least(graph)
    assert torch.equal(parent, sssp(graph, sources, parents=True, backend="portable")[1])
    for column, source in enumerate(sources):
        one, tree = sssp(graph, source, parents=True)
        assert torch.equal(tree, parent[:, column]) and torch.equal(one, distance[:, column])
        for v in range(graph.num_vertices):
            u, steps = v, 0
            while tree[u] not in (-1, u):
                assert one[tree[u]] + weight[int(tree[u]), u] == one[u] and (steps := steps + 1) < graph.num_vertices
                u = int(tree[u])
            assert u == (source if tree[v] >= 0 else v) and (tree[v] >= 0) == (0 <= one[v] < math.inf)


@given(graphs(min_vertices=1, dtypes=(torch.int32, torch.float64), lowest=1), st.data())
def test_predecessors_are_those_of_networkx(graph, data):
    source, weighted = data.draw(st.integers(0, graph.num_vertices - 1)), data.draw(st.booleans())
    found = predecessors(graph, source, weighted=weighted)
    before, _ = nx.dijkstra_predecessor_and_distance(
        nx.DiGraph(merged_twin(graph, min)), source, weight="weight" if weighted else None
    )
    rows = {
        v: sorted(set(found.neighbors[found.offset[v] : found.offset[v + 1]].tolist()))
        for v in range(graph.num_vertices)
    }
    assert rows == {v: sorted(before.get(v, [])) for v in range(graph.num_vertices)}


def test_larger_graphs(backend):
    for graph in (random_graph(400, 1500, dtype=torch.int32), grid(20, 30, torch.float32)):
        distance = sssp(graph, 7)
        for target in range(0, graph.num_vertices, 97):
            expected = distance[target].item()
            assert shortest_path_length(graph, 7, target, weighted=True, backend=backend) in (expected, math.inf)
    lattice = grid(20, 30)
    assert shortest_path_length(lattice, 0, 599, backend=backend) == 48
    across = (599 - torch.arange(600)) // 30 + (599 - torch.arange(600)) % 30
    assert len(astar_path(lattice, 0, 599, across, backend=backend)) == 49


def test_layouts():
    graph = grid(5, 6, torch.int32)
    packed = graph.to_format("sell")
    assert shortest_path(packed, 0, 29, weighted=True).tolist() == shortest_path(graph, 0, 29, weighted=True).tolist()
    assert torch.equal(sssp(packed, 0, parents=True)[1], sssp(graph, 0, parents=True)[1])
    assert predecessors(packed, 0).num_arcs == predecessors(graph, 0).num_arcs


def test_what_cannot_be():
    graph = tg.Graph.from_edges([0, 1], [1, 2], [1.0, -1.0])
    refused(r"target: 3 .* no vertex index 0\.\.2", shortest_path, graph, 0, 3)
    refused(r"-1\.0 at position 1.* bellman_ford", shortest_path, graph, 0, 2, weighted=True)
    refused("bound: NaN at position 1", astar_path, tg.Graph.from_edges([0], [1]), 0, 1, torch.tensor([0, math.nan]))
    refused("may exceed int64", shortest_path, tg.Graph.from_edges([0, 1], [1, 2], [2**62, 2**62]), 0, 2, weighted=True)
