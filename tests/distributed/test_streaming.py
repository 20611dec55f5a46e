"""Parts that are larger than the memory of their rank are read block by block, with the same results."""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from ranks import nothing_is_wrong, on_ranks
from test_equality import METHODS, differences, edges
from test_learning import COLUMNS, compare_aggregates, compare_layers, random_graph
from torch import Tensor

import tgraph as tg
from tgraph.distributed import gather
from tgraph.errors import ArgumentError, MemoryBudgetError
from tgraph.stream import partition, write_partitioned

BLOCKS = 24, 23  # of the files for two ranks, by turns: whole ones for each, or not
COPIED = 40  # bytes of a vertex that float64, or two values, take more than float32
ADDING = ("GCN", "GCN, improved", "GCN without loops", "GCN against arcs", "SAGE", "GIN", "Graph")


def within_least(path: Path, num_vertices: int = 0) -> tg.Graph:
    """The graph in a file within the least memory that errors name, and what larger values of programs take."""
    memory = 1
    while True:
        try:
            return tg.distributed.open(path, memory=memory + COPIED * num_vertices)
        except MemoryBudgetError as fault:
            memory = max(fault.needed - COPIED * num_vertices, memory + 1)


def made(ranks: int = 2) -> list[tg.Graph]:
    """Graphs whose arcs take more than what their vertices, and mirrors on so many ranks, take."""
    kinds = [(directed, weighted) for directed in (False, True) for weighted in (False, True)]
    return [edges(200, 8000 * ranks, directed, weighted, 5) for directed, weighted in kinds]


