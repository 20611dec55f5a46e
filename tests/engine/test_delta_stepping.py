"""When to push or pull, and in which order a relaxation takes its vertices."""

import itertools
import math
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_graph

import tgraph as tg
from tgraph.core.direction import THRESHOLDS, DirectionPolicy
from tgraph.core.frontier import Frontier
from tgraph.core.rows import Scratch
from tgraph.core.system import native
from tgraph.engine.delta_stepping import NearFar
from tgraph.errors import ArgumentError

N, M = 1000, 8000


def frontier(size, num_arcs, everything=False):
    return SimpleNamespace(measure=lambda: (size, num_arcs), is_everything=everything)


def choices(frontiers, settles=True):
    policy = DirectionPolicy(SimpleNamespace(num_vertices=N, num_arcs=M, device=torch.device("cpu")), settles=settles)
    return [policy.choose(frontier(*active)) for active in frontiers]


def test_a_small_frontier_is_pushed_and_a_large_one_pulled():
    assert choices([(1, 8)]) == ["push"]
    assert choices([(1, 8), (500, 4000)]) == ["push", "pull"]


def test_where_vertices_do_not_settle_a_pull_reads_all_arcs_and_has_to_pay_for_them():
    assert choices([(500, 4000), (900, M - 1)], settles=False) == ["push", "push"]
    assert choices([(N, M)], settles=False) == ["pull"]
    assert choices([(N, M, True)], settles=False) == ["pull"]


def test_the_turn_to_pull_is_at_a_share_of_the_arcs():
    border = M // THRESHOLDS.alpha
    assert choices([(100, border - 1)]) == ["push"] and choices([(100, border)]) == ["pull"]


def test_hysteresis_a_pull_stays_until_the_frontier_is_small_and_shrinking():
    border = N // THRESHOLDS.beta
    small = (border, 100)
    assert choices([(500, M), (border + 1, 100)], settles=False) == ["pull", "pull"]
    assert choices([(500, M), small], settles=False) == ["pull", "push"]
    policy = DirectionPolicy(SimpleNamespace(num_vertices=N, num_arcs=M, device=torch.device("cpu")))
    assert policy.choose(frontier(10, M)) == "pull"
    assert policy.choose(frontier(20, 4000)) == "pull"  # small, but growing
    assert policy.choose(frontier(20, 10)) == "pull"  # nor is it shrinking
    assert policy.choose(frontier(19, 10)) == "push"


def test_where_vertices_settle_a_pull_stays_while_it_looks_at_few_vertices():
    border = N // (THRESHOLDS.floor * THRESHOLDS.remaining)
    assert choices([(500, M), (10, border + 1)]) == ["pull", "pull"]
    assert choices([(500, M), (10, border)]) == ["pull", "push"]


@pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")
@pytest.mark.parametrize(
    "make", [lambda: tg.generators.rmat(10), lambda: tg.generators.grid2d(40, 40), lambda: small_world()]
)
@pytest.mark.parametrize("program", [lambda: tg.algorithms.BFS(3), lambda: Reach(), lambda: Spread()])
def test_all_backends_change_the_direction_in_the_same_rounds(make, program):
    graph = make()
    found = [tg.run(program(), graph, backend=name, trace=True).trace for name in ("portable", "native")]
    rounds = [
        [(each.direction, each.active_vertices, each.changed_vertices) for each in trace.iterations] for trace in found
    ]
    assert rounds[0] == rounds[1] and len(rounds[0]) > 1


def small_world():
    return tg.Graph.from_edges(range(3000), [(v * v + 1) % 3000 for v in range(3000)], directed=False)


class Reach(tg.Relaxation):
    """Who is reached, from many: equal values and no weights, so that vertices settle."""

    reduce, edge = "max", "copy"

    def init(self, graph):
        values = torch.zeros(graph.num_vertices, dtype=torch.int32)
        values[:5] = 7
        return values, graph.select(range(5))


class Spread(Reach):
    """The same from different values: they do not settle."""

    def init(self, graph):
        values = torch.arange(graph.num_vertices, dtype=torch.int32)
        return values, graph.everything()


def test_only_where_vertices_settle_are_explored_arcs_counted_down():
    steps = [(100, 1900), (100, 1900), (100, 1900)]
    assert choices(steps, settles=False) == ["push"] * 3
    assert choices(steps, settles=True) == ["push", "pull", "pull"]


