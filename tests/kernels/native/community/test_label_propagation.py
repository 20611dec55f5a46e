"""The native label vote against the portable one, on one and on several threads."""

import pytest
import torch
from backends import portable
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, grid, random_graph, thread_count

import tgraph as tg
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.kernels.native.cohesion.peeling import sides
from tgraph.kernels.native.community import communities
from tgraph.primitives.community.label_propagation import propagate

compiled = pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")


def assert_equal_to_portable(graph, labels, threads=(1, 2, 3)):
    for rounds in (0, 1, 2, 12):
        expected = portable.vote(graph, labels, rounds)
        for count in threads:
            with thread_count(count):
                assert torch.equal(communities.vote(graph, labels, rounds), expected)


@compiled
@given(graphs(), st.data())
def test_small_graphs_with_loops_and_parallel_edges(graph, data):
    n = graph.num_vertices
    assert_equal_to_portable(graph, torch.arange(n), threads=(1,))
    drawn = data.draw(st.lists(st.integers(0, max(n - 1, 0)), min_size=n, max_size=n))
    assert_equal_to_portable(graph, torch.tensor(drawn, dtype=torch.int64), threads=(1,))


@pytest.mark.covering(1)
@compiled
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("n", "m"), [(100, 3000), (3000, 70_000), (40_000, 60_000)])
def test_random_graphs(n, m, directed):
    graph = random_graph(n, m, seed=n, directed=directed)
    assert_equal_to_portable(graph, torch.arange(n))
    assert_equal_to_portable(graph, torch.arange(n).flip(0))


@compiled
def test_graphs_in_which_few_vote_after_a_while():
    """Cliques agree at once; the path that joins them takes more rounds."""
    for graph in (grid(120, 130), tg.generators.rmat(12, 16, seed=3)):
        assert_equal_to_portable(graph, torch.arange(graph.num_vertices))
    clique = torch.combinations(torch.arange(250))
    path = torch.arange(249, 600).unfold(0, 2, 1)
    src, dst = torch.cat((clique, path)).unbind(1)
    assert_equal_to_portable(tg.Graph.from_edges(src, dst, directed=False), torch.arange(600))


@compiled
@pytest.mark.parametrize("directed", [True, False])
def test_wide_indices(directed):
    """Neighbours of int64, which graphs have from 2^31 vertices on."""
    graph = random_graph(50, 600, seed=1, directed=directed)
    wide = [tensor if i % 2 == 0 or tensor is None else tensor.long() for i, tensor in enumerate(sides(graph))]
    labels = torch.arange(50)
    held = labels.clone()
    native.load().vote(*wide, held, torch.empty_like(held), 3)
    assert torch.equal(held, portable.vote(graph, labels, 3))


def test_labels_given_stay_as_they_are(backend):
    labels = torch.arange(6)
    propagate(grid(2, 3), labels, 3, backend=backend)
    assert labels.tolist() == list(range(6))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 2, 3], "labels: expected an int64 tensor"),
        (torch.zeros(4), "float32"),
        (torch.zeros(3, dtype=torch.int64), r"\[4\], got"),
        (torch.tensor([0, 1, 4, 2]), "labels: 4 at position 2"),
        (torch.tensor([0, -1, 3, 2]), "labels: -1 at position 1"),
    ],
)
def test_labels_are_checked(labels, message):
    with pytest.raises(ArgumentError, match=message):
        propagate(grid(2, 2), labels, 1)


def test_rounds_are_checked():
    with pytest.raises(ArgumentError, match="rounds"):
        propagate(grid(2, 2), torch.arange(4), -1)
