"""Plans of relaxations are found again by later runs, and made anew where anything that they follow from differs."""

import gc
import weakref

import pytest
import strategies
import torch
from hypothesis import given
from hypothesis import strategies as st

import tgraph as tg
from tgraph.algorithms import bfs, sssp
from tgraph.algorithms.paths.bfs import BFS
from tgraph.algorithms.paths.sssp import SSSP
from tgraph.core.system import native
from tgraph.engine import overflow, planning
from tgraph.errors import ArgumentError, NotConvergedError
from tgraph.kernels.native.relaxation import relaxation

pytestmark = pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")


def path(weights=None, n=5):
    return tg.Graph.from_edges(torch.arange(n - 1), torch.arange(1, n), weights, num_vertices=n)


@pytest.fixture
def made(monkeypatch):
    """The programs that plans were made for."""
    programs = []
    make = planning._made

    def noted(program, *arguments):
        programs.append(program)
        return make(program, *arguments)

    monkeypatch.setattr(planning, "_made", noted)
    return programs


def test_a_second_run_finds_the_plan_of_the_first(made, monkeypatch):
    graph = path()
    first = bfs(graph, 0)
    monkeypatch.setattr(overflow.Watch, "range_of_sent", None)  # nothing looks at values
    assert torch.equal(bfs(graph, 0), first) and bfs(graph, 2).tolist() == [-1, -1, 0, 1, 2]
    assert len(made) == 1


@pytest.mark.parametrize(
    "options", [{"mode": "pull"}, {"backend": "portable"}, {"max_iterations": 9}, {"max_depth": 2}, {"mode": "push"}]
)
def test_other_options_make_another_plan(made, options):
    graph = path()
    expected = bfs(graph, 0)
    depth = options.get("max_depth", 9)
    for _ in range(2):
        assert torch.equal(bfs(graph, 0, **options), torch.where(expected <= depth, expected, -1))
    assert len(made) == 2


def test_values_that_record_gradients_make_another_plan(made):
    class FromFirst(SSSP):
        """Distances from vertex 0, which has a value that may require gradients."""

        def init(self, graph):
            values, active = super().init(graph)
            return (values + self.least, active) if self.least.requires_grad else (values, active)

    graph = path(torch.ones(4))
    for least in (torch.zeros(()), torch.zeros((), requires_grad=True)):
        program = FromFirst(0)
        program.least = least
        found = tg.run(program, graph).values
        assert found.tolist() == [0, 1, 2, 3, 4] and found.requires_grad == least.requires_grad
    assert len(made) == 2


def test_an_attribute_of_the_program_makes_another_plan(made):
    graph, far = path(), BFS(0)
    far.weight = 3
    assert tg.run(BFS(0), graph).values.tolist() == [0, 1, 2, 3, 4]
    assert tg.run(far, graph).values.tolist() == [0, 3, 6, 9, 12]
    far.weight = 3.5
    with pytest.raises(ArgumentError, match="cannot hold"):
        tg.run(far, graph)
    assert len(made) == 3


def test_integers_that_may_overflow_are_checked_in_each_run(made):
    graph, step = path(), BFS(0)
    step.weight = 2**30
    for _ in range(2):
        with pytest.raises(ArgumentError, match="does not fit"):
            tg.run(step, graph)
    assert len(made) == 2


def test_weights_are_those_of_the_graph(made):
    for weights in (torch.tensor([1, 2, 3, 4]), torch.tensor([0.5, 1.0, 1.5, 2.0]), None):
        graph = path(weights)
        expected = (torch.ones(4, dtype=torch.int64) if weights is None else weights).cumsum(0).tolist()
        for _ in range(2):
            assert sssp(graph, 0).tolist() == [0, *expected]
    assert len(made) == 3


def test_a_trace_names_the_loop_of_each_run():
    graph = path()
    traces = [tg.run(BFS(0), graph, trace=True).trace for _ in range(3)]
    assert len({str(trace).split("ms")[0][:40] for trace in traces}) == 1
    assert all(trace.choices == traces[0].choices for trace in traces)


def test_a_plan_keeps_no_graph_and_no_values_alive():
    graph = path()
    values = tg.run(BFS(0), graph).values
    held = [weakref.ref(graph), weakref.ref(values)]
    gc.collect()
    gc.disable()
    try:
        del graph, values
        assert [each() for each in held] == [None, None]
    finally:
        gc.enable()


