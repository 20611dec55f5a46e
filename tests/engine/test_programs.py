"""Programs as a user writes them give the same in every engine: in either direction, recognised and fused or as they
are written, in layouts, on streams and on snapshots."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
from engines import (
    BESIDE,
    ENGINES,
    LAYOUTS,
    REASONS,
    STREAMED,
    cells,
    declared,
    expected,
    for_program,
    found,
    in_float64,
    made,
)
from programs import PROGRAMS

import tgraph as tg
from tgraph.engine import fusion

RELAXATIONS = {"Hops", "Distance", "Widest", "Components"}
IN_MEMORY = [name for name in ENGINES if name not in LAYOUTS and name not in STREAMED and name != "two ranks"]
LIMITS = Path(__file__).parents[2] / "docs" / "limits.md"


@functools.cache
def graph_of(name: str) -> tg.Graph:
    return directed(PROGRAMS[name].directed)


@functools.cache
def directed(is_directed: bool) -> tg.Graph:
    return made(8, is_directed)


@functools.cache
def values_of(name: str) -> Any:
    return expected(name, graph_of(name))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    return tmp_path_factory.mktemp("streamed")


def check(name: str, engine: str, folder: Path) -> None:
    assert found(name, engine, graph_of(name), folder, values_of(name)) == declared(name, engine)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("engine", IN_MEMORY)
def test_in_memory(name: str, engine: str, folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(fusion, "LEAST_ARCS", 0)
    check(name, engine, folder)


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("engine", LAYOUTS)
def test_in_a_layout(name: str, engine: str, folder: Path) -> None:
    check(name, engine, folder)


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("engine", STREAMED)
def test_streamed(name: str, engine: str, folder: Path) -> None:
    check(name, engine, folder)


@pytest.mark.parametrize("name", ["Distance", "CountPaths", "Arrival", "RankDeltas"])
def test_streamed_in_less_than_the_arcs_take(name: str, tmp_path: Path) -> None:
    graph = made(12, directed=True)
    budget = graph.nbytes // 4 + BESIDE * graph.num_vertices
    assert budget < 12 * graph.num_arcs  # decoded, with their weights
    with in_float64():
        values = PROGRAMS[name].run(for_program(PROGRAMS[name], graph), graph)
    assert found(name, "streamed", graph, tmp_path, values) == ""


@pytest.mark.parametrize("name", [name for name, each in PROGRAMS.items() if isinstance(each.what, type)])
@in_float64()
def test_what_is_read_as_a_relaxation(name: str) -> None:
    program, graph = PROGRAMS[name], graph_of(name)
    run = tg.run(program.what(*program.given(graph)), for_program(program, graph), trace=True)
    is_read = str(run.trace.conditions.computed).startswith("as a Relaxation")
    assert is_read == (name in RELAXATIONS)


def test_what_is_wrong_is_told(monkeypatch: Any) -> None:
    monkeypatch.setitem(ENGINES, "pull", lambda program, graph, folder: (graph.transpose(), {}))
    outcomes = cells(["Hops"], ["push", "pull"], 6)["Hops"]
    assert outcomes["push"] == "" and outcomes["pull"].startswith("WRONG, AssertionError: Tensor-likes are not close")


@pytest.mark.parametrize("reason", REASONS)
def test_reasons_are_in_the_documentation(reason: Any) -> None:
    assert f"*{reason.short}*" in LIMITS.read_text(encoding="utf-8")
