"""The native kernels of components, orders and colourings against the portable ones, on one and on several threads."""

import pytest
import torch
from hypothesis import given
from strategies import graphs, grid, random_graph, thread_count

import tgraph as tg
from tgraph.core.system import native
from tgraph.kernels import native as compiled
from tgraph.kernels import portable
from tgraph.kernels.native.components import strong_components

pytestmark = pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")


def results(kernels, graph):
    """What every kernel gives that serves the graph."""
    if graph.directed:
        generation = kernels.topological_levels(graph)
        found = [kernels.label_strong(graph), generation]
        if bool((generation >= 0).all()):
            found += [*kernels.longest(graph, graph.weights, generation), *kernels.longest(graph, None, generation)]
        return found
    order = tg.random.permutation(7, graph.num_vertices)
    depth, conflict = kernels.color_by_depth(graph)
    found = [*kernels.biconnect(graph), kernels.color_in_order(graph, order), torch.tensor(conflict)]
    return [*found, depth] if conflict < 0 else found


def assert_equal_to_portable(graph):
    expected = results(portable, graph)
    for threads in (1, 3):
        with thread_count(threads):
            for one, other in zip(results(compiled, graph), expected, strict=True):
                assert torch.equal(one, other)


@given(graphs())
def test_small_graphs_with_loops_and_parallel_edges(graph):
    for one, other in zip(results(compiled, graph), results(portable, graph), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("n", "m"), [(100, 3000), (3000, 60_000), (40_000, 45_000)])
def test_random_graphs(n, m, directed):
    assert_equal_to_portable(random_graph(n, m, seed=n, directed=directed))


def test_long_and_skewed_graphs():
    for graph in (grid(120, 130), tg.generators.rmat(11, 16, seed=3).to_undirected()):
        assert_equal_to_portable(graph)
        u, v = graph.to_edge_index()
        assert_equal_to_portable(tg.Graph.from_edges(u[u < v], v[u < v], (u % 7 - 3.0)[u < v]))


def test_the_largest_component_first(monkeypatch):
    monkeypatch.setattr(strong_components, "LARGE", 1)
    for graph in (tg.generators.rmat(12, 8, directed=True), random_graph(20_000, 70_000)):
        graph.transpose()
        assert_equal_to_portable(graph)


def test_wide_indices():
    """Neighbours of int64, which graphs have from 2^31 vertices on."""
    graph, kernels, n = random_graph(50, 150, seed=1, directed=False), native.load(), 50
    stored = graph.offset, graph.neighbors.long()
    out = [torch.empty(n, dtype=torch.int64) for _ in range(4)]
    kernels.label_strong(*stored, None, None, out[0])
    kernels.biconnect(*stored, out[1], out[2])
    kernels.color_in_order(*stored, torch.arange(n), out[3])
    expected = portable.label_strong(graph), *portable.biconnect(graph), portable.color_in_order(graph, torch.arange(n))
    assert all(map(torch.equal, out, expected))
