"""SSSP against Bellman-Ford in exact numbers, and against scipy; bucket widths must never change the answer."""

import math

import numpy as np
import pytest
import scipy.sparse.csgraph
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import FLOATS, INTEGERS, MODES, arcs, graphs, grid, random_graph, refused_naming, relaxed

import tgraph as tg
from tgraph.algorithms import SSSP, sssp
from tgraph.errors import ArgumentError

WIDTHS = [None, 1e-30, 1e-3, 0.3, 1, 2.5, 7, 1e9, 1e300]


def distances(graph, source):
    start = [0 if v == source else None for v in range(graph.num_vertices)]
    return relaxed(graph, start, "min", "add", [weight for _, _, weight in arcs(graph)])


def unreached(graph):
    floating = graph.weights is not None and graph.weights.is_floating_point()
    return math.inf if floating else -1


def filled(graph, source):
    return [unreached(graph) if value is None else value for value in distances(graph, source)]


@given(graphs(min_vertices=1, dtypes=(None, *INTEGERS, *FLOATS)), st.data())
def test_every_dtype_of_weights(graph, data):
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    expected = filled(graph, source)
    for mode in MODES:
        found = sssp(graph, source, mode=mode)
        assert found.tolist() == expected
        if graph.weights is None or not graph.weights.is_floating_point():
            assert found.dtype == torch.int64
        else:
            assert found.dtype == torch.promote_types(graph.weights.dtype, torch.float32)


@given(graphs(min_vertices=1, dtypes=(torch.int32, torch.float32, torch.float64)), st.data())
def test_the_bucket_width_never_changes_the_answer(graph, data):
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    width, mode = data.draw(st.sampled_from(WIDTHS)), data.draw(st.sampled_from(MODES))
    assert sssp(graph, source, delta=width, mode=mode).tolist() == filled(graph, source)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_widths_against_inexact_weights(dtype, scale):
    """Rounding makes sums depend on their order, but never on the order of relaxation: equal to the last bit."""
    graph = random_graph(80, 300, dtype=torch.float64)
    random = torch.Generator().manual_seed(3)
    weights = (torch.rand(graph.num_arcs, dtype=torch.float64, generator=random) * scale).to(dtype)
    weights[::7] = 0
    graph = tg.Graph(graph.offset, graph.neighbors, weights)
    every = [sssp(graph, 0, delta=width, mode=mode) for width in [*WIDTHS, scale / 8, scale] for mode in MODES]
    assert all(torch.equal(every[0], other) for other in every)
    reference = scipy.sparse.csgraph.bellman_ford(_scipy(graph), indices=0)
    np.testing.assert_allclose(every[0].numpy(), reference, rtol=1e-5 if dtype == torch.float32 else 1e-12)


def _scipy(graph):
    """The least weight of parallel arcs in a dense matrix, which distinguishes zero weights from missing arcs."""
    dense = np.full((graph.num_vertices, graph.num_vertices), np.inf)
    for u, v, weight in arcs(graph):
        dense[u, v] = min(dense[u, v], weight)
    return scipy.sparse.csgraph.csgraph_from_dense(dense, null_value=np.inf)


@given(graphs(min_vertices=1, dtypes=(None, torch.int64, torch.float64)), st.data())
def test_several_sources_at_once(graph, data):
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), max_size=3))
    for mode in MODES:
        found = sssp(graph, sources, mode=mode)
        assert found.shape == (graph.num_vertices, len(sources))
        for column, source in enumerate(sources):
            assert found[:, column].tolist() == filled(graph, source)


def test_a_long_grid(mode, backend):
    for dtype in (torch.int32, torch.float32):
        graph = grid(4, 60, dtype)
        assert sssp(graph, 7, mode=mode, backend=backend).tolist() == filled(graph, 7)


@pytest.mark.parametrize("width", [None, 0.25, 4.0])
def test_zero_and_infinite_weights(mode, width):
    graph = tg.Graph.from_edges([0, 1, 2, 0, 3, 3], [1, 2, 0, 3, 4, 3], [0.0, 0, 0, math.inf, 1, 0])
    assert sssp(graph, 0, mode=mode, delta=width).tolist() == [0, 0, 0, math.inf, math.inf]
    nothing = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], [0, 0, 0])
    assert sssp(nothing, 0, mode=mode, delta=width).tolist() == [0, 0, 0]


