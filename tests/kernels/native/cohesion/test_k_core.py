"""The native peeling against the portable one, on one and on several threads."""

import pytest
import torch
from backends import portable
from strategies import grid, random_graph, same_on_threads

import tgraph as tg
from tgraph.core.system import native
from tgraph.kernels.native.cohesion import peeling

pytestmark = pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")


def assert_equal_to_portable(graph):
    assert torch.equal(same_on_threads(lambda: peeling.peel(graph)), portable.peel(graph))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("n", "m"), [(100, 3000), (3000, 100_000), (60_000, 70_000)])
def test_random_graphs(n, m, directed):
    assert_equal_to_portable(random_graph(n, m, seed=n, directed=directed))


def test_long_and_skewed_graphs():
    for graph in (grid(160, 170), tg.generators.rmat(12, 16, seed=3)):
        assert_equal_to_portable(graph)


@pytest.mark.parametrize("directed", [True, False])
def test_wide_indices(directed):
    """Neighbours of int64, which graphs have from 2^31 vertices on."""
    graph = random_graph(50, 600, seed=1, directed=directed)
    wide = [tensor if i % 2 == 0 or tensor is None else tensor.long() for i, tensor in enumerate(peeling.sides(graph))]
    core = torch.empty(graph.num_vertices, dtype=torch.int64)
    native.load().peel(*wide, core)
    assert torch.equal(core, portable.peel(graph))
