"""Relaxations whose loop the native backend runs, against the portable backend round by round."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from native_samples import PAIRS
from strategies import MODES, Any, graphs, grid, random_graph, thread_count

import tgraph as tg
from tgraph.core.system import native
from tgraph.engine import compiled_loop
from tgraph.errors import ArgumentError, NotConvergedError
from tgraph.kernels.loops import LoopCall
from tgraph.kernels.native.relaxation import relaxation as native_relaxation
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS

pytestmark = pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")


def drawn_values(data, graph, dtype, reduction, width):
    """Small numbers with unreached vertices among them, [n] or [n, width]."""
    count = graph.num_vertices * max(width, 1)
    numbers = data.draw(st.lists(st.none() | st.integers(-3, 9), min_size=count, max_size=count))
    identity = reduction.identity(dtype)
    values = torch.tensor([identity if number is None else number for number in numbers], dtype=dtype)
    return values.view(graph.num_vertices, width) if width else values


@given(graphs(), st.sampled_from(["min", "max"]), st.sampled_from(list(EDGE_OPERATIONS)), st.data())
def test_every_round_is_that_of_the_portable_backend(graph, reduce, edge, data):
    """Also where the fixpoint is far away or does not exist: so many rounds give the same values in any direction."""
    dtype, weight_dtype = data.draw(st.sampled_from(PAIRS))
    values = drawn_values(data, graph, dtype, REDUCTIONS[reduce], data.draw(st.integers(0, 3)))
    weight = torch.tensor(
        data.draw(st.lists(st.integers(-2, 5), min_size=graph.num_arcs, max_size=graph.num_arcs)), dtype=weight_dtype
    )
    graph = tg.Graph(graph.offset, graph.neighbors, weight)
    form = data.draw(st.sampled_from([None, 2, -1, weight.clone()]))
    active = data.draw(st.none() | st.lists(st.booleans(), min_size=graph.num_vertices, max_size=graph.num_vertices))
    active = None if active is None else torch.tensor(active, dtype=torch.bool)
    rounds = data.draw(st.integers(0, 5))
    program = Any(reduce, edge, values, form, active, rounds=rounds)
    expected = tg.run(program, graph, backend="portable", max_iterations=9)
    for mode in MODES:
        found = tg.run(program, graph, mode=mode, backend="native", max_iterations=9)
        assert torch.equal(found.values, expected.values), (mode, found.values, expected.values)
        assert found.iterations == expected.iterations and found.values.dtype == dtype


@given(graphs(min_vertices=1, dtypes=(torch.int32, torch.int64, torch.float32, torch.float64)), st.data())
def test_buckets_of_any_width(graph, data):
    """One bucket for all, one for each distance, and borders so far apart that vertices wait in the far pile."""
    dtype = graph.weights.dtype if graph.weights.dtype.is_floating_point else torch.int64
    values = drawn_values(data, graph, dtype, REDUCTIONS["min"], 0)
    active = torch.arange(graph.num_vertices)
    expected = tg.run(Any("min", "add", values, active=active, delta=torch.inf), graph, backend="portable").values
    for delta in (None, 1e-3, 0.25, 1, 7, 1e9):
        found = tg.run(Any("min", "add", values, active=active, delta=delta), graph, backend="native").values
        assert torch.equal(found, expected), delta


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32])
@pytest.mark.parametrize(
    "make", [lambda dtype: grid(60, 70, dtype), lambda dtype: random_graph(9000, 60_000, dtype=dtype)]
)
def test_results_do_not_depend_on_the_threads(make, dtype):
    graph = make(dtype)
    unreached = torch.full((graph.num_vertices,), REDUCTIONS["min"].identity(dtype), dtype=dtype)
    unreached[3] = 0
    programs = [
        Any("min", "add", unreached, active=[3], delta=torch.inf),
        Any("min", "add", unreached, weight=1, active=[3]),
        Any("min", "add", unreached[:, None].repeat(1, 3), active=[3]),
        Any("max", "copy", torch.arange(graph.num_vertices, dtype=dtype)),
        Any("min", "add", unreached, active=[3], delta=5),
    ]
    for program in programs:
        for mode in MODES:
            with thread_count(1):
                expected = tg.run(program, graph, mode=mode, backend="native")
            for count in (2, 3):
                with thread_count(count):
                    found = tg.run(program, graph, mode=mode, backend="native")
                assert torch.equal(found.values, expected.values)
                assert program.delta == 5 or found.iterations == expected.iterations


def test_hops_reach_the_same_vertices_in_any_direction_on_any_threads():
    """Rounds of many arcs to many vertices, the last of which share no word of a bitmap with others."""
    graph = random_graph(70_003, 600_000)
    with thread_count(1):
        expected = tg.algorithms.bfs(graph, 1, backend="portable")
        steps = tg.run(tg.algorithms.BFS(1), graph, mode="push", backend="portable", trace=True).trace.iterations
    for count in (1, 2, 3):
        for mode in MODES:
            with thread_count(count):
                run = tg.run(tg.algorithms.BFS(1), graph, mode=mode, backend="native", trace=True)
            assert torch.equal(run.values, expected)
            for one, other in zip(run.trace.iterations, steps, strict=True):
                assert (one.active_vertices, one.active_edges) == (other.active_vertices, other.active_edges)


@pytest.mark.parametrize("delta", [None, 2])
def test_the_loop_comes_back_and_goes_on(delta, monkeypatch):
    """Signals and progress bars need the interpreter now and then; what was under way must not be lost."""
    graph = random_graph(300, 2000, dtype=torch.float32)
    start = torch.full((300,), torch.inf)
    start[0] = 0
    program = Any("min", "add", start, active=[0], delta=delta)
    returns = []
    advance = compiled_loop.advance
    with thread_count(1):  # what a bucket holds depends on the threads
        expected = tg.run(program, graph, trace=True)
        monkeypatch.setattr(compiled_loop, "SLICE", 0)
        monkeypatch.setattr(compiled_loop, "advance", lambda *args: (returns.append(r) or r for r in advance(*args)))
        found = tg.run(program, graph, trace=True)
    assert torch.equal(found.values, expected.values) and found.iterations == expected.iterations
    assert len(returns) == found.iterations > 2
    for one, other in zip(found.trace.iterations, expected.trace.iterations, strict=True):
        assert (one.active_vertices, one.active_edges) == (other.active_vertices, other.active_edges)


def test_numbers_that_do_not_fit_in_32_bits_are_not_squeezed():
    """int64 values run in 32 bits only where neither they nor their sums can leave these."""
    large = 2**31 - 4
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 1, large])
    unreached = torch.iinfo(torch.int64).max
    for first in (0, large - 2, large + 3, -large - 9):
        values = torch.tensor([first, unreached, unreached, unreached])
        found = tg.run(Any("min", "add", values, active=[0]), graph, backend="native").values
        assert found.tolist() == [first, first + 1, first + 2, first + 2 + large]
        found = tg.run(Any("min", "add", values, weight=1, active=[0]), graph, backend="native").values
        assert found.tolist() == [first, first + 1, first + 2, first + 3]
    lowest = torch.iinfo(torch.int64).min
    values = torch.tensor([5, lowest, lowest, lowest])
    assert tg.run(Any("max", "copy", values, active=[0]), graph, backend="native").values.tolist() == [5] * 4


def test_what_is_refused_is_served_otherwise_and_the_trace_has_the_reason():
    graph = tg.generators.grid2d(4, 4)
    start = torch.full((16,), torch.inf, dtype=torch.bfloat16)
    start[0] = 0
    program = Any("min", "add", start, weight=1, active=[0])
    with pytest.raises(ArgumentError, match=r"'native' does not serve fixpoint.*bfloat16"):
        tg.run(program, graph, backend="native")
    run = tg.run(program, graph, trace=True)
    assert run.values[15] == 6 and all("portable" in step.backend for step in run.trace.iterations)
    assert any("native does not: it has no relaxation of torch.bfloat16" in choice for choice in run.trace.choices)
    run = tg.run(Any("min", "add", start.float(), weight=1, active=[0]), graph, trace=True)
    assert {step.backend for step in run.trace.iterations} == {"native"}
    assert run.trace.choices == ["fixpoint: native serves it"]


def test_a_program_with_steps_of_its_own_runs_them():
    class Counted(Any):
        calls = 0

        def compute(self, sub, values, active):
            Counted.calls += 1
            return super().compute(sub, values, active)

    graph = tg.generators.grid2d(3, 3)
    start = torch.full((9,), torch.inf)
    start[0] = 0
    run = tg.run(Counted("min", "add", start, weight=1, active=[0]), graph)
    assert run.values[8] == 4 and Counted.calls == run.iterations


def test_values_that_are_not_contiguous():
    graph = tg.generators.grid2d(3, 3)
    start = torch.full((2, 9), torch.inf)
    start[:, 0] = 0
    found = tg.run(Any("min", "add", start.T, weight=1, active=[0]), graph).values
    assert found[:, 0].tolist() == found[:, 1].tolist() == [0, 1, 2, 1, 2, 3, 2, 3, 4]


def test_a_cycle_that_improves_without_end_is_given_up():
    graph = tg.Graph.from_edges([0, 1], [1, 0], torch.tensor([-1.0, -1.0]))
    with pytest.raises(NotConvergedError, match="negative one") as caught:
        tg.run(Any("min", "add", torch.zeros(2)), graph)
    assert caught.value.run.iterations == 3


def test_a_frontier_of_what_is_no_vertex():
    graph = tg.generators.grid2d(2, 2)
    for ids, fault in (([4], IndexError), ([-1], IndexError), ([0, 1, 2, 3, 0], ValueError)):
        with pytest.raises(fault, match="ids"):
            frontier = tg.Frontier(graph, ids=torch.tensor(ids))
            frontier._count = (len(ids), 0)  # as one that was never measured
            call = LoopCall(graph, torch.zeros(4), frontier, REDUCTIONS["min"], "add", 1, best_weight=1, mode="push")
            native_relaxation.Fixpoint(call)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("weight", [1.0, -1.0])
def test_a_value_that_no_message_has_reached_is_kept_where_it_is_better(mode, weight):
    """Vertex 4 has a value between those of the messages of the first and of the second round."""
    graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 4, 4], directed=False)
    values = torch.tensor([0.0, torch.inf, torch.inf, torch.inf, 1.5])
    found = tg.run(Any("min", "add", values, weight, graph.select(0).mask, rounds=2), graph, mode=mode)
    expected = [0, 1, 1, torch.inf, 1.5] if weight > 0 else [-2, -1, -1, torch.inf, -2]
    assert found.values.tolist() == expected
