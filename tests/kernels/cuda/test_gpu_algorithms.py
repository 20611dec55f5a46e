"""Whole algorithms, gradients and repetitions on a GPU, against the same on the CPU."""

import pytest
import torch

import tgraph as tg
from tgraph.kernels.cuda import runtime

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(runtime.unavailable() is not None, reason=str(runtime.unavailable())),
]

ALGORITHMS = {
    "bfs": lambda graph: tg.algorithms.bfs(graph, 3),
    "sssp": lambda graph: tg.algorithms.sssp(graph, 3),
    "wcc": tg.algorithms.wcc,
    "pagerank": lambda graph: tg.algorithms.pagerank(graph, tol=None, max_iterations=20),
    "hits": lambda graph: torch.stack(tg.algorithms.hits(graph, tol=1e-3)),
    "betweenness": lambda graph: tg.algorithms.betweenness(graph, sources=[3, 5]),
    "cdlp": tg.algorithms.cdlp,
    "core_number": tg.algorithms.core_number,
    "triangle_count": tg.algorithms.triangle_count,
}


def drawn_graphs():
    """With hubs, with long ways, and directed."""
    return {
        "rmat": tg.generators.rmat(10, 8, weighted=True),
        "grid": tg.generators.grid2d(30, 40, weighted=True),
        "directed": tg.generators.rmat(9, 6, directed=True, weighted=True),
    }


def same(found, expected):
    """Whether two results agree, but for the rounding of sums."""
    torch.testing.assert_close(torch.as_tensor(found).cpu(), torch.as_tensor(expected), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", ["rmat", "grid", "directed"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms_give_what_they_give_on_the_cpu(name, kind):
    graph = drawn_graphs()[kind]
    same(ALGORITHMS[name](graph.to("cuda")), ALGORITHMS[name](graph))


@pytest.mark.parametrize("name", ["bfs", "sssp", "wcc", "pagerank"])
def test_a_hundred_runs_give_the_same_bits(name):
    graph = drawn_graphs()["rmat"].to("cuda")
    first = ALGORITHMS[name](graph)
    assert all(torch.equal(ALGORITHMS[name](graph), first) for _ in range(100))


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max", "prod"])
@pytest.mark.parametrize("columns", [(), (3,), (64,)])
def test_a_hundred_aggregates_give_the_same_bits(reduce, columns):
    graph = drawn_graphs()["rmat"].to("cuda")
    data = torch.rand((graph.num_vertices, *columns), device="cuda")
    first = tg.aggregate(graph, data, reduce)
    assert all(torch.equal(tg.aggregate(graph, data, reduce), first) for _ in range(100))


@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_are_those_of_the_cpu(reduce, weighted):
    graph = drawn_graphs()["directed"]
    data = torch.rand((graph.num_vertices, 5), generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    weights = torch.rand(graph.num_arcs, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    grads = []
    for device in ("cpu", "cuda"):
        leaves = [part.to(device).detach().requires_grad_() for part in (data, weights)]
        options = {"edge": "mul", "weights": leaves[1]} if weighted else {}
        tg.aggregate(graph.to(device), leaves[0], reduce, **options).sin().sum().backward()
        grads.append([leaf.grad for leaf in leaves if leaf.grad is not None])
    for found, expected in zip(grads[1], grads[0], strict=True):
        same(found, expected)


@pytest.mark.skipif(torch.__version__ < (2, 12), reason="torch.compile takes no Graph before torch 2.12")
def test_an_aggregate_is_compiled_and_captured():
    graph = drawn_graphs()["rmat"].to("cuda")
    data = torch.rand((graph.num_vertices, 16), device="cuda")
    expected = tg.aggregate(graph, data).relu()
    compiled = torch.compile(lambda x: tg.aggregate(graph, x).relu(), fullgraph=True)
    torch.testing.assert_close(compiled(data), expected)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        found = tg.aggregate(graph, data).relu()
    data.neg_()
    captured.replay()
    torch.testing.assert_close(found, tg.aggregate(graph, data).relu())
