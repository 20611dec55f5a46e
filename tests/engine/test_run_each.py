"""Several runs on one graph at the same time give what they give one by one."""

import threading

import pytest
import torch

import tgraph as tg
from tgraph.algorithms import BFS, SSSP
from tgraph.core.system import native
from tgraph.engine import run_each


@pytest.fixture
def at_once(monkeypatch):
    """Runs share the cores, however small the graph, and whatever the number of cores."""
    monkeypatch.setattr(run_each, "ARCS_WORTH_A_THREAD", 0)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)


@pytest.mark.parametrize("directed", [False, True])
def test_runs_at_once_equal_runs_one_by_one(at_once, directed, monkeypatch):
    graph = tg.generators.rmat(9, 8, directed=directed, weighted=True)
    programs = [kind(source) for source in range(0, 40, 4) for kind in (BFS, SSSP)]
    started = []
    monkeypatch.setattr(native, "use_one_thread", lambda: started.append(threading.get_ident()))
    found = tg.run_each(programs, graph)
    assert len(started) == 3
    for program, one in zip(programs, found, strict=True):
        expected = tg.run(program, tg.Graph(graph.offset, graph.neighbors, graph.weights, directed=directed))
        assert torch.equal(one.values, expected.values) and one.converged


def test_what_a_graph_derives_is_derived_once(at_once, monkeypatch):
    graph = tg.generators.rmat(8, 8, directed=True)
    reversals = []
    reverse = tg.Graph._reversed
    monkeypatch.setattr(tg.Graph, "_reversed", lambda graph: reversals.append(graph) or reverse(graph))
    tg.run_each([BFS(source) for source in range(6)], graph, mode="pull")
    assert len(reversals) == 1


def test_traces_belong_to_one_run_each(at_once):
    graph = tg.generators.grid2d(5, 5)
    runs = tg.run_each([BFS(source) for source in range(4)], graph, trace=True)
    assert [len(one.trace) for one in runs] == [one.iterations for one in runs]


def test_the_first_error_is_raised(at_once):
    graph = tg.generators.grid2d(3, 3)
    with pytest.raises(tg.errors.ArgumentError, match="mode"):
        tg.run_each([BFS(0)] * 4, graph, mode="sideways")
    assert tg.run_each([], graph) == []
    for given, argument in (((BFS(0), graph), "programs"), ((graph, [BFS(0)]), "programs"), (([BFS(0)], 3), "graph")):
        with pytest.raises(tg.errors.ArgumentError, match=f"{argument}: expected"):
            tg.run_each(*given)


@pytest.mark.skipif(native.load() is None, reason="the kernels are not built")
def test_a_thread_may_compute_alone():
    counts = []

    def work():
        native.use_one_thread()
        counts.append(native.load().thread_count())

    before = native.load().thread_count()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert counts == [1] and native.load().thread_count() == before
