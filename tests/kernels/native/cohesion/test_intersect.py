"""The native intersection against the portable one: ranked or as stored, on one and on several threads."""

import pytest
import torch
from backends import native as compiled
from backends import portable
from hypothesis import given
from strategies import graphs, grid, random_graph, thread_count

import tgraph as tg
from tgraph.core.system import native
from tgraph.kernels.native.cohesion import peeling

pytestmark = pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")

THREADS = (1, 2, 3)


def assert_equal_to_portable(graph, threads=(1,)):
    total, at = portable.count_triangles(graph, False), portable.count_triangles(graph, True)
    among = portable.count_arcs_among(graph)
    for count in threads:
        with thread_count(count):
            for rank in (None, True, False):
                assert torch.equal(peeling.count_triangles(graph, False, rank), total)
                assert torch.equal(peeling.count_triangles(graph, True, rank), at)
            assert torch.equal(compiled.count_arcs_among(graph), among)


@given(graphs(directed=False))
def test_small_graphs_with_loops_and_parallel_edges(graph):
    assert_equal_to_portable(graph)


@pytest.mark.parametrize(
    ("n", "m"),
    [
        (70, 1500),  # rows compared by words
        (2000, 60_000),  # long rows and several threads
        (20_000, 90_000),  # more vertices than hubs
        (40_000, 80_000),
    ],
)
def test_random_graphs(n, m):
    assert_equal_to_portable(random_graph(n, m, seed=n, directed=False), THREADS)


def test_skewed_graphs():
    assert_equal_to_portable(tg.generators.rmat(12, 16, seed=3), THREADS)
    assert_equal_to_portable(grid(150, 160), THREADS)


def test_hubs_that_are_all_joined():
    """A clique whose bitmaps span many words, and leaves that hang on it."""
    clique = torch.combinations(torch.arange(200))
    leaves = torch.stack((torch.arange(200).repeat(30), torch.arange(200, 6200)), 1)
    src, dst = torch.cat((clique, leaves)).unbind(1)
    shuffled = torch.randperm(6200, generator=torch.Generator().manual_seed(0))
    assert_equal_to_portable(tg.Graph.from_edges(shuffled[src], shuffled[dst], directed=False), THREADS)


def test_portable_pairs_in_many_parts(monkeypatch):
    graph = random_graph(100, 1500, seed=6, directed=False)
    whole = portable.count_triangles(graph, True), portable.count_arcs_among(graph)
    monkeypatch.setattr("tgraph.kernels.operators.cohesion.intersect.PAIRS", 7)
    assert torch.equal(portable.count_triangles(graph, True), whole[0])
    assert torch.equal(portable.count_arcs_among(graph), whole[1])
