"""Programs on arrays of JAX, by torchax: equal to those in torch, compiled a bounded number of times.

`make jax` runs them, in a separate environment, and prints times beside `jax.ops.segment_sum`.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from typing import Any

import pytest
import torch

import tgraph as tg

if importlib.util.find_spec("torchax") is None:
    pytest.skip("needs torchax: make jax", allow_module_level=True)

import bridge
import jax
from torchax.interop import jax_jit

ALGORITHMS = {
    "bfs": lambda graph: tg.algorithms.bfs(graph, 0),
    "sssp": lambda graph: tg.algorithms.sssp(graph, 0),
    "wcc": tg.algorithms.wcc,
    "pagerank": tg.algorithms.pagerank,
    "hits": lambda graph: torch.stack(tg.algorithms.hits(graph)),
    "katz": lambda graph: tg.algorithms.katz(graph, alpha=0.01),
    "cdlp": tg.algorithms.cdlp,
}


class Hops(tg.Program):
    """Breadth-first search as a user writes it."""

    def init(self, graph: tg.Graph) -> Any:
        hops = torch.full((graph.num_vertices,), torch.inf, device=graph.device)
        hops[0] = 0
        return hops, graph.select(0)

    def compute(self, sub: tg.Subgraph, hops: torch.Tensor, active: tg.Frontier) -> Any:
        return tg.update(hops, active, tg.aggregate(sub, hops + 1, "min"), torch.minimum)


def arcs(length: int, seed: int = 0) -> tg.Graph:
    """Parallel arcs, loops, and vertices without arcs."""
    ends = torch.randint(40, (2, length), generator=torch.Generator().manual_seed(seed))
    return tg.Graph.from_edges(*ends, torch.arange(length) % 7 + 0.5, num_vertices=45)


def path(length: int) -> tg.Graph:
    ends = torch.arange(length)
    return tg.Graph.from_edges(ends[:-1], ends[1:], torch.ones(length - 1), directed=False)


GRAPHS = {"arcs": lambda: arcs(200), "no arcs": lambda: arcs(0), "a path": lambda: path(24)}


def here(tensor: Any) -> torch.Tensor:
    """The values of an array of JAX, as a tensor on the CPU."""
    return torch.as_tensor(tensor.numpy())


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", [*ALGORITHMS, "Hops"])
def test_equal_to_torch(name: str, graph: str) -> None:
    stored = GRAPHS[graph]()
    run = ALGORITHMS.get(name, lambda graph: tg.run(Hops(), graph).values)
    expected = run(stored)
    with bridge.environment:
        there = stored.to("jax")
        assert isinstance(there.neighbors.jax(), jax.Array)
        found = here(run(there))
    torch.testing.assert_close(found.to(expected.dtype), expected)


@pytest.mark.parametrize("columns", [(), (8,)])
@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
def test_aggregate_and_its_gradient(reduce: str, columns: tuple[int, ...]) -> None:
    def gradients(graph: tg.Graph, data: torch.Tensor) -> tuple[Any, Any]:
        data = data.clone().requires_grad_()
        received = tg.aggregate(graph, data, reduce)
        (torch.where(received.isinf(), 0, received) ** 2).sum().backward()
        return received.detach(), data.grad

    graph, data = arcs(200), torch.linspace(-1, 1, 45).reshape(45, *(1 for _ in columns)).repeat(1, *columns).squeeze()
    expected = gradients(graph, data)
    with bridge.environment:
        found = [here(each) for each in gradients(graph.to("jax"), data.to("jax"))]
    torch.testing.assert_close(found, [*expected])


@pytest.mark.parametrize("name", ["bfs", "sssp", "wcc"])
def test_rounds_have_one_shape(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """A longer path takes as many compilations, but for those of its length."""
    with jax.log_compiles(), bridge.environment:
        counts = []
        for length in (40, 80, 160):
            caplog.clear()
            ALGORITHMS[name](path(length).to("jax"))
            counts.append(sum("Compiling" in record.message for record in caplog.records))
    assert counts[2] <= counts[1] + 5, counts


def test_time_beside_a_segment_sum(capsys: pytest.CaptureFixture[str]) -> None:
    """The sum over the arcs by `tg.aggregate` and by hand: equal; medians are printed."""
    graph = tg.generators.rmat(12, 8, seed=1)
    with bridge.environment:
        there = graph.to("jax")
        data = torch.linspace(0, 1, graph.num_vertices).to("jax")
        source, target = (each.jax() for each in there.to_edge_index())
        by_hand = jax.jit(lambda x: jax.ops.segment_sum(x[source], target, graph.num_vertices))
        compiled = jax_jit(lambda x: tg.aggregate(there, x))
        calls = {
            "aggregate": lambda: tg.aggregate(there, data).jax(),
            "aggregate, jax_jit": lambda: compiled(data).jax(),
            "segment_sum, jit": lambda: by_hand(data.jax()),
        }
        seconds: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(11):
            for name, call in calls.items():
                begun = time.perf_counter()
                result = call().block_until_ready()
                seconds[name].append(time.perf_counter() - begun)
                torch.testing.assert_close(torch.tensor(result.tolist()), tg.aggregate(graph, here(data)))
    median = {name: statistics.median(each) for name, each in seconds.items()}
    with capsys.disabled():
        print(f"\nsum over {graph.num_arcs} arcs, ms:", {name: round(1e3 * each, 3) for name, each in median.items()})