def test_towards_the_end_of_a_long_search_a_thin_frontier_is_still_pushed():
    """Few arcs are left unexplored then; a scan of all vertices would cost more."""
    policy = DirectionPolicy(SimpleNamespace(num_vertices=N, num_arcs=M, device=torch.device("cpu")), settles=True)
    policy.unexplored = 10
    assert policy.choose(frontier(3, N // THRESHOLDS.floor)) == "push"
    assert policy.choose(frontier(3, N // THRESHOLDS.floor + 1)) == "pull"


def test_everything_is_pulled_for_a_fixed_order_of_additions():
    assert choices([(N, M, True)]) == ["pull"]
    assert choices([(N, 1, True)]) == ["pull"]


@pytest.mark.parametrize("fixed", ["push", "pull"])
def test_a_fixed_direction(fixed):
    policy = DirectionPolicy(SimpleNamespace(num_vertices=N, num_arcs=M, device=torch.device("cpu")), fixed)
    assert {policy.choose(frontier(*active)) for active in [(1, 8), (900, 7000), (N, M, True), (0, 0)]} == {fixed}


def test_a_graph_without_vertices():
    empty = tg.Graph.from_edges([], [])
    assert DirectionPolicy(empty).choose(empty.nothing()) == "push"


# ---- near and far ---------------------------------------------------------------------------------------------------


def simulate(values, dtype, delta):
    """All vertices given at once, none ever changed: the buckets in which they come out."""
    graph = tg.Graph.from_edges([], [], num_vertices=len(values))
    data = torch.tensor(values, dtype=dtype)
    order, batches = NearFar(delta, dtype, Scratch(N)), []
    active = order.next(data, graph.everything())
    while len(active):
        batches.append(active.ids.tolist())
        active = order.next(data, graph.nothing())
    return batches


@given(st.lists(st.integers(0, 40), max_size=20), st.sampled_from([1, 3, 10, 1e-9, 1e30, math.inf]), st.booleans())
def test_every_vertex_comes_once_and_near_ones_first(values, delta, floating):
    dtype = torch.float32 if floating else torch.int64
    batches = simulate(values, dtype, delta)
    assert sorted(v for batch in batches for v in batch) == list(range(len(values)))
    for near, far in itertools.pairwise(batches):
        assert max(values[v] for v in near) < min(values[v] for v in far)
    if delta >= 1 and not math.isinf(delta):
        for batch in batches:
            assert len({int(values[v] // delta) for v in batch}) == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("value", [0.0, 1.0, 5e8, 1e-40, 3e38])
@pytest.mark.parametrize("delta", [1e-300, 1e-30, 0.1, 1.0, 3e38, 1e308])
def test_the_border_is_above_the_value_in_its_own_dtype(dtype, value, delta):
    assert simulate([value], dtype, delta) == [[0]]
    assert simulate([value, value], dtype, delta) == [[0, 1]]


def test_a_changed_vertex_is_taken_at_its_new_value():
    graph = tg.Graph.from_edges([], [], num_vertices=4)
    data = torch.tensor([0, 5, 25, 35])
    order = NearFar(10, data.dtype, Scratch(N))
    assert order.next(data, graph.everything()).ids.tolist() == [0, 1]
    data[3] = 7  # near now: relaxed at once, and not again with its former bucket
    assert order.next(data, graph.select([3])).ids.tolist() == [3]
    assert order.next(data, graph.nothing()).ids.tolist() == [2]
    data[1] = 24  # cannot happen in a relaxation, but must not loop
    assert len(order.next(data, graph.nothing())) == 0


def test_a_vertex_that_waits_twice_comes_once():
    graph = tg.Graph.from_edges([], [], num_vertices=3)
    data = torch.tensor([0.0, 50, 60])
    order = NearFar(10, data.dtype, Scratch(N))
    order.next(data, graph.everything())
    data[2] = 55
    assert order.next(data, graph.select([2])).ids.tolist() == [1, 2]
    assert len(order.next(data, graph.nothing())) == 0


def test_nothing_at_all():
    graph = random_graph(5, 9)
    assert len(NearFar(1, torch.int64, Scratch(N)).next(torch.zeros(5, dtype=torch.int64), graph.nothing())) == 0


@pytest.mark.parametrize("delta", [0, -2.5, math.nan])
def test_a_width_that_is_not_positive(delta):
    with pytest.raises(ArgumentError, match=rf"delta.*positive.*{delta}"):
        NearFar(delta, torch.float32, Scratch(N))


def test_frontiers_keep_the_graph():
    graph = random_graph(5, 9)
    found = NearFar(1, torch.int64, Scratch(N)).next(torch.arange(5), graph.everything())
    assert isinstance(found, Frontier) and found.graph is graph
