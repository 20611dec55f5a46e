"""The steps of the command that run algorithms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import tgraph as tg
from tgraph import report
from tgraph.algorithms import BFS, HITS, SSSP, WCC, PageRank
from tgraph.cli.options import (
    TABLES,
    ByWeight,
    Device,
    Mode,
    Progress,
    Rounds,
    Source,
    Tolerance,
    picture_file,
    table_file,
)
from tgraph.io.stream import replacing


def bfs(
    graph: tg.Graph,
    /,
    *,
    source: Source = None,
    max_depth: Annotated[int | None, typer.Option(min=0, help="Go no farther than so many hops.")] = None,
) -> tg.Program:
    """Breadth-first search."""
    return BFS(_start(graph, source), max_depth)


def sssp(
    graph: tg.Graph,
    /,
    *,
    source: Source = None,
    delta: Annotated[float | None, typer.Option(help="Width of the buckets of delta-stepping.")] = None,
) -> tg.Program:
    """Shortest paths."""
    return SSSP(_start(graph, source), delta)


def wcc(graph: tg.Graph, /) -> tg.Program:
    """Components."""
    return WCC()


def pagerank(
    graph: tg.Graph,
    /,
    *,
    damping: Annotated[float, typer.Option(min=0, max=1, help="The probability of following an edge.")] = 0.85,
    tol: Tolerance = 1e-6,
    max_iterations: Rounds = 100,
    weighted: ByWeight = False,
) -> tg.Program:
    """PageRank."""
    return PageRank(damping=damping, tol=tol, max_iterations=max_iterations, weighted=weighted)


def hits(
    graph: tg.Graph, /, *, tol: Tolerance = 1e-6, max_iterations: Rounds = 1000, weighted: ByWeight = False
) -> tg.Program:
    """Hubs and authorities."""
    return HITS(tol=tol, max_iterations=max_iterations, weighted=weighted)


def _start(graph: tg.Graph, source: str | None) -> int:
    """The index of the vertex that the user named, or of the best connected one, and say which."""
    if source is None:
        vertex = report.best_connected(graph)
        typer.echo(f"from vertex {vertex}, the one of largest out-degree (--source names another)")
        return graph.index(vertex)
    labels = isinstance(graph.vertices, np.ndarray)
    index = graph.index(source if labels or not source.lstrip("-").isdecimal() else int(source))
    typer.echo(f"from vertex {source}")
    return index


def execute(
    graph: tg.Graph,
    program: tg.Program,
    /,
    *,
    mode: Annotated[Mode, typer.Option(help="The direction of iterations.")] = Mode.auto,
    backend: Annotated[str, typer.Option(help="Which kernels compute.")] = "auto",
    device: Device = "cpu",
    output: Annotated[
        Path | None, typer.Option(callback=table_file, help="Write the result, .parquet or .csv.")
    ] = None,
    trace: Annotated[Path | None, typer.Option(callback=picture_file, help="Draw what each iteration did.")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="Keep the state of the run there, and go on from it.")] = None,
    progress: Progress = False,
) -> None:
    """Run the program, say what it found and cost, and write what was asked for."""
    graph = graph.to(device)
    run = tg.run(program, graph, mode=mode.value, backend=backend, trace=True, progress=progress, checkpoint=checkpoint)
    iterations, switches, seconds, rate = report.cost(run)
    typer.echo(f"iterations {iterations}, direction switches {switches}, time {seconds}, {rate} edges/s")
    typer.echo(report.finding(graph, program, run.values))
    if output is not None:
        table = report.frame(graph, program, run.values)
        with replacing(output) as temporary:
            getattr(table, TABLES[output.suffix.lower()])(temporary, index=False)
        typer.echo(f"result: {output}")
    if trace is not None and run.trace is not None:
        run.trace.plot(trace)
        typer.echo(f"trace: {trace}")