def write(files: Path, ranks: int = 2) -> None:
    for number, graph in enumerate(made(ranks)):
        for method in METHODS:
            parts = partition(graph, BLOCKS[number % 2] * ranks // 2, method)
            write_partitioned(graph, files / f"{number}-{method}.tg", parts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    files = tmp_path_factory.mktemp("blocks")
    write(files)
    write_partitioned(random_graph(True, True, 100, 3000), files / "learning.tg", BLOCKS[0])
    write_partitioned(edges(1000, 20000, False, False, 5), files / "search.tg", 40)
    return files


# ---- the same results ------------------------------------------------------------------------------------------------


class Reliable(tg.Relaxation):
    """The largest product of weights of a path from the first vertex: not known to end, so that each round is one."""

    reduce, edge, rounds = "max", "mul", 4

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        return torch.where(torch.arange(graph.num_vertices) == 0, 1.0, 0.0), graph.select(0)


def compare(folder: Path, some: bool) -> list[str]:
    """Differences: of an undirected graph and of a directed one with weights by one of the partitions, or of all by
    all."""
    wrong = []
    for number, graph in enumerate(made(dist.get_world_size())):
        for method in {0: METHODS[:1], 3: METHODS[1:]}.get(number, ()) if some else METHODS:
            parts = within_least(folder / f"{number}-{method}.tg", graph.num_vertices)
            layout: Any = parts.layout
            if layout.part.streamed is None:
                wrong.append(f"{graph} by {method} is in memory")
                continue
            wrong += differences(graph, method, 5, parts=parts)
            pipeline, blocks = layout.part.streamed.pipeline, len(layout.part.streamed.pipeline.source.index)
            if blocks and (pipeline.capacity >= blocks or layout.counts.loads < 2 * blocks):
                wrong.append(f"{graph} by {method}: {layout.counts}, {blocks} blocks, {pipeline.capacity} buffers")
            if graph.weight_dtype is not None:
                whole = graph if parts.order is None else graph.permute(parts.order)
                found = gather(parts, tg.run(Reliable(), parts).values)
                wrong += [] if torch.equal(found, tg.run(Reliable(), whole).values) else [f"products in {graph}"]
    return wrong


def test_programs_are_equal(folder):
    nothing_is_wrong(2, compare, folder, True, timeout=300)


@pytest.mark.thorough
@pytest.mark.parametrize("number", [1, 2, 3, 4, 8])
def test_programs_are_equal_on_more_ranks(tmp_path, number):
    write(tmp_path, number)
    nothing_is_wrong(number, compare, tmp_path, False, timeout=900)


def learn(folder: Path) -> list[str]:
    parts = within_least(folder / "learning.tg", 100)
    graph = tg.read(folder / "learning.tg")
    wrong = [*compare_layers(graph, parts, ADDING)]
    wrong += compare_aggregates(graph, parts, [("sum", "copy"), ("sum", "mul"), ("sum", "add"), ("mean", "mul")])
    layout: Any = parts.layout
    return wrong if layout.part.streamed else [*wrong, "in memory"]


def test_layers_that_aggregate_are_equal(folder):
    assert on_ranks(2, learn, folder) == [[], []]


def twice(path: Path) -> Tensor:
    found = []
    for _ in range(2):
        graph = within_least(path, 200)
        found.append(gather(graph, tg.algorithms.pagerank(graph)))
    return torch.stack(found)


def test_sums_have_the_same_bits_in_every_run(folder):
    first, second = (on_ranks(2, twice, folder / "1-wcp.tg") for _ in range(2))
    assert all(torch.equal(ranks, first[0][:1].expand(2, -1)) for ranks in (*first, *second))


# ---- what is read ----------------------------------------------------------------------------------------------------


def search(path: Path) -> dict[str, Any]:
    graph = within_least(path)
    layout: Any = graph.layout
    before = layout.counts
    run = tg.run(tg.algorithms.BFS(0), graph, trace=True)
    pipeline, read = layout.part.streamed.pipeline, layout.counts.since(before)
    return {
        "blocks": sum(len(each.layout.section.blocks) for each in layout.part.graphs),
        "buffers": pipeline.capacity,
        "taken": pipeline.reserved + pipeline.capacity * pipeline.size <= pipeline.memory,
        "counts": (read.visits, read.loads),
        "visits": (len(run.trace.visits), sum(visit.loading is not None for visit in run.trace.visits)),
        "ways": [step.direction for step in run.trace.iterations],
        "exchanges": len(run.trace.exchanges),
        "nbytes": layout.nbytes,
    }


def test_a_trace_has_the_blocks_that_were_read(folder):
    for rank in on_ranks(2, search, folder / "search.tg"):
        assert 1 <= rank["buffers"] < rank["blocks"] and rank["taken"]
        assert rank["visits"] == rank["counts"] and rank["counts"][1] >= 3
        assert "pull" in rank["ways"] and rank["exchanges"] > 0
        assert rank["nbytes"] < 4 * 20000


# ---- budgets ---------------------------------------------------------------------------------------------------------


def refuse(path: Path) -> list[str]:
    """What is said of what needs the arcs of a rank at once; the group goes on."""
    graph = within_least(path, 100)
    layout: Any = graph.layout
    x, said = torch.zeros(layout.ownership.num_own, COLUMNS), []
    for wrong in (
        lambda: tg.sampling.NeighborSampler(graph, [2]).sample(torch.arange(3)),
        lambda: tg.nn.GATConv(COLUMNS, 2)(x, graph),
        lambda: tg.aggregate(graph, x.clone().requires_grad_(), "max"),
        lambda: tg.run(Wide(), graph),
        lambda: tg.aggregate(graph, torch.zeros(graph.num_vertices), edge="mul", weights=torch.ones(graph.num_arcs)),
    ):
        with pytest.raises(MemoryBudgetError, match="start more ranks") as error:
            wrong()
        said.append(str(error.value))
        assert error.value.needed > error.value.budget
    tg.algorithms.bfs(graph, 0)
    return said


class Wide(tg.Program):
    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        return torch.zeros(graph.num_vertices, 1000), graph.everything()

    def compute(self, sub: tg.Subgraph, values: Tensor, active: tg.Frontier) -> Any:
        raise AssertionError("the budget does not hold these values")


def test_what_needs_arcs_at_once_is_refused_on_all_ranks(folder):
    first, second = on_ranks(2, refuse, folder / "learning.tg")
    assert first == second
    assert [each.split(" of rank")[0] for each in first] == [
        "memory: a sampler, which takes the arcs",
        "memory: a layer that scores arcs, which takes the arcs",
        "memory: a function of arcs, or the gradient of a reduction that is no sum or mean, which takes the arcs",
        "memory: a block beside the data of the program",
        "memory: a graph of other weights, which takes the arcs",
    ]


def budgets(path: Path) -> dict[str, Any]:
    said, least = [], 1
    while True:
        try:
            tg.distributed.open(path, memory=least)
            break
        except MemoryBudgetError as fault:
            said.append(str(fault))
            with pytest.raises(MemoryBudgetError):
                tg.distributed.open(path, memory=fault.needed - 1)
            least = fault.needed
    large: Any = tg.distributed.open(path, memory="1GB").layout
    other: Any = tg.distributed.open(path, memory="1GB" if dist.get_rank() else least).layout
    wrong = []
    for arguments in ({"memory": "little"}, {"memory": 10**6, "cut": "hubs"}):
        with pytest.raises(ArgumentError) as error:
            tg.distributed.open(path, **arguments)
        wrong.append(str(error.value))
    streams = [large.part.streamed is not None, other.part.streamed is not None]
    return {"said": said, "streams": streams, "wrong": wrong}


def test_budgets(folder):
    first, second = on_ranks(2, budgets, folder / "1-wcp.tg")
    assert first == second and first["streams"] == [False, True]  # all do where one does
    assert [each.split(" of rank")[0] for each in first["said"]] == [
        "memory: a block of the file beside what counts the arcs",
        "memory: a block beside the data of the vertices and mirrors",
    ]
    assert "'little' is no amount" in first["wrong"][0] and "leave out `memory`, or `cut`" in first["wrong"][1]
