"""The algorithms on an XLA device, as TPUs are: equal to those on the CPU, and compiled a bounded number of times.

`make xla` runs them, in a separate environment with the torch that torch_xla is built for.
"""

import pytest
import torch
from strategies import random_graph

import tgraph as tg

torch_xla = pytest.importorskip("torch_xla", reason="needs torch_xla: make xla")

ALGORITHMS = {
    "bfs": lambda graph: tg.algorithms.bfs(graph, 0),
    "sssp": lambda graph: tg.algorithms.sssp(graph, 0),
    "wcc": tg.algorithms.wcc,
    "pagerank": tg.algorithms.pagerank,
    "hits": lambda graph: torch.stack(tg.algorithms.hits(graph)),
    "betweenness": lambda graph: tg.algorithms.betweenness(graph, sources=[0, 1]),
    "triangles": lambda graph: tg.algorithms.triangle_count(graph, per_vertex=True),
    "clustering": tg.algorithms.local_clustering,
    "cores": tg.algorithms.core_number,
    "cdlp": tg.algorithms.cdlp,
}


def compilations() -> int:
    """How many programs XLA has compiled so far."""
    from torch_xla.debug import metrics

    torch_xla.sync(wait=True)
    return metrics.counter_value("UncachedCompile") or 0


def path_graph(length: int) -> tg.Graph:
    vertices = torch.arange(length)
    return tg.Graph.from_edges(vertices[:-1], vertices[1:], torch.ones(length - 1), directed=False)


GRAPHS = {
    "parallel arcs and loops": lambda: random_graph(40, 200, dtype=torch.float32),
    "no arcs": lambda: tg.Graph.from_edges([], [], torch.empty(0), num_vertices=3),
    "a path": lambda: path_graph(24),
}


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_equal_to_the_cpu(name, graph):
    graph = GRAPHS[graph]()
    found = ALGORITHMS[name](graph.to(torch_xla.device()))
    assert found.device.type == "xla"
    expected = ALGORITHMS[name](graph)
    if expected.is_floating_point():
        torch.testing.assert_close(found.cpu(), expected)
    else:
        assert torch.equal(found.cpu(), expected)


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
@pytest.mark.parametrize("columns", [(), (8,)])
def test_aggregate_and_its_gradient(reduce, columns):
    graph = random_graph(40, 200, dtype=torch.float32)
    results = []
    for device in ("cpu", torch_xla.device()):
        data = torch.linspace(-1, 1, 40).reshape(40, *(1 for _ in columns)).expand(40, *columns).clone().to(device)
        data.requires_grad_()
        received = tg.aggregate(graph.to(device), data, reduce)
        (received**2).sum().backward()
        results.append((received.detach().cpu(), data.grad.cpu()))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("name", ["bfs", "sssp", "wcc", "cores"])
def test_rounds_are_compiled_once(name):
    """The work of a round has the same shape in all of them: a path that is longer takes no more compilations."""
    needed = []
    for length in (40, 80):
        graph, before = path_graph(length).to(torch_xla.device()), compilations()
        ALGORITHMS[name](graph)
        needed.append(compilations() - before)
    assert needed[1] <= needed[0] + 5, needed
