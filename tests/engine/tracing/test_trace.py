"""The trace of a run is consistent, and has the forms of a table and a plot."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from strategies import grid, random_graph
from streams import streamed

import tgraph as tg
from tgraph.algorithms import BFS, HITS, SSSP, PageRank
from tgraph.core.subgraph import whole
from tgraph.core.system import native
from tgraph.engine.tracing.trace import Trace, plot
from tgraph.kernels import watched

COLUMNS = ["iteration", "direction", "active_vertices", "active_edges", "changed_vertices", "milliseconds", "backend"]


def test_a_search_adds_up(mode):
    graph = random_graph(300, 900)
    run = tg.run(BFS(0), graph, mode=mode, trace=True)
    steps, depth = run.trace.iterations, run.values
    assert len(run.trace) == len(steps) == run.iterations
    assert [step.iteration for step in steps] == list(range(run.iterations))
    for hop, step in enumerate(steps):
        frontier = depth == hop
        assert step.active_vertices == int(frontier.sum())
        assert step.active_edges == int(graph.out_degree[frontier].sum())
        assert step.changed_vertices == int((depth == hop + 1).sum())
        assert step.milliseconds >= 0
    assert 1 + sum(step.changed_vertices for step in steps) == int((depth >= 0).sum())
    directions = [step.direction for step in steps]
    assert set(directions) <= ({"push", "pull"} if mode == "auto" else {mode})
    assert run.trace.switches == sum(a != b for a, b in itertools.pairwise(directions))
    assert run.trace.milliseconds == pytest.approx(sum(step.milliseconds for step in steps))


def test_buckets_change_vertices_that_wait():
    run = tg.run(SSSP(0, delta=4), grid(6, 6, torch.int32), trace=True)
    assert sum(step.active_vertices for step in run.trace.iterations) >= 36
    assert sum(step.changed_vertices for step in run.trace.iterations) >= 35


def test_power_iteration_is_active_everywhere():
    graph = random_graph(50, 200)
    run = tg.run(PageRank(), graph, trace=True)
    assert {(s.active_vertices, s.active_edges, s.direction) for s in run.trace.iterations} == {(50, 200, "pull")}


@pytest.mark.parametrize("program", [PageRank, HITS])
@pytest.mark.parametrize("layout", [None, "sell"])
def test_power_iterations_pull_in_every_mode(program, layout, mode):
    graph = random_graph(50, 200) if layout is None else random_graph(50, 200).to_format(layout)
    run = tg.run(program(), graph, mode=mode, trace=True)
    assert {step.direction for step in run.trace.iterations} == {"pull"}
    torch.testing.assert_close(run.values, tg.run(program(), graph).values, rtol=0, atol=0)


class Spread(tg.Program):
    """Adds up what arrives, once."""

    rounds = 1

    def init(self, graph):
        return torch.ones(graph.num_vertices), graph.everything()

    def compute(self, sub, values, active):
        return tg.aggregate(sub, values, "sum"), active


def test_the_direction_is_the_one_taken(mode):
    graph = random_graph(50, 200)
    directions = [step.direction for step in tg.run(Spread(), graph, mode=mode, trace=True).trace.iterations]
    assert directions == ["pull" if mode == "auto" else mode]
    directions = [
        step.direction for step in tg.run(Spread(), graph.to_format("sell"), mode=mode, trace=True).trace.iterations
    ]
    assert directions == ["pull"]  # layouts pull, by their transpose for a push


def test_threads_do_not_see_the_choices_of_others():
    graph = random_graph(50, 200)
    begun, ended = threading.Barrier(2, timeout=60), threading.Barrier(2, timeout=60)

    def watch(columns):
        with watched() as outer, watched() as choices:
            begun.wait()
            for _ in range(20):
                tg.aggregate(whole(graph, graph.everything(), "pull"), torch.ones(50, columns), "sum")
            ended.wait()
        assert outer == choices
        return [choice.call.data.shape[1] for choice in choices]

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(watch, [1, 2])) == [[1] * 20, [2] * 20]


def test_no_trace_unless_asked():
    assert tg.run(BFS(0), random_graph(5, 9)).trace is None


def test_an_empty_trace_draws_too(tmp_path):
    trace = tg.run(PageRank(), tg.Graph.from_edges([], []), trace=True).trace
    assert len(trace) == 0 and trace.switches == 0 and trace.milliseconds == 0
    assert list(trace.frame().columns) == COLUMNS and len(trace.frame()) == 0
    trace.plot(tmp_path / "empty.png")
    assert (tmp_path / "empty.png").stat().st_size > 1000


def test_frame():
    run = tg.run(BFS(0), random_graph(300, 900), trace=True)
    frame = run.trace.frame()
    assert list(frame.columns) == COLUMNS and len(frame) == run.iterations
    assert frame.changed_vertices.tolist() == [step.changed_vertices for step in run.trace.iterations]


@pytest.mark.parametrize(
    "suffix", ["png", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("svg", "pdf"))]
)
def test_plot(tmp_path, suffix):
    graph = random_graph(300, 3000)
    runs = {name: tg.run(program, graph, trace=True).trace for name, program in (("a", BFS(0)), ("b", PageRank()))}
    plot(runs, tmp_path / f"both.{suffix}")
    runs["a"].plot(tmp_path / f"one.{suffix}")
    assert (tmp_path / f"both.{suffix}").stat().st_size > (tmp_path / f"one.{suffix}").stat().st_size > 1000


def test_repr():
    run = tg.run(BFS(0), random_graph(300, 3000), trace=True)
    assert "BFS" in repr(run.trace) and f"{run.iterations} iterations" in repr(run.trace)
    assert isinstance(run.trace, Trace) and f"{run.trace.switches} switches" in repr(run.trace)


@pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")
def test_it_says_who_computed_within_a_layout(monkeypatch):
    graph = random_graph(200, 3000)
    compressed, blocks = graph.to_format("virtual"), streamed(graph)
    for name in ("native", "portable"):
        if name == "portable":
            monkeypatch.setenv("TGRAPH_NATIVE", "0")
        evaluated = tg.run(PageRank(), compressed, trace=True).trace
        relaxed = tg.run(BFS(0), blocks, trace=True).trace
        summed = tg.run(PageRank(), blocks, trace=True).trace
        for trace, operator in ((evaluated, "step_dag"), (relaxed, "relax_block"), (summed, "sum_in_float64")):
            assert any(choice.startswith(f"{operator}: {name} serves it") for choice in trace.choices)
            assert trace.iterations[0].backend == f"layout+{name}"
