"""Graphs whose parts are on GPUs compute what one process does on the CPU. The same checks run with parts on the CPU.

Each check is tried on its own, so that one run says all that is wrong.
"""

import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from ranks import on_ranks
from test_checkpoint import MAKERS, a_graph, go_on
from test_equality import difference, edges, programs
from test_learning import compare_aggregates, compare_layers, random_graph
from torch import Tensor

import tgraph as tg
from tgraph.distributed import FeatureRows, from_local, spread
from tgraph.errors import ArgumentError
from tgraph.sampling import NeighborSampler

RTOL = 1e-5  # sums of one process on the CPU and of several on GPUs
LAYERS = ("GCN", "GCN, improved", "SAGE max", "GAT", "GATv2", "Transformer")
SOME = ("bfs", "sssp", "weighted pagerank", "mean")
ON_A_GPU = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device"),
]
NCCL = "cpu:gloo,cuda:nccl"
GROUPS = [
    pytest.param("cpu", 2, "gloo", id="cpu"),
    pytest.param("cuda", 1, NCCL, marks=ON_A_GPU, id="nccl"),
    pytest.param("cuda", 2, "gloo", marks=ON_A_GPU, id="gloo-2"),  # which share a GPU where there is one
    pytest.param("cuda", 3, "gloo", marks=ON_A_GPU, id="gloo-3"),
]


def tried(name: str, check: Callable[[], str | Iterable[str] | None]) -> Iterator[str]:
    """What a check finds wrong, or what it fails of."""
    try:
        found = check()
        for wrong in [found] if isinstance(found, str) else found or ():
            yield f"{name}: {wrong}"
    except Exception:
        yield f"{name}: {traceback.format_exc(limit=-8)}"


def graphs() -> dict[str, tg.Graph]:
    return {
        "directed": edges(700, 5000, True, True, 5),
        "undirected": edges(700, 5000, False, False, 5),
        "with a sample": edges(2000, 40000, False, True, 6),  # components begin with one
        "deep": tg.generators.grid2d(30, 20),
    }


def run_programs(device: str) -> list[str]:
    """Differences; of one graph on the CPU, where tests of equality have more."""
    wrong = []
    for number, (kind, whole) in enumerate(graphs().items()):
        if device == "cpu" and kind != "directed":
            continue
        parts = spread(whole.to(device), method=("ebp", "wcp")[number % 2])
        for name in programs(whole):
            check = lambda name=name, whole=whole, parts=parts: difference(name, whole, parts, 5, RTOL)  # noqa: E731
            wrong += tried(f"{kind}, {name}", check)
    return wrong


def open_file(device: str, path: str) -> list[str]:
    whole, wrong = edges(3000, 40000, True, True, 6), []
    for how in ({}, {"cut": "hubs"}, {"cut": "grid"}, {"memory": "600kB"}):
        opened: list[tg.Graph] = []
        wrong += tried(f"open {how}", lambda how=how, opened=opened: opened.append(_opened(path, device, how)))
        for parts in opened:
            for name in (*SOME, "components", "facts"):
                check = lambda name=name, parts=parts: difference(name, whole, parts, 5, RTOL)  # noqa: E731
                wrong += tried(f"{name} {how}", check)
            if "memory" in how and parts.layout.counts is None:
                wrong.append("with a budget of 600 kB parts are in memory")
    return wrong


def _opened(path: str, device: str, how: dict[str, str]) -> tg.Graph:
    graph = tg.distributed.open(path, device=device, **how)
    assert graph.device.type == device and graph.to(graph.device) is graph
    with pytest.raises(ArgumentError, match="device"):
        graph.to("meta")
    return graph


def learn(device: str) -> list[str]:
    wrong = []
    for directed, weighted in ((True, False), (False, True)):
        graph = random_graph(directed, weighted).to(device)
        parts = spread(graph)
        graph = tg.stream.partition(graph, dist.get_world_size(), "ebp").apply(graph).to_csr()
        for name in LAYERS:
            wrong += tried(name, lambda name=name, graph=graph, parts=parts: compare_layers(graph, parts, [name]))
        for how in (("sum", "mul"), ("mean", "copy"), ("max", "copy")):
            wrong += tried(f"{how}", lambda how=how, graph=graph, parts=parts: compare_aggregates(graph, parts, [how]))
    return wrong


