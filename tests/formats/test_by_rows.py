"""Aggregates from a frontier on graphs in layouts and streams: as on the graph in CSR, and only rows are decoded."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import torch
from strategies import random_graph

import tgraph as tg

N = 24
LAYOUTS = ["coo", "csc", "dcsc", "dcsr", "elias_fano", "sell", "virtual"]
REDUCTIONS = ("sum", "mean", "min", "max", "prod", "any", "all")
EDGES = (("copy", None), ("add", None), ("mul", None), ("min", None), ("max", None), ("mul", 0.5), ("add", 2))


@pytest.fixture(scope="module")
def plain() -> tg.Graph:
    return random_graph(N, 90, dtype=torch.float32, directed=True)


@pytest.fixture(params=[*LAYOUTS, "streamed"])
def graph(request: Any, plain: tg.Graph, tmp_path: Path) -> tg.Graph:
    if request.param != "streamed":
        return plain.to_format(request.param)
    tg.stream.write_partitioned(plain, tmp_path / "graph.tg", parts=4)
    return tg.open(tmp_path / "graph.tg", memory="2MB")


def found(graph: tg.Graph, mode: Any, data: torch.Tensor, active: torch.Tensor, *call: Any) -> torch.Tensor | str:
    """The values received, at all vertices, or the type of the error."""
    reduce, edge, weights = call
    sub = tg.Program().tensorize(graph, graph.select(active), mode)
    try:
        received = tg.aggregate(sub, data, reduce, edge=edge, weights=weights)
    except tg.errors.ArgumentError as error:
        return type(error).__name__
    if received.vertices is None:
        return received.values
    values = received.values.new_zeros((N, *received.values.shape[1:]))
    values[received.vertices] = received.values
    return values


@pytest.mark.covering(2)
@pytest.mark.parametrize("mode", ["push", "pull"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
@pytest.mark.parametrize("at_once", [20, 1 << 22], ids=["in parts", "all at once"])
def test_a_frontier_reads_rows_alone(
    graph: tg.Graph, plain: tg.Graph, mode: Any, dtype: torch.dtype, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(graph.layout), "arcs_at_once", at_once)
    data, active = (torch.rand(N, generator=torch.Generator().manual_seed(1)) * 9).to(dtype), torch.arange(N) % 5 == 1
    columns = data.unsqueeze(1).expand(N, 2).contiguous()
    for reduce, (edge, weights), each in itertools.product(REDUCTIONS, EDGES, (columns,) if at_once < N else (data,)):
        given = found(graph, mode, each, active, reduce, edge, weights)
        expected = found(plain, mode, each, active, reduce, edge, weights)
        if isinstance(expected, str):
            assert given == expected
        else:
            torch.testing.assert_close(given, expected, equal_nan=True, msg=f"{reduce} {edge} {weights}")
    assert "arcs" not in graph.caches


class Paths(tg.Program):
    """Paths of so many arcs from vertex 0, which no relaxation counts."""

    rounds = 4

    def init(self, graph: tg.Graph) -> Any:
        self.round = 0
        return torch.zeros(graph.num_vertices, dtype=torch.int64).index_fill(0, torch.tensor(0), 1), graph.select(0)

    def compute(self, sub: tg.Subgraph, paths: Any, active: Any) -> Any:
        self.round += 1
        return tg.update(paths, active, tg.aggregate(sub, paths), lambda old, new: old + new)


@pytest.mark.parametrize("mode", ["push", "pull", "auto"])
def test_programs_of_few_active_vertices(graph: tg.Graph, plain: tg.Graph, mode: str) -> None:
    assert torch.equal(tg.run(Paths(), graph, mode=mode).values, tg.run(Paths(), plain).values)
    assert "arcs" not in graph.caches


def test_a_push_reads_blocks_with_active_vertices_alone(plain: tg.Graph, tmp_path: Path) -> None:
    tg.stream.write_partitioned(plain, tmp_path / "graph.tg", parts=6)
    run = tg.run(Paths(), tg.open(tmp_path / "graph.tg", memory="2MB"), mode="push", trace=True)
    assert len({visit.block for visit in run.trace.visits[:1]}) == 1
    first = run.trace.iterations[0]
    assert first.active_vertices == 1
