"""The native kernels of components, orders and colourings against the portable ones, on one and on several threads."""

import pytest
import torch
from backends import native as compiled
from backends import portable
from hypothesis import given
from strategies import graphs, grid, random_graph, thread_count

import tgraph as tg
from tgraph.core.system import native
from tgraph.kernels.native.components import components

pytestmark = pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")


def results(kernels, graph):
    """What every kernel gives that serves the graph."""
    odd = torch.tensor(kernels.has_odd_cycle(graph))
    if graph.directed:
        generation = kernels.topological_levels(graph)
        found = [kernels.label_strong(graph), generation, odd, torch.tensor(kernels.has_cycle(graph))]
        if bool((generation >= 0).all()):
            found += [*kernels.longest(graph, graph.weights, generation), *kernels.longest(graph, None, generation)]
        return found
    order = tg.random.permutation(7, graph.num_vertices)
    depth, conflict = kernels.color_by_depth(graph)
    found = [*kernels.biconnect(graph), kernels.color_in_order(graph, order), torch.tensor(conflict), odd]
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
    monkeypatch.setattr(components, "LARGE", 1)
    for graph in (tg.generators.rmat(12, 8, directed=True), random_graph(20_000, 70_000)):
        graph.transpose()
        assert_equal_to_portable(graph)


@pytest.mark.parametrize("hub", [1, 200])
@pytest.mark.parametrize("closed", [0, 1, 2])
def test_one_cycle_far_from_where_searches_begin(hub, closed):
    """A long path behind a hub, whose last `closed` arcs lead back: behind what a search of bounded effort sees."""
    n = 30_000
    u, v = torch.arange(hub, n - 1), torch.arange(hub + 1, n)
    star = torch.arange(1, hub + 1)
    back = torch.full((closed,), n - 1), n - 1 - 2 * torch.arange(1, closed + 1)
    u, v = torch.cat((torch.zeros_like(star), u, back[0])), torch.cat((star, v, back[1]))
    graph = tg.Graph.from_edges(u, v)
    assert compiled.has_cycle(graph) == (closed > 0)
    for some in (graph, tg.Graph.from_edges(u, v, directed=False)):
        assert compiled.has_odd_cycle(some) == (closed > 0)