@pytest.mark.parametrize("width", [math.inf, 1e308, 2**62])
def test_a_width_that_holds_everything(mode, width):
    for dtype in (torch.int64, torch.float64):
        graph = grid(3, 5, dtype)
        assert sssp(graph, 0, mode=mode, delta=width).tolist() == filled(graph, 0)


def test_large_integer_distances_do_not_overflow(mode):
    """Unreached vertices hold the largest int64; if they sent it, the sum would wrap to a small value."""
    heavy = 2**62 // 8
    graph = tg.Graph.from_edges([0, 1, 3, 4, 4, 5], [1, 2, 4, 0, 2, 2], [heavy] * 6, num_vertices=6)
    assert sssp(graph, 0, mode=mode).tolist() == [0, heavy, 2 * heavy, -1, -1, -1]
    for width in (1, 1e3, 1e25):
        assert sssp(graph, 0, mode=mode, delta=width).tolist() == [0, heavy, 2 * heavy, -1, -1, -1]


def test_weights_whose_sums_do_not_fit():
    graph = tg.Graph.from_edges([0, 1], [1, 2], [2**62, 2**62])
    with pytest.raises(ArgumentError, match=rf"values.*{2**62} .*int64.*float64"):
        sssp(graph, 0)


@pytest.mark.parametrize("bad", [-0.5, math.nan, -math.inf])
def test_negative_and_nan_weights_are_named_with_their_arc(bad):
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, bad], vertices=["a", "b", "c"])
    refused_naming(("weights", str(bad), "position 2", "'c'", "'a'", "shift or replace"), sssp, graph, 0)


def test_a_negative_integer_weight():
    with pytest.raises(ArgumentError, match=r"-3 at position 0"):
        sssp(tg.Graph.from_edges([0, 1], [1, 2], [-3, 4]), 0)


@pytest.mark.parametrize("width", [0, -1, math.nan])
def test_a_width_that_is_not_positive(width):
    with pytest.raises(ArgumentError, match="delta"):
        sssp(tg.Graph.from_edges([0, 1], [1, 2], [3, 4]), 0, delta=width)


def test_one_program_serves_one_graph_after_another():
    plain, heavy = tg.Graph.from_edges([0, 1], [1, 2]), tg.Graph.from_edges([0, 1], [1, 2], [5.0, 6.0])
    program = SSSP(0)
    assert tg.run(program, plain).values.tolist() == [0, 1, 2]
    assert tg.run(program, heavy).values.tolist() == [0, 5, 11]
    assert tg.run(program, plain).values.tolist() == [0, 1, 2]


def test_graphs_without_arcs_or_vertices(mode):
    assert sssp(tg.Graph.from_edges([], [], [], num_vertices=2), 1, mode=mode).tolist()[1] == 0
    with pytest.raises(ArgumentError):
        sssp(tg.Graph.from_edges([], []), 0, mode=mode)


@pytest.mark.parametrize("search", [tg.algorithms.bfs, tg.algorithms.sssp])
def test_sources_in_any_container(search):
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 3])
    several = search(graph, [0, 2])
    for same in (np.array([0, 2]), torch.tensor([0, 2], dtype=torch.int32), (0, 2), range(0, 3, 2)):
        assert torch.equal(search(graph, same), several)
    one = search(graph, 2)
    for same in (np.int64(2), np.array(2), torch.tensor(2)):
        assert torch.equal(search(graph, same), one)
    for wrong in (torch.tensor([False, False, True, False]), True, "2", [4], -1, 1.5):
        with pytest.raises(ArgumentError, match="source"):
            search(graph, wrong)


def test_widths_that_are_not_positive_are_refused_without_weights_too():
    for delta in (0, -1, float("nan")):
        with pytest.raises(ArgumentError, match="delta"):
            tg.algorithms.sssp(tg.Graph.from_edges([0], [1]), 0, delta=delta)


def test_the_width_of_buckets_suits_graphs_of_all_degrees():
    star = tg.Graph.from_edges([0] * 2000, range(1, 2001), torch.full((2000,), 64), directed=False)
    path = tg.generators.grid2d(1, 1000, weighted=True)
    values = torch.zeros(3)
    assert SSSP(0).bucket_width(star, values) == 64 / 16  # no narrower, however large the hub
    assert path.mean_weight * 10 < SSSP(0).bucket_width(path, values) <= path.mean_weight * 32
    for delta, expected in ((3, 3), (torch.inf, None)):
        program = SSSP(0, delta)
        program.init(path)
        assert program.bucket_width(path, values) == expected
