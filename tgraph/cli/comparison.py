"""`tgraph demo`: five algorithms on one graph, as a table and a picture."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import tgraph as tg
from tgraph.algorithms import BFS, HITS, SSSP, WCC, PageRank
from tgraph.cli import report
from tgraph.cli.graphs import size
from tgraph.cli.reading import OPTION_OF
from tgraph.cli.results.result import shown
from tgraph.cli.results.vertices import COMPONENTS, DEPTHS, DISTANCES, HUBS, scores
from tgraph.cli.saying import say
from tgraph.core.system.text import counted
from tgraph.engine.tracing.trace import plot
from tgraph.progress import busy

HEADER = ("algorithm", "iterations", "switches", "time", "edges/s", "found")


def generated() -> tg.Graph:
    """The graph of those who give none."""
    clock = report.stopwatch()
    graph = tg.generators.rmat(16, weighted=True)
    say(f"a generated scale-free graph (R-MAT): {size(graph)}, made in {clock()}")
    return graph


def compare(graph: tg.Graph, picture: Path) -> str:
    """Run BFS, SSSP, WCC, PageRank and HITS on the graph, draw their iterations into `picture`; returns the table."""
    clock = report.stopwatch()
    with busy("transpose"):
        graph.transpose()  # once for all, so that the first pull does not pay for the others
    prepared = clock()
    hub = report.best_connected(graph)
    source = graph.index(hub)
    results = {
        BFS(source): DEPTHS,
        SSSP(source): DISTANCES,
        WCC(): COMPONENTS,
        PageRank(): scores("rank"),
        HITS(): HUBS,
    }
    runs = {program: _run(program, graph) for program in results}
    rows = [
        (type(program).__name__, *report.cost(run), results[program].line(graph, run.values))
        for program, run in runs.items()
    ]
    traces = {type(program).__name__: run.trace for program, run in runs.items() if run.trace is not None}
    edges = counted(graph.num_arcs, "edge") + ("" if graph.directed else ", each direction counted")
    with busy("draw"):
        plot(traces, picture, title=f"{counted(graph.num_vertices, 'vertex')}, {edges}")
    return "\n".join(
        (
            *((f"transposed once for all runs in {prepared}",) if graph.directed else ()),
            f"searches start at vertex {shown(hub)}, the one of largest out-degree",
            "",
            report.table((HEADER, *rows)),
            "",
            report.RATE_NOTE,
            f"what each iteration did: {picture}",
        )
    )


def _run(program: tg.Program, graph: tg.Graph) -> tg.Run:
    try:
        with busy(type(program).__name__):
            return tg.run(program, graph, trace=True)
    except tg.errors.NotConvergedError as stopped:  # the values so far have a row, too
        return stopped.run


def next_steps(file: Path | None, options: dict[str, Any]) -> str:
    """The commands that one would try next, on the same graph where it is in a file.

    options : those that it was read with, by name; None where they were left out.
    """
    given = [_option(name, value) for name, value in options.items() if value is not None]
    graph = " ".join([shlex.quote(str(file or "graph.tg")), *given])
    commands = [
        (f"tgraph report {graph}", "a page on it: degrees, distances, communities, a drawing"),
        (f"tgraph pagerank {graph} --output ranks.csv", "a result for every vertex, by its id"),
    ]
    if file is None:
        commands.insert(0, (f"tgraph generate rmat {graph}", "such a graph in a file"))
    else:
        commands.append((f"tgraph bfs {graph} --trace trace.html", "what each iteration of a run did, and why"))
    lines = report.table([(f"  {command}", text) for command, text in commands], left=(0, 1))
    return f"to try next:\n{lines}"


def _option(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return OPTION_OF[name] if value else f"--{'un' if name == 'directed' else 'no-'}{name}"
    return f"{OPTION_OF[name]} {shlex.quote(str(value))}"
