"""What a trace says was slow is so, and the remedy helps."""

import pytest
import torch
from streams import streamed

import tgraph as tg
from tgraph.algorithms import BFS, SSSP, PageRank, PlainPageRank
from tgraph.core.system import native
from tgraph.engine.tracing import findings as rules
from tgraph.engine.tracing.records import Iteration, Share, Visit
from tgraph.engine.tracing.trace import Trace
from tgraph.stream.memory import parse_memory

GRAPH = tg.generators.rmat(8)


def made(steps=(), **conditions):
    """A trace of iterations of (direction, active edges, milliseconds, backend)."""
    trace = Trace(GRAPH, "made")
    trace.iterations = [
        Iteration(i, direction, edges if edges < GRAPH.num_vertices else 1, edges, 1, ms, backend)
        for i, (direction, edges, ms, backend) in enumerate(steps)
    ]
    for name, value in conditions.items():
        setattr(trace.conditions, name, value)
    return trace


def test_a_larger_budget_keeps_blocks():
    """The budget that is named holds all blocks, so that each is loaded once."""
    held = streamed(tg.generators.rmat(10), blocks=9, buffers=2)
    trace = tg.run(PageRank(), held, trace=True).trace
    assert trace.conditions.memory == held.layout.memory
    trace.visits = [
        Visit(v.block, v.nbytes, (10.0 * i, 10.0 * i + 9), (10.0 * i + 9, 10.0 * i + 10)) if v.loading else v
        for i, v in enumerate(trace.visits)
    ]  # as a slow disk would have it
    found = rules.waiting_for_the_disk(trace)
    assert "waited for the disk" in found.what and "times on average" in found.what
    budget = parse_memory(found.remedy.split('"')[1])
    run = tg.run(PageRank(), held, trace=True, memory=budget)
    assert sum(visit.loading is not None for visit in run.trace.visits) <= 9


def test_what_is_read_once_needs_no_memory():
    trace = made([("pull", 10, 50.0, "layout")], memory=1000)
    trace.visits = [Visit(i, 100, (2.0 * i, 2.0 * i + 1), (2.0 * i + 1, 2.0 * i + 1.1)) for i in range(4)]
    assert "about once" in rules.waiting_for_the_disk(trace).what
    trace.visits = [Visit(i, 100, (2.0 * i, 2.0 * i + 0.1), (2.0 * i + 0.1, 2.0 * i + 2)) for i in range(4)]
    trace.visits = [Visit(i % 2, 100, (2.0 * i, 2.0 * i + 1), (2.0 * i + 1, 2.0 * i + 1.1)) for i in range(4)]
    trace.conditions.memory = None
    assert "2.0 times on average" in rules.waiting_for_the_disk(trace).what
    assert "A larger memory=" in rules.waiting_for_the_disk(trace).remedy
    trace.visits = [Visit(i, 100, (2.0 * i, 2.0 * i + 0.1), (2.0 * i + 0.1, 2.0 * i + 2)) for i in range(4)]
    assert rules.waiting_for_the_disk(trace) is None and rules.waiting_for_the_disk(made()) is None


def test_the_transpose_is_made_once():
    graph = tg.generators.rmat(8, directed=True)
    graph.drop_caches()
    first = tg.run(PlainPageRank(), graph, trace=True).trace
    again = tg.run(PlainPageRank(), graph, trace=True).trace
    assert first.conditions.transposed and not again.conditions.transposed
    slow = [("pull", 10, 90.0, "native"), ("pull", 10, 5.0, "native")]
    assert "graph.transpose()" in rules.transposing(made(slow, transposed=True)).remedy
    assert rules.transposing(made(slow)) is None


def test_a_direction_that_was_asked_for():
    many, few = GRAPH.num_arcs // 2, 3
    found = rules.asked_direction(made([("push", many, 80.0, "native"), ("push", few, 5.0, "native")], mode="push"))
    assert "many active edges" in found.what and 'mode="auto"' in found.remedy
    found = rules.asked_direction(made([("pull", few, 80.0, "native"), ("pull", few, 5.0, "native")], mode="pull"))
    assert "few active edges" in found.what
    assert rules.asked_direction(made([("push", many, 80.0, "native"), ("push", few, 5.0, "native")])) is None
    trace = tg.run(BFS(0), GRAPH, mode="push", trace=True).trace
    assert trace.conditions.mode == "push"


def test_portable_code_says_why():
    trace = tg.run(BFS(0), GRAPH, backend="portable", trace=True).trace
    assert "as was asked for" in rules.slow_backend(trace).what
    assert rules.slow_backend(tg.run(BFS(0), GRAPH, trace=True).trace) is None


class Products(tg.Program):
    """Products of half precision, for which no kernel is compiled."""

    rounds = 2

    def init(self, graph):
        return torch.ones(graph.num_vertices, dtype=torch.float16), graph.everything()

    def compute(self, sub, values, active):
        return tg.aggregate(sub, values, "prod").values, active


@pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")
def test_compiled_kernels_say_why_they_do_not_serve():
    found = rules.slow_backend(tg.run(Products(), GRAPH, trace=True).trace)
    assert "Portable torch code ran aggregate" in found.what and "native is faster" in found.remedy
    assert "not compiled for torch.float16" in found.remedy


def test_deep_graphs_and_narrow_buckets():
    path = tg.generators.path(400)
    trace = tg.run(BFS(0), path, trace=True).trace
    assert trace.conditions.loop and "the graph is deep" in rules.small_iterations(trace).remedy
    weighted = tg.Graph.from_edges(range(400), range(1, 401), [100] * 400)
    trace = tg.run(SSSP(0, delta=1), weighted, trace=True).trace
    found = rules.small_iterations(trace)
    assert trace.conditions.width == 1 and "delta=4" in found.remedy
    assert rules.small_iterations(tg.run(BFS(0), GRAPH, trace=True).trace) is None
    assert "tg.Relaxation" in rules.small_iterations(made([("push", 3, 1.0, "native")] * 60)).remedy


def shares(*ranks):
    """Shares of (computing, waiting, exchanges, bytes sent)."""
    trace = made([("pull", 10, 100.0, "native")])
    trace.shares = [
        Share(0, r, 0.0, c + w, c, w, w, 0.0, count, sent, sent) for r, (c, w, count, sent) in enumerate(ranks)
    ]
    return trace


@pytest.mark.parametrize(
    ("ranks", "what", "remedy"),
    [
        ([(3.0, 0.1, 1, 10), (1.0, 2.1, 1, 10)], "rank 0 computed 1.5 times", 'cut="hubs"'),
        ([(1.0, 1.0, 100, 1000), (1.0, 1.0, 100, 1000)], "200 exchanges of 10 B", "Fewer ranks"),
        ([(1.0, 1.0, 2, 10**9), (1.0, 1.0, 2, 10**9)], "the network is slow", "wcp"),
    ],
)
def test_ranks_that_wait(ranks, what, remedy):
    found = rules.waiting_for_ranks(shares(*ranks))
    assert what in found.what and remedy in found.remedy


def test_ranks_that_do_not_wait():
    assert rules.waiting_for_ranks(shares((3.0, 0.1, 1, 10), (3.0, 0.1, 1, 10))) is None


def test_short_runs_are_not_worth_a_remark():
    assert rules.findings(made([("pull", 3, 2.0, "native")] * 3, mode="pull")) == []
    found = rules.findings(made([("pull", 3, 20.0, "native")] * 3, mode="pull"))
    assert [finding.what for finding in found] == [
        rules.asked_direction(made([("pull", 3, 20.0, "native")] * 3, mode="pull")).what
    ]
