"""`tgraph demo`: five algorithms on one graph, as a table and a picture."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tgraph as tg
from tgraph.algorithms import BFS, HITS, SSSP, WCC, PageRank
from tgraph.cli import report
from tgraph.engine.tracing.trace import plot

HEADER = ("algorithm", "iterations", "switches", "time", "edges/s", "found")


def compare(graph: tg.Graph, picture: Path) -> str:
    """Run BFS, SSSP, WCC, PageRank and HITS on the graph, draw what they did into `picture`, and return the table."""
    start = time.perf_counter()
    graph.transpose()  # once for all, so that the first pull does not pay for the others
    prepared = report.duration(time.perf_counter() - start)
    hub = report.best_connected(graph)
    source = graph.index(hub)
    findings: dict[tg.Program, Callable[[tg.Graph, Any], str]] = {
        BFS(source): report.depths,
        SSSP(source): report.distances,
        WCC(): report.groups("component", "components"),
        PageRank(): report.ranks,
        HITS(): report.hubs,
    }
    runs = {program: _run(program, graph) for program in findings}
    rows = [
        (type(program).__name__, *report.cost(run), findings[program](graph, run.values))
        for program, run in runs.items()
    ]
    traces = {type(program).__name__: run.trace for program, run in runs.items() if run.trace is not None}
    edges = f"{graph.num_arcs:,} edges" + ("" if graph.directed else ", each direction counted")
    plot(traces, picture, title=f"{graph.num_vertices:,} vertices, {edges}")
    return "\n".join(
        (
            *((f"transposed once for all runs in {prepared}",) if graph.directed else ()),
            f"searches start at vertex {hub}, the one of largest out-degree",
            "",
            report.table((HEADER, *rows)),
            "",
            report.RATE_NOTE,
            f"what each iteration did: {picture}",
        )
    )


def _run(program: tg.Program, graph: tg.Graph) -> tg.Run:
    try:
        return tg.run(program, graph, trace=True)
    except tg.errors.NotConvergedError as stopped:  # what it has found so far is worth a row too
        return stopped.run