def test_an_overridden_check_of_weights_runs_each_time():
    asked = []

    class Checked(BFS):
        def check(self, graph, values):
            asked.append(values.shape)
            super().check(graph, values)

    graph = path()
    for _ in range(2):
        assert tg.run(Checked(0), graph).values.tolist() == [0, 1, 2, 3, 4]
    assert len(asked) == 2


def test_an_overridden_bucket_width_is_computed_each_time():
    class Own(SSSP):
        def bucket_width(self, graph, values):
            asked.append(self.width)
            return self.width

    graph, asked = path(torch.tensor([1.0, 2.0, 3.0, 4.0])), []
    for width in (1.0, 5.0):
        program = Own(0)
        program.width = width
        assert tg.run(program, graph).values.tolist() == [0, 1, 3, 6, 10]
    assert asked == [1.0, 5.0]


def test_no_more_than_so_many_plans_are_kept(made):
    graph = path()
    for depth in [*range(1, planning.CACHED + 10), planning.CACHED + 9, 1]:
        bfs(graph, 0, max_depth=depth)
    assert len(graph.kept("plans", dict)) == planning.CACHED
    assert len(made) == planning.CACHED + 10  # the last but one was not cached, the first was


# ---- loops that begin in one call -----------------------------------------------------------------------------------


@pytest.fixture
def begun(monkeypatch):
    """How the loops that began in one call ended: (finished, rounds)."""
    found = []
    begin = relaxation.Again.begin

    def noted(*arguments):
        result = begin(*arguments)
        found.append(result[:2])
        return result

    monkeypatch.setattr(relaxation.Again, "begin", noted)
    return found


@given(
    strategies.graphs(min_vertices=1, dtypes=(None, torch.int32, torch.float32), highest=9),
    st.sampled_from(["auto", "push", "pull"]),
    st.data(),
)
def test_runs_that_begin_in_one_call_equal_the_first(graph, mode, data):
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    for program in (BFS(source), SSSP(source), BFS(source, max_depth=2)):
        traced = tg.run(program, graph, mode=mode, trace=True)
        first, again, last = (tg.run(program, graph, mode=mode) for _ in range(3))
        for run in (first, again, last):
            assert torch.equal(run.values, traced.values) and run.values.dtype == traced.values.dtype
            assert (run.iterations, run.converged) == (traced.iterations, traced.converged)
        assert again.values.data_ptr() != last.values.data_ptr()


def test_a_dense_search_of_a_directed_graph_asks_for_the_transpose(begun):
    graph = strategies.random_graph(300, 6000)
    runs = [tg.run(BFS(0), graph) for _ in range(3)]
    assert begun == [(True, runs[0].iterations)] * 2
    assert all(torch.equal(run.values, runs[0].values) for run in runs) and "transpose" in graph.caches


def test_a_limit_ends_a_loop_that_began_in_one_call(begun):
    graph = path(n=9)
    errors = []
    for _ in range(3):
        with pytest.raises(NotConvergedError) as caught:
            bfs(graph, 0, max_iterations=3)
        errors.append((str(caught.value), caught.value.run.iterations, caught.value.run.values.tolist()))
    assert begun == [(False, 3)] * 2 and errors == errors[:1] * 3


def test_nothing_active_is_nothing_done(begun):
    class Nowhere(BFS):
        def init(self, graph):
            values, _ = super().init(graph)
            return values, graph.nothing()

    graph = path()
    assert [tg.run(Nowhere(0), graph).iterations for _ in range(3)] == [0, 0, 0]
    tg.run(BFS(0), graph)
    run = tg.run(Nowhere(0), graph)  # of another class: another plan
    assert run.values.tolist() == [0, -1, -1, -1, -1] and not run.iterations


def test_arcs_and_weights_that_change_are_seen():
    graph = path(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    for _ in range(2):
        assert sssp(graph, 0).tolist() == [0, 1, 3, 6, 10]
    graph.weights[0] = 5.0
    assert sssp(graph, 0).tolist() == [0, 5, 7, 10, 14]
    graph.weights.data = torch.tensor([7.0, 1.0, 1.0, 1.0])  # at another address
    assert sssp(graph, 0).tolist() == [0, 7, 8, 9, 10]
    graph.neighbors[3] = 0
    assert sssp(graph, 0).tolist() == [0, 7, 8, 9, float("inf")]
