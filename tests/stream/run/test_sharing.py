"""Calls of `tgraph.together` have the values that they have alone, and share the blocks that are read."""

import threading

import pytest
import torch
from hypothesis import given, settings
from strategies import graphs, random_graph, refused
from streams import Faulty, loads, streamed

import tgraph as tg
from tgraph.errors import ArgumentError, FileFormatError, MemoryBudgetError

al = tg.algorithms
N, ROOM = 300, 1 << 16  # bytes for the vertex data of some calls


def networks(graph):
    """The outputs and the gradients of layers that sum, and that attend."""
    torch.manual_seed(0)
    x, found = torch.rand(graph.num_vertices, 4, requires_grad=True), []
    for layer in (tg.nn.SAGEConv(4, 3), tg.nn.GATConv(4, 3)):
        found.append(layer(x, graph))
        found += torch.autograd.grad(found[-1].square().sum(), [x, *layer.parameters()])
    return torch.cat([each.flatten() for each in found])


CALLS = {
    "bfs": lambda graph: al.bfs(graph, 0),
    "rounds": lambda graph: al.sssp(graph, graph.num_vertices - 1, max_iterations=N + 1),
    "several": lambda graph: al.bfs(graph, [0, graph.num_vertices - 1]),
    "wcc": al.wcc,
    "ranks": lambda graph: al.pagerank(graph, dtype=torch.float64),
    "hits": lambda graph: al.hits(graph, tol=None, max_iterations=3)[0],
    "loops": lambda graph: torch.tensor(graph.num_self_loops),
    "networks": networks,
    "searches": lambda graph: torch.stack([run.values for run in tg.run_each([al.BFS(0), al.BFS(1)], graph)]),
}


def together(graph, functions):
    with tg.together() as calls:
        noted = [calls(function, graph) for function in functions]
    return [each.result() for each in noted]


@settings(max_examples=settings().max_examples // 7)
@given(graph=graphs(min_vertices=2, dtypes=(None,)))
def test_values_are_those_alone(graph):
    held = streamed(graph, blocks=5, buffers=2, slack=ROOM)
    for name, found in zip(CALLS, together(held, CALLS.values()), strict=True):
        torch.testing.assert_close(found, CALLS[name](graph), rtol=1e-5, atol=1e-6, msg=name)
    assert not held.layout.pipeline.states or held.layout.pipeline.reserved <= held.layout.memory


@pytest.mark.parametrize(
    ("make", "times"),
    [
        (lambda number: al.PageRank(damping=0.5 + number / 20, tol=None, max_iterations=6), 1),
        (lambda number: al.BFS(10 * number), 2),
        (lambda number: al.SSSP(10 * number), 2),
    ],
)
def test_programs_read_about_as_much_as_one(make, times):
    """Beside as many buffers as one has."""
    graph, programs = random_graph(N, 9000, directed=False), [make(number) for number in range(8)]
    alone = [tg.run(program, streamed(graph, 16, 3), trace=True) for program in programs]
    held = streamed(graph, 16, 3, slack=7 * 24 * (N + 1))
    found = tg.run_each(programs, held, trace=True)
    for one, other in zip(found, alone, strict=True):
        assert torch.equal(one.values, other.values)
    read = held.layout.counts.nbytes
    assert read <= times * max(sum(visit.nbytes for visit in run.trace.visits) for run in alone)
    assert round(sum(visit.nbytes / visit.calls for run in found for visit in run.trace.visits)) == read
    assert max(visit.calls for visit in found[0].trace.visits) == 8


def test_a_graph_that_stays_in_memory_beside_one_is_run_one_by_one():
    graph = streamed(random_graph(N, 4000), blocks=7, buffers=14)
    runs = tg.run_each([al.BFS(source) for source in range(3)], graph, trace=True)
    assert {visit.calls for run in runs for visit in run.trace.visits} == {1} and loads(graph) == 7


def test_calls_wait_for_memory():
    """Where the vertex data of one run fits, and not that of two."""
    graph, running, most = random_graph(N, 4000, directed=False), [], []

    def search(held, source):
        running.append(source)
        most.append(held.layout.pipeline.reserved)
        depth = al.bfs(held, source)
        running.remove(source)
        return depth

    held = streamed(graph, blocks=16, buffers=3, slack=10)
    found = together(held, [lambda held, source=source: search(held, source) for source in range(4)])
    assert all(torch.equal(depth, al.bfs(graph, source)) for source, depth in enumerate(found))
    assert max(most) <= held.layout.memory and not running
    tight = streamed(graph, blocks=2, buffers=1)
    with pytest.raises(MemoryBudgetError) as alone:
        al.bfs(tight, list(range(60)))
    with pytest.raises(MemoryBudgetError, match=str(alone.value).split("needs")[0]):
        together(tight, [lambda held: al.bfs(held, list(range(60)))] * 2)


def test_the_call_that_fails_is_named():
    graph = streamed(random_graph(N, 4000), blocks=7, slack=ROOM)

    def fails(*_):
        raise ValueError("of the user")

    with pytest.raises(ValueError, match="of the user") as raised, tg.together() as calls:
        first = calls(al.bfs, graph, 0)
        calls(tg.aggregate, graph, torch.rand(N), "sum", edge=fails)
        last = calls(al.pagerank, graph, damping=0.5)
        with pytest.raises(ArgumentError, match="after it"):
            first.result()
    assert not hasattr(raised.value, "__notes__") or "call 2 of 3" in raised.value.__notes__[-1]
    assert torch.equal(first.result(), al.bfs(graph, 0)) and len(last.result()) == N
    assert str(last).startswith("pagerank(Graph(") and "damping=0.5" in str(last)


def test_calls_that_cannot_run_are_refused():
    with tg.together() as calls:
        refused("function: expected a function.*got 3", calls, 3)
        inner = calls(refused, "has ended", calls, sum, [1])
        with torch.no_grad():
            modes = [calls(torch.is_grad_enabled)]
        modes.append(calls(torch.is_grad_enabled))
        with pytest.raises(KeyError), tg.together() as others:
            late = others(sum, [1, 2])
            raise KeyError
        refused(r"sum\(\[1, 2\]\) did not run", late.result)
    assert [each.result() for each in modes] == [False, True]
    assert inner.result() is None
    refused("has ended", calls, sum, [1])


def test_a_block_that_cannot_be_read_fails_those_that_need_it():
    graph = al.disjoint_union(tg.generators.cycle(50), tg.generators.cycle(50))
    held = streamed(graph, source=Faulty(graph, 4, FileFormatError("a file", "damaged", "fetch it"), 3), slack=ROOM)
    with pytest.raises(FileFormatError), tg.together() as calls:
        ranks, near, far = calls(al.pagerank, held), calls(al.bfs, held, 0), calls(al.bfs, held, 99)
    assert int(near.result().max()) == 25 and ranks.error is not None and far.error is not None


def test_an_interrupt_stops_all(monkeypatch):
    graph = streamed(random_graph(N, 4000), blocks=7, slack=ROOM)
    before, read = threading.active_count(), graph.layout.source.fetch

    def fetch(block, memory):
        if loads(graph) > 3:
            raise KeyboardInterrupt
        read(block, memory)

    monkeypatch.setattr(graph.layout.source, "fetch", fetch)
    with pytest.raises(KeyboardInterrupt), tg.together() as calls:
        found = [calls(al.pagerank, graph), calls(tg.run_each, [al.BFS(0), al.BFS(5)], graph)]
    assert [type(each.error) for each in found] == [KeyboardInterrupt] * 2, found[1].error
    assert threading.active_count() <= before + 2  # loader and verifier
