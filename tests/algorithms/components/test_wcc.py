"""WCC against networkx: the label of a component is its smallest vertex."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import BACKENDS, components, graphs, grid, on_threads, random_graph

import tgraph as tg
from tgraph.algorithms import WCC, PlainWCC, wcc


@pytest.fixture(autouse=True, scope="module", params=[0, WCC.WORTH_SAMPLING])
def sampled_from(request):
    """So many arcs and more are sampled first: all of these graphs, and only the large ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WCC, "WORTH_SAMPLING", request.param)
        yield


@given(graphs())
def test_labels_equal_networkx(graph):
    expected = components(graph)
    for backend in BACKENDS:
        found = wcc(graph, backend=backend)
        assert found.dtype == torch.int64 and found.tolist() == expected


@given(graphs())
def test_the_fixpoint_that_defines_components(graph):
    undirected = graph.to_undirected() if graph.directed else graph
    for backend in BACKENDS:
        assert tg.run(PlainWCC(), undirected, backend=backend).values.tolist() == components(graph)


@given(graphs(min_vertices=2), st.randoms(use_true_random=False))
def test_labels_do_not_depend_on_the_order_of_vertices(graph, random):
    """Renumbered at random, so that no order of ids can help: components correspond, labels are still the least."""
    order = list(range(graph.num_vertices))
    random.shuffle(order)
    shuffled = graph.subgraph(order)
    assert wcc(shuffled).tolist() == components(shuffled)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("arcs_per_vertex", [0.4, 0.6, 1.2, 4])
def test_random_graphs_around_the_threshold(directed, arcs_per_vertex, backend):
    graph = random_graph(600, int(600 * arcs_per_vertex), seed=5, directed=directed)
    assert wcc(graph, backend=backend).tolist() == components(graph)


def test_a_path_takes_few_rounds():
    """Hooking and jumping, not diameter many rounds."""
    order = torch.randperm(4096, generator=torch.Generator().manual_seed(0))
    for directed in (True, False):
        graph = tg.Graph.from_edges(order[:-1], order[1:], directed=directed)
        run = tg.run(WCC(), graph)
        assert run.values.tolist() == [0] * 4096
        assert run.iterations <= 14


def test_a_component_joined_only_by_late_arcs():
    """The first round looks at two arcs of each vertex; the arcs that join these cliques come later in their rows."""
    src, dst = zip(*[(a + i, a + j) for a in (0, 10, 20) for i in range(10) for j in range(10) if i != j], strict=True)
    for directed in (True, False):
        graph = tg.Graph.from_edges([*src, 9, 19], [*dst, 29, 29], directed=directed, multi="first")
        assert wcc(graph).tolist() == [0] * 30


def test_grid_and_the_smallest_graphs(backend):
    assert wcc(grid(20, 30), backend=backend).tolist() == [0] * 600
    assert wcc(tg.Graph.from_edges([], []), backend=backend).tolist() == []
    assert wcc(tg.Graph.from_edges([], [], num_vertices=3), backend=backend).tolist() == [0, 1, 2]
    assert wcc(tg.Graph.from_edges([2, 2], [2, 1]), backend=backend).tolist() == [0, 1, 1]


@given(graphs(directed=True))
def test_a_directed_graph_whose_transpose_is_there(graph):
    """Only the vertices outside the largest tree are expanded then, in both directions."""
    expected = components(graph)
    graph.transpose()
    for backend in ("auto", "portable"):
        assert wcc(graph, backend=backend).tolist() == expected


def test_a_directed_tree_reached_only_from_the_largest():
    """Arcs lead out of the largest tree, late in its rows, to vertices without out-arcs."""
    src, dst = zip(*[(i, j) for i in range(10) for j in range(10) if i != j], strict=True)
    graph = tg.Graph.from_edges([*src, 3, 11, 4], [*dst, 10, 12, 12])
    for _ in range(2):
        assert wcc(graph).tolist() == [0] * 13
        graph.transpose()


@pytest.mark.parametrize("directed", [True, False])
def test_threads_share_a_graph(directed):
    graph = random_graph(50_000, 60_000, seed=1, directed=directed)
    expected = wcc(graph, backend="portable")
    assert all(torch.equal(found, expected) for found in on_threads(lambda: wcc(graph)))
