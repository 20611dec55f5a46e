"""Graphs are built, transposed, permuted and cut on a GPU as on the CPU, where the compiled kernels do it."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import tgraph as tg

DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=[
            pytest.mark.gpu,
            pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device"),
        ],
    ),
]


def ends(device: str, ids: int = 60, dtype: torch.dtype = torch.int64) -> tuple[Tensor, Tensor, Tensor]:
    """(sources, targets, weights) with self-loops and parallel edges."""
    random = torch.Generator().manual_seed(3)
    source, target = torch.randint(ids, (2, 400), generator=random, dtype=dtype)
    return source.to(device), target.to(device), torch.randint(1, 9, (400,), generator=random).float().to(device)


def built(device: str, **options: object) -> tg.Graph:
    return tg.Graph.from_edges(*ends(device), num_vertices=64, **options)


GRAPHS: dict[str, Callable[[str], tg.Graph]] = {
    "directed": lambda device: built(device, directed=True),
    "undirected": lambda device: built(device, directed=False),
    "without weights": lambda device: tg.Graph.from_edges(*ends(device)[:2], directed=True),
    "of int32": lambda device: tg.Graph.from_edges(*ends(device, dtype=torch.int32)[:2], directed=False),
    "first of parallel ones": lambda device: built(device, directed=True, multi="first"),
    "sum of parallel ones": lambda device: built(device, directed=False, multi="sum"),
    "smallest of parallel ones": lambda device: built(device, directed=True, multi="min"),
    "without self-loops": lambda device: built(device, directed=True, self_loops="drop"),
    "of sparse ids": lambda device: tg.Graph.from_edges(*ends(device, 1 << 40), ids="compact", directed=True),
    "of dense ids": lambda device: tg.Graph.from_edges(*ends(device), ids="compact", directed=False),
}
CHANGES: dict[str, Callable[[tg.Graph], tg.Graph]] = {
    "as it is": lambda graph: graph,
    "transposed": lambda graph: graph.transpose(),
    "permuted": lambda graph: graph.permute(torch.arange(graph.num_vertices, device=graph.device).flip(0)),
    "permuted by a list": lambda graph: graph.permute(list(range(graph.num_vertices))[::-1]),
    "a subgraph": lambda graph: graph.subgraph(torch.arange(0, graph.num_vertices, 2, device=graph.device)),
    "a subgraph by mask": lambda graph: graph.subgraph(graph.out_degree > 4),
    "undirected": lambda graph: graph.to_undirected(),
}


def facts(graph: tg.Graph) -> dict[str, object]:
    return {
        "self-loops": graph.num_self_loops,
        "parallel edges": graph.num_parallel_edges,
        "edges": graph.num_edges,
        "weights": graph.weight_range,
        "directed": graph.directed,
    }


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("device", DEVICES)
def test_it_is_that_of_the_cpu(device: str, kind: str, change: str):
    wanted, graph = (CHANGES[change](GRAPHS[kind](each)) for each in ("cpu", device))
    assert graph.device.type == device
    for found, on_cpu in ((graph, wanted), (graph.transpose(), wanted.transpose())):
        for name in ("offset", "neighbors", "weights", "in_degree", "out_degree", "order"):
            here, there = getattr(found, name), getattr(on_cpu, name)
            if there is None:
                assert here is None, name
            else:
                torch.testing.assert_close(
                    here.cpu(), there, rtol=0, atol=0, msg=lambda said, name=name: f"{name}: {said}"
                )
    assert facts(graph) == facts(wanted)
    some = list(range(min(3, graph.num_vertices)))
    assert list(graph.ids(some)) == list(wanted.ids(some))
    data = torch.arange(graph.num_vertices, dtype=torch.float64)
    here, there = (tg.aggregate(each, data.to(each.device), "max") for each in (graph, wanted))
    assert torch.equal(here.cpu(), there)