def use_vertex_data(device: str) -> list[str]:
    """Operators on spread data, rows of features and batches, of which the first two are on the device."""
    graph = edges(700, 5000, True, False, 5)
    parts = spread(graph.to(device))
    held = parts.layout.ownership
    whole = torch.rand(700, 3, generator=torch.Generator().manual_seed(1)).to(device)
    data = from_local(held.own(whole).clone(), held)
    place = torch.tensor([5, 699, 5])
    column = lambda given: given[:, 0]  # noqa: E731
    operators: dict[str, Callable[[Tensor], Tensor]] = {
        "sum": lambda given: given.sum(0),
        "mean": lambda given: given.mean(),
        "norm": lambda given: given.norm(),
        "topk": lambda given: column(given).topk(7)[1],
        "argmax": lambda given: column(given).argmax(),
        "a row": lambda given: given[3],
        "rows": lambda given: given[place.to(device)],
        "rows by numbers on the CPU": lambda given: given[place],
        "mask": lambda given: given[column(given) > 0.5].sum(0),
        "nonzero": lambda given: (column(given) > 0.5).nonzero(),
        "slice": lambda given: given[100:600].amax(0),
        "bincount": lambda given: (column(given) * 9).long().bincount(),
        "unique": lambda given: (column(given) * 9).long().unique(),
        "written": lambda given: given.clone().index_put_((place.to(device),), torch.zeros(3, device=device)).sum(0),
        "any": lambda given: (given > 2).any(),
        "turned": lambda given: given.t() @ (given * 2),
    }

    def compare(function: Callable[[Tensor], Tensor]) -> str | None:
        found, wanted = function(data), function(whole)
        same = found.device == wanted.device and torch.allclose(found, wanted, rtol=RTOL)
        return None if same else f"{found} is not {wanted}"

    def weigh() -> str | None:
        by_number = torch.arange(graph.num_arcs, dtype=torch.float32) / graph.num_arcs
        wanted = tg.aggregate(graph, whole.cpu(), edge=lambda u, v, w: u * w[:, None], weights=by_number)
        for edge in ("mul", lambda u, v, w: u * w[:, None]):
            given = by_number if callable(edge) else by_number[:, None].expand(-1, 3).contiguous()
            found = tg.aggregate(parts, data, edge=edge, weights=given.to(device)).full_tensor()
            if not torch.allclose(found.cpu(), wanted, rtol=RTOL):
                return f"{found} is not {wanted}"
        column = tg.aggregate(parts, data[:, 0], edge="mul", weights=by_number.to(device)).full_tensor()
        return None if torch.allclose(column.cpu(), wanted[:, 0], rtol=RTOL) else f"{column} is not {wanted[:, 0]}"

    def fetch() -> str | None:
        rows = FeatureRows(parts, held.own(whole)).get(place)
        return None if torch.equal(rows, whole[place.to(device)]) else f"{rows}"

    def sample() -> str | None:
        seeds = torch.arange(700)[dist.get_rank() :: 50]
        found, wanted = (NeighborSampler(each, [3, 2], seed=5).sample(seeds).node for each in (parts, graph))
        return None if torch.equal(found, wanted) else f"{found} is not {wanted}"

    wrong = []
    for name, function in operators.items():
        wrong += tried(name, lambda function=function: compare(function))
    wrong += tried("digest", lambda: None if data.digest() == (data + 0).digest() else "it differs")
    wrong += tried("largest", lambda: None if parts.top(data[:, 0], 3) else "none")
    return [*wrong, *tried("features", fetch), *tried("batches", sample), *tried("data of arcs", weigh)]


def go_on_from_checkpoints(device: str, folder: str) -> list[str]:
    killed = go_on(folder, 2, device)
    wrong = [f"{name} was not killed" for name in ("bfs", "hits", "pagerank", "sssp") if killed[name] is not None]
    for name, found in go_on(folder, 10**6, device).items():
        wanted = tg.run(MAKERS[name](), a_graph()).values
        check = lambda found=found, wanted=wanted: _compare_all(found, wanted)  # noqa: E731
        wrong += tried(name, check)
    return wrong


def _compare_all(found: Tensor | dict[str, Tensor], wanted: Tensor | dict[str, Tensor]) -> None:
    torch.testing.assert_close(found, wanted, rtol=RTOL, atol=1e-9, check_device=False)


def record(device: str) -> list[str]:
    parts, wrong = spread(edges(700, 5000, False, True, 5).to(device)), []
    for program in (tg.algorithms.BFS(5), tg.algorithms.SSSP(5), tg.algorithms.PageRank(), tg.algorithms.WCC()):

        def trace(program: tg.Program = program) -> str | None:
            run = tg.run(program, parts, trace=True)
            shares, ranks = run.trace.shares, dist.get_world_size()
            whole = [(share.iteration, share.rank) for share in shares]
            ordered = all(
                each.travelling[0] <= each.waiting[0] <= each.waiting[1] and each.travelling[1] <= each.waiting[1]
                for each in run.trace.exchanges
            )
            wanted = [(iteration, rank) for iteration in range(run.iterations) for rank in range(ranks)]
            return None if whole == wanted and ordered and run.trace.exchanges else f"{whole} is not {wanted}"

        wrong += tried(type(program).__name__, trace)
    return wrong


def check_all(device: str, path: str, folder: str) -> dict[str, list[str]]:
    """What is wrong, by what was checked: starting a rank on a GPU takes longer than all of that."""
    return {
        "programs": run_programs(device),
        "files": open_file(device, path),
        "learning": learn(device),
        "data": use_vertex_data(device),
        "checkpoints": list(tried("checkpoints", lambda: go_on_from_checkpoints(device, folder))),
        "traces": record(device),
    }


@pytest.mark.parametrize(("device", "number", "backend"), GROUPS)
def test_parts_on_a_device_are_those_on_the_cpu(device: str, number: int, backend: str, tmp_path: Path):
    path, folder = tmp_path / "blocks.tg", tmp_path / "checkpoints"
    folder.mkdir()
    tg.stream.write_partitioned(edges(3000, 40000, True, True, 6), path, 12)
    told = on_ranks(number, check_all, device, str(path), str(folder), timeout=400, backend=backend)
    wrong = [
        f"rank {rank}, {what}, {each}" for rank, by in enumerate(told) for what, found in by.items() for each in found
    ]
    assert not wrong, f"{len(wrong)} checks failed\n" + "\n".join(wrong)
    assert not list(folder.iterdir())
