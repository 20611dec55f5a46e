"""Greedy colours by their definition, and two-colourings against networkx."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from strategies import BACKENDS, arcs, graphs, grid, on_threads, random_graph, simple_twin

import tgraph as tg
from tgraph.algorithms import bipartite_color, core_number, greedy_color, is_bipartite, odd_cycle
from tgraph.algorithms.coloring.greedy import STRATEGIES


def greedy(graph, order):
    """The definition."""
    color, neighbors = {}, {v: set() for v in order}
    for u, v, _ in arcs(graph):
        neighbors[u].add(v)
    for v in order:
        taken = {color.get(u) for u in neighbors[v] - {v}}
        color[v] = next(c for c in range(len(order) + 1) if c not in taken)
    return [color[v] for v in range(graph.num_vertices)]


def proper(graph, color):
    u, v = graph.to_edge_index()
    return bool((color[u] != color[v])[u != v].all())


@given(graphs(directed=False))
def test_largest_first_is_its_definition(graph):
    degree = graph.out_degree.tolist()
    expected = greedy(graph, sorted(range(graph.num_vertices), key=lambda v: (-degree[v], v)))
    for backend in BACKENDS:
        found = greedy_color(graph, backend=backend)
        assert found.dtype == torch.int64 and found.tolist() == expected


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(graph=graphs(directed=False))
def test_colours_are_proper_and_the_same_everywhere(strategy, graph):
    found = [greedy_color(graph, strategy, seed=3, backend=backend) for backend in BACKENDS]
    assert proper(graph, found[0]) and torch.equal(*found)
    if strategy == "smallest_last" and graph.num_vertices:
        assert int(found[0].max()) <= int(core_number(graph).max())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_larger_graphs(strategy):
    for graph in (tg.generators.rmat(9, 8).to_undirected(), grid(30, 31)):
        found = on_threads(lambda graph=graph: greedy_color(graph, strategy))
        found.append(greedy_color(graph, strategy, backend="portable"))
        assert proper(graph, found[0]) and all(torch.equal(one, found[0]) for one in found)
    if strategy == "random_sequential":
        assert not torch.equal(greedy_color(graph, strategy, seed=1), found[0])


@given(graphs())
def test_two_colours_equal_networkx(graph):
    G = simple_twin(graph)
    G.add_edges_from((u, v) for u, v, _ in arcs(graph) if u == v)
    bipartite = nx.is_bipartite(G) and not any(u == v for u, v, _ in arcs(graph))
    cycles = []
    for backend in BACKENDS:
        assert is_bipartite(graph, backend=backend) == bipartite
        cycle = odd_cycle(graph, backend=backend).tolist()
        cycles.append(cycle)
        if bipartite:
            color = bipartite_color(graph, backend=backend)
            assert cycle == [] and proper(graph, color) and set(color.tolist()) <= {0, 1}
        else:
            assert len(cycle) % 2 == 1 and len(set(cycle)) == len(cycle)
            assert all(G.has_edge(*edge) for edge in zip(cycle, cycle[1:] + cycle[:1], strict=True))
            with pytest.raises(tg.errors.ArgumentError, match="odd cycle"):
                bipartite_color(graph, backend=backend)
    assert cycles[0] == cycles[1]


@pytest.mark.thorough
def test_two_colours_of_large_graphs(backend):
    graph = grid(70, 80)
    expected = (torch.arange(70)[:, None] + torch.arange(80)).flatten() & 1
    assert torch.equal(bipartite_color(graph, backend=backend), expected)
    u, v = graph.to_edge_index()
    closed = tg.Graph.from_edges(torch.cat((u, torch.tensor([5599]))), torch.cat((v, torch.tensor([5439]))))
    cycles = on_threads(lambda: odd_cycle(closed, backend=backend).tolist())
    assert len(cycles[0]) == 3 + 0 * len(cycles) and all(cycle == cycles[0] for cycle in cycles)
    deep = tg.generators.uniform(13, 8)
    assert len({tuple(odd_cycle(deep, backend=name).tolist()) for name in BACKENDS}) == 1


def test_the_smallest_graphs_and_refusals(backend):
    for n in (0, 1, 2):
        graph = tg.Graph.from_edges([], [], num_vertices=n, directed=False)
        assert greedy_color(graph, backend=backend).tolist() == bipartite_color(graph, backend=backend).tolist()
    with pytest.raises(tg.errors.ArgumentError, match="'dsatur' is not one of 'largest_first'"):
        greedy_color(random_graph(4, 4, directed=False), "dsatur")
    with pytest.raises(tg.errors.ArgumentError, match="not every vertex"):
        tg.primitives.coloring.color_in_order(random_graph(2, 2, directed=False), torch.tensor([0, 0]))
