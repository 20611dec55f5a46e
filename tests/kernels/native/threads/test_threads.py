"""What is found by several threads in several passes is what one thread finds in one: frontiers, orders, offsets."""

import pytest
import torch
from strategies import on_threads, random_data

import tgraph as tg
from tests.kernels.native_samples import push, served
from tests.strategies import Any
from tgraph.core.building import sorting
from tgraph.core.system import native

kernels = native.load()
pytestmark = pytest.mark.skipif(kernels is None, reason="the compiled kernels are not installed")

LARGE = 1 << 18  # of which five threads have a part each


def same(results):
    alone, *others = results
    return all(torch.equal(alone, other) for other in others)


# ---- relaxations ----------------------------------------------------------------------------------------------------


def relaxed(mode, dtype, width=None):
    """Distances after each of some rounds, from many vertices of different values, so that nothing is uniform."""
    graph = tg.generators.uniform(17, 4, weighted=True, seed=1)
    n = graph.num_vertices
    values = random_data((n,) if width is None else (n, width), torch.int64, 1).add_(3).mul_(97).to(dtype)
    found = []
    for rounds in (1, 2, 4):
        program = Any("min", "add", values, active=torch.arange(0, n, 3), rounds=rounds)
        found.append(tg.run(program, graph, mode=mode, backend="native").values)
    return torch.stack(found)


@pytest.mark.covering(1)
@pytest.mark.parametrize("mode", ["push", "pull", "auto"])
@pytest.mark.parametrize(("dtype", "width"), [(torch.float32, None), (torch.int64, None), (torch.float64, 2)])
def test_rounds_of_large_frontiers(mode, dtype, width):
    assert same(on_threads(lambda: relaxed(mode, dtype, width)))


@pytest.mark.parametrize("mode", ["push", "pull"])
def test_rounds_from_all_vertices_at_once(mode):
    graph = tg.generators.uniform(17, 4, weighted=True, seed=2)
    values = random_data((graph.num_vertices,), torch.float32).mul_(1000)
    assert same(on_threads(lambda: tg.run(Any("min", "add", values), graph, mode=mode, backend="native").values))


# ---- pushes ---------------------------------------------------------------------------------------------------------


@pytest.mark.covering(1)
@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize(("reduce", "edge"), [("sum", "copy"), ("sum", "mul"), ("max", "add"), ("mean", "copy")])
def test_a_push_reaches_the_same_vertices_in_the_same_order(shape, reduce, edge):
    graph = tg.generators.rmat(15, 16, directed=True, weighted=True, seed=4)
    n = graph.num_vertices
    rows = torch.randperm(n, generator=torch.Generator().manual_seed(4))[: n // 2]
    weights = None if edge == "copy" else graph.weights.float() / 7
    data = random_data((n, *shape), torch.float32)

    def received(sub):
        found = served(sub, data, reduce, edge, weights)
        return found.values, found.vertices

    for rows_sent in (rows, None):
        values, vertices = zip(*on_threads(lambda r=rows_sent: received(push(graph, r))), strict=True)
        assert same(values)
        assert vertices[0] is None or same(vertices)
        assert vertices[0] is None or len(vertices[0].unique()) == len(vertices[0])


def test_a_push_by_several_threads_is_the_portable_one():
    graph = tg.generators.rmat(14, 16, directed=True, seed=5)
    data = random_data((graph.num_vertices, 2), torch.int64)
    sub = push(graph, torch.arange(0, graph.num_vertices, 2))
    sub.backend = "portable"
    expected = tg.aggregate(sub, data, "sum")
    for found in on_threads(lambda: served(push(graph, sub.rows), data, "sum")):
        order, other = found.vertices.argsort(), expected.vertices.argsort()
        assert torch.equal(found.vertices[order], expected.vertices[other])
        assert torch.equal(found.values[order], expected.values[other])


def test_rows_that_do_not_exist_are_found_by_any_thread():
    graph = tg.generators.uniform(12, 4)
    rows = torch.zeros(LARGE, dtype=torch.int64)
    rows[-1] = graph.num_vertices
    data, out = torch.ones(graph.num_vertices), torch.empty(LARGE)

    def pull():
        with pytest.raises(IndexError, match="no such vertex"):
            kernels.pull_float32(
                graph.neighbors, graph.offset, rows, -1, None, data, 1, None, 1, "sum", "copy", 0.0, False, out
            )
        return torch.zeros(1)

    assert same(on_threads(pull))


# ---- sorting --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [None, 0, LARGE // 2, LARGE - 2])
def test_a_list_that_is_sorted_but_for_one_edge(wrong):
    src = torch.arange(LARGE, dtype=torch.int32) // 8
    dst = torch.arange(LARGE, dtype=torch.int32) % 8
    if wrong is not None:
        src[[wrong, wrong + 1]], dst[[wrong, wrong + 1]] = src[[wrong + 1, wrong]], dst[[wrong + 1, wrong]]
    expected = torch.arange(LARGE) % 8
    for offset, neighbors in on_threads(lambda: sorting.sort_edges(src, dst, LARGE // 8)[:2]):
        assert torch.equal(offset, torch.arange(LARGE // 8 + 1) * 8)
        assert torch.equal(neighbors.long(), expected)


def test_offsets_of_rows_without_arcs():
    """A part of the threads' may end in the midst of them."""
    src = torch.randint(LARGE, (LARGE,), generator=torch.Generator().manual_seed(6)) // 1000 * 1000
    expected = torch.zeros(LARGE + 1, dtype=torch.int64)
    expected[1:] = torch.bincount(src, minlength=LARGE).cumsum(0)
    for offset, _ in on_threads(lambda: sorting.sort_edges(src, torch.zeros_like(src), LARGE)[:2]):
        assert torch.equal(offset, expected)


def test_ranks_are_by_degree_on_any_number_of_threads():
    graph = tg.generators.rmat(17, 4, seed=7)
    portable = tg.algorithms.triangle_count(graph, per_vertex=True, backend="portable")
    for count in on_threads(lambda: tg.algorithms.triangle_count(graph, per_vertex=True)):
        assert torch.equal(count, portable)


# ---- the census -----------------------------------------------------------------------------------------------------


def counted(call, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    kernels.take_census(True)
    try:
        return call(), kernels.census()
    finally:
        kernels.take_census(False)
        torch.set_num_threads(before)


def test_a_census_changes_no_result_and_counts_what_chunks_take():
    graph = tg.generators.rmat(14, 16)
    data = random_data((graph.num_vertices, 16), torch.float32)
    result, places = counted(lambda: tg.aggregate(graph, data, "sum"), 5)
    assert torch.equal(result, tg.aggregate(graph, data, "sum"))
    place = max(places, key=lambda place: place["seconds"])
    kernel = ("batch_sums.cpp", "pull.cpp")  # which one depends on what tg.tune stored
    assert place["file"].endswith(kernel) and place["regions"] == 1
    threads = place["threads"]
    assert 2 <= threads <= 5 < place["chunks"]
    assert place["longest_chunk"] <= place["spread"] <= place["seconds"] <= place["spread"] * threads * 1.001


def test_a_census_counts_the_thread_that_asked_and_nothing_after_it():
    graph = tg.generators.uniform(16, 8)
    assert counted(lambda: tg.algorithms.wcc(graph), 1)[1] == []  # one thread has no regions
    assert counted(lambda: tg.algorithms.wcc(graph), 2)[1] != []
    assert kernels.census() == []
