"""Programs as a user writes them give the same in every engine: in either direction, recognised and fused or as they
are written, in layouts, on streams and on snapshots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from programs import PROGRAMS, RELAXATIONS

import tgraph as tg
from tgraph.engine import fusion

LAYOUTS = ("coo", "csc", "dcsc", "dcsr", "elias_fano", "sell", "virtual")


@pytest.fixture(scope="module")
def graph() -> tg.Graph:
    plain = tg.generators.rmat(9, 8, directed=True, seed=3)
    weights = torch.randint(1, 10, (plain.num_arcs,), generator=torch.Generator().manual_seed(0)).double()
    return tg.Graph(plain.offset, plain.neighbors, weights)


@pytest.fixture(scope="module")
def source(graph: tg.Graph) -> int:
    return int(graph.out_degree.argmax())


@pytest.fixture(scope="module")
def expected(graph: tg.Graph, source: int) -> dict[str, torch.Tensor]:
    return {name: tg.run(kind(source), graph, fuse=False, backend="portable").values for name, kind in PROGRAMS.items()}


def check(found: tg.Run, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found.values, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.covering(2)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("mode", ["auto", "push", "pull"])
@pytest.mark.parametrize("fuse", [True, False])
def test_in_memory(graph: Any, source: int, expected: Any, name: str, mode: str, fuse: bool, monkeypatch: Any) -> None:
    monkeypatch.setattr(fusion, "LEAST_ARCS", 0)
    run = tg.run(PROGRAMS[name](source), graph, mode=mode, fuse=fuse, trace=True)
    check(run, expected[name])
    assert run.trace.conditions.computed.startswith("as a Relaxation") == (fuse and name in RELAXATIONS)


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_a_layout(graph: Any, source: int, expected: Any, name: str, layout: str) -> None:
    stored = graph.to_format(layout)
    check(tg.run(PROGRAMS[name](source), stored), expected[name])
    assert "arcs" not in stored.caches


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("mode", ["auto", "push", "pull"])
def test_streamed(graph: Any, source: int, expected: Any, name: str, mode: str, tmp_path: Path) -> None:
    tg.stream.write_partitioned(graph, tmp_path / "graph.tg", parts=16)
    streamed = tg.open(tmp_path / "graph.tg", memory="2MB")
    check(tg.run(PROGRAMS[name](source), streamed, mode=mode), expected[name])
    assert "arcs" not in streamed.caches


@pytest.mark.parametrize("name", ["Distance", "DistanceInRounds", "Walks", "CountPaths", "Arrival", "BestSender"])
def test_streamed_in_less_than_the_arcs_take(name: str, tmp_path: Path) -> None:
    plain = tg.generators.rmat(15, 16, directed=True, seed=4)
    graph = tg.Graph(plain.offset, plain.neighbors, (plain.neighbors % 9 + 1).double())
    tg.stream.write_partitioned(graph, tmp_path / "graph.tg", parts=16)
    streamed, source = tg.open(tmp_path / "graph.tg", memory="5MB"), int(graph.out_degree.argmax())
    assert 12 * graph.num_arcs > 5 * 10**6  # the arcs with their weights
    check(tg.run(PROGRAMS[name](source), streamed), tg.run(PROGRAMS[name](source), graph).values)


@pytest.mark.parametrize("name", PROGRAMS)
def test_on_a_snapshot(graph: Any, source: int, expected: Any, name: str) -> None:
    store = tg.dynamic.Store(torch.float64, num_vertices=graph.num_vertices)
    store.insert(*graph.to_edge_index(), graph.weights)
    check(tg.run(PROGRAMS[name](source), store.snapshot()), expected[name])
