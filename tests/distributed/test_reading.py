"""Each rank has its rows of a file, and no more of it in memory."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from ranks import on_ranks
from torch import Tensor

import tgraph as tg
from tgraph.distributed.opening import device_of_rank, layout_of
from tgraph.errors import ArgumentError
from tgraph.stream import partition, write_partitioned

N, M = 900, 6000


class Kind(NamedTuple):
    directed: bool = False
    weighted: bool = False
    blocks: int = 4
    method: str | None = None
    layout: str | None = None
    labels: bool = False


KINDS = {
    "blocks for each rank": Kind(),
    "another number of blocks": Kind(blocks=3, directed=True),
    "one block": Kind(blocks=1, weighted=True),
    "rows in several blocks": Kind(blocks=64, directed=True, weighted=True),
    "renumbered": Kind(method="wcp", labels=True),
    "compressed": Kind(layout="virtual", directed=True),
}


def made(kind: Kind) -> tg.Graph:
    generator = torch.Generator().manual_seed(7)
    src = (torch.rand(M, generator=generator) ** 4 * N).long()
    dst = torch.randint(N, (M,), generator=generator)
    weights = torch.randint(1, 9, (M,), generator=generator).float() if kind.weighted else None
    graph = tg.Graph.from_edges(src, dst, weights, num_vertices=N, directed=kind.directed)
    if kind.labels:
        names = np.array([f"vertex {number}" for number in range(N)], dtype=object)
        graph = tg.Graph(graph.offset, graph.neighbors, graph.weights, names, graph.directed)
    return graph


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict[str, list]:
    folder = tmp_path_factory.mktemp("files")
    for name, kind in KINDS.items():
        graph = made(kind)
        parts = kind.blocks if kind.method is None else partition(graph, kind.blocks, kind.method)
        write_partitioned(graph, folder / f"{name}.tg", parts, layout=kind.layout)
    write_partitioned(made(Kind()), folder / "other.tg", 5)
    ranks = on_ranks(2, held, folder)
    return {name: [each[name] for each in ranks] for name in ranks[0]}


def held(folder: Path) -> dict[str, object]:
    """Of each file the arcs of this rank in the numbers of the whole graph, and what it has of ids and order."""
    told: dict[str, object] = {}
    for name in KINDS:
        graph = tg.distributed.open(folder / f"{name}.tg")
        before = "order" in graph.__dict__ or (graph._ids is not None and graph._ids.nbytes > 0)
        sections = [arcs_of(graph), arcs_of(graph.transpose())]
        ids = None if graph.vertices is None else graph.vertices.tolist()
        told[name] = {"sections": sections, "read": before, "ids": ids, "order": graph.order}
    rank = torch.distributed.get_rank()
    try:
        tg.distributed.open(folder / ("one block.tg" if rank else "other.tg"))
        told["mistake"] = None
    except ArgumentError as fault:
        told["mistake"] = str(fault)
    return told


def arcs_of(graph: tg.Graph) -> tuple[int, Tensor, Tensor, Tensor | None]:
    """(first row, degrees, neighbors by row, weights) of this rank; ascending within a row."""
    part = layout_of(graph).part
    vertex = torch.cat((torch.arange(part.ownership.first, part.ownership.end), part.mirrors))
    rows, ends, weights = [], [], []
    for arcs in (part.inside, part.outside):
        rows.append(torch.repeat_interleave(torch.arange(len(arcs.offset) - 1), arcs.offset.diff()))
        ends.append(vertex[arcs.neighbors.long()])
        weights.append(arcs.weights)
    row, end = torch.cat(rows), torch.cat(ends)
    order = torch.argsort(row * N + end, stable=True)
    weight = None if weights[0] is None else torch.cat(weights)[order]
    return part.ownership.first, part.degree, end[order], weight


@pytest.mark.parametrize("name", KINDS)
def test_arcs(found, name):
    kind = KINDS[name]
    graph = made(kind)
    order = found[name][0]["order"]
    assert (order is not None) == (kind.method is not None)
    graph = graph if order is None else graph.permute(order)
    for number, stored in enumerate((graph, graph.transpose())):
        begin = 0
        for rank in found[name]:
            first, degree, neighbors, weights = rank["sections"][number]
            assert first == begin
            begin += len(degree)
            assert torch.equal(degree, stored.offset.diff()[first:begin])
            arcs = slice(int(stored.offset[first]), int(stored.offset[begin]))
            assert torch.equal(neighbors, stored.neighbors[arcs].long())
            assert (weights is None) == (not kind.weighted)
            assert weights is None or torch.equal(by_arc(stored, weights, arcs), by_arc(stored, None, arcs))
        assert begin == N


def by_arc(graph: tg.Graph, weights: Tensor | None, arcs: slice) -> Tensor:
    """(arc, weight) of some arcs, ascending: the order of parallel ones is free."""
    row = torch.repeat_interleave(torch.arange(N), graph.offset.diff())[arcs]
    weights = graph.weights[arcs] if weights is None else weights
    arc = torch.stack((row * N + graph.neighbors[arcs], weights.long()), 1)
    return torch.cat([each.view(len(each), -1) for each in arc.unique(dim=0, return_counts=True)], 1)


def test_ids_and_order_are_read_when_asked_for(found):
    graph = made(KINDS["renumbered"])
    for rank in found["renumbered"]:
        assert not rank["read"]
        assert rank["ids"] == graph.vertices[rank["order"].numpy()].tolist()
    assert all(rank["ids"] is None for rank in found["compressed"])


def test_files_differ(found):
    assert all("rank 1 has opened another graph than rank 0" in mistake for mistake in found["mistake"])


def test_ranks_of_a_machine_take_one_device_each(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    assert device_of_rank("cuda") == "cuda"  # of no launcher
    for rank, number in ((0, 0), (1, 1), (2, 0)):
        monkeypatch.setenv("LOCAL_RANK", str(rank))
        assert device_of_rank("cuda") == f"cuda:{number}"
    assert (
        device_of_rank(torch.device("cuda", 1)) == "cuda:1" and device_of_rank("cpu") == device_of_rank(None) == "cpu"
    )


def open_elsewhere(path: str) -> str:
    with pytest.raises(ArgumentError) as error:
        tg.distributed.open(path, device="nowhere")
    return str(error.value)


def test_a_device_that_is_not_there(tmp_path):
    write_partitioned(tg.generators.grid2d(6, 6), tmp_path / "blocks.tg", 2)
    for said in on_ranks(2, open_elsewhere, str(tmp_path / "blocks.tg")):
        assert said.startswith("device: 'nowhere' cannot be used here")
