"""The steps of the command that run algorithms."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

import tgraph as tg
from tgraph import algorithms
from tgraph.cli import report
from tgraph.cli.options import TABLES, Backend, Device, Mode, Output, Progress, Source, picture_file
from tgraph.files.atomic_write import replacing


class Algorithm(NamedTuple):
    """A command. `run` is the class of a program, or a function of the graph; `options` are those of its parameters
    that the command has, and OPTIONS explains them."""

    run: Callable[..., Any]
    help: str
    options: tuple[str, ...] = ()


# A command for everything in tgraph.algorithms.
ALGORITHMS = {
    "bfs": Algorithm(algorithms.BFS, "Hops from one vertex to every other.", ("source", "max_depth")),
    "sssp": Algorithm(algorithms.SSSP, "Shortest distances from one vertex to every other.", ("source", "delta")),
    "wcc": Algorithm(algorithms.WCC, "Weakly connected components."),
    "pagerank": Algorithm(
        algorithms.PageRank, "PageRank of every vertex.", ("damping", "tol", "max_iterations", "weighted")
    ),
    "hits": Algorithm(
        algorithms.HITS, "Hub and authority scores of every vertex.", ("tol", "max_iterations", "weighted")
    ),
    "betweenness": Algorithm(
        algorithms.betweenness,
        "How many shortest paths pass through every vertex.",
        ("k", "seed", "normalized", "endpoints"),
    ),
    "triangles": Algorithm(
        partial(algorithms.triangle_count, per_vertex=True), "The triangles that every vertex is in."
    ),
    "clustering": Algorithm(
        algorithms.local_clustering, "How many pairs of neighbours of every vertex are neighbours."
    ),
    "cores": Algorithm(algorithms.core_number, "Core numbers: how deep in the densest part every vertex lies."),
    "communities": Algorithm(algorithms.cdlp, "Communities by label propagation.", ("iterations",)),
}

OPTIONS: dict[str, Any] = {
    "source": Source,
    "max_depth": Annotated[int | None, typer.Option(min=0, help="Go no farther than so many hops.")],
    "delta": Annotated[float | None, typer.Option(help="Width of the buckets of delta-stepping.")],
    "damping": Annotated[float, typer.Option(min=0, max=1, help="The probability of following an edge.")],
    "tol": Annotated[float, typer.Option(min=0, help="Stop once an iteration changes at most this in all (L1).")],
    "max_iterations": Annotated[int, typer.Option(min=0, help="Give up after so many iterations.")],
    "weighted": Annotated[bool, typer.Option("--weighted", help="Edges count by their weights.")],
    "k": Annotated[int | None, typer.Option(help="Search from so many vertices drawn at random (default: from all).")],
    "seed": Annotated[int | None, typer.Option(help="Another seed draws others.")],
    "normalized": Annotated[bool, typer.Option(help="Divide by the number of pairs of vertices.")],
    "endpoints": Annotated[bool, typer.Option("--endpoints", help="Count a path for its ends too.")],
    "iterations": Annotated[int, typer.Option(min=0, help="Stop after so many, if labels still change.")],
}


def steps(algorithm: Algorithm) -> tuple[Callable[..., Any], Callable[..., None]]:
    """The steps of its command after the graph is loaded: what to run, and running it."""
    known = inspect.signature(algorithm.run).parameters
    parameters = [
        known[name].replace(
            kind=inspect.Parameter.KEYWORD_ONLY,
            default=None if name == "source" else known[name].default,
            annotation=OPTIONS[name],
        )
        for name in algorithm.options
    ]

    def prepare(graph: tg.Graph, /, **given: Any) -> Any:
        if "source" in given:
            given["source"] = _start(graph, given["source"])
        return algorithm.run(**given) if isinstance(algorithm.run, type) else partial(algorithm.run, **given)

    prepare.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return prepare, execute if isinstance(algorithm.run, type) else call


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
    backend: Backend = "auto",
    device: Device = "cpu",
    output: Output = None,
    trace: Annotated[Path | None, typer.Option(callback=picture_file, help="Draw what each iteration did.")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="Keep the state of the run there, and go on from it.")] = None,
    progress: Progress = False,
) -> None:
    """Run the program, say what it found and cost, and write what was asked for."""
    graph = graph.to(device)
    run = tg.run(program, graph, mode=mode.value, backend=backend, trace=True, progress=progress, checkpoint=checkpoint)
    iterations, switches, seconds, rate = report.cost(run)
    typer.echo(f"iterations {iterations}, direction switches {switches}, time {seconds}, {rate} edges/s")
    _tell(graph, type(program), run.values, output)
    if trace is not None and run.trace is not None:
        run.trace.plot(trace)
        typer.echo(f"trace: {trace}")


def call(
    graph: tg.Graph,
    function: partial[Any],
    /,
    *,
    backend: Backend = "auto",
    device: Device = "cpu",
    output: Output = None,
) -> None:
    """Call the function, say what it found and cost, and write what was asked for."""
    graph, start = graph.to(device), time.perf_counter()
    values = function(graph, backend=backend)
    typer.echo(f"time {report.duration(time.perf_counter() - start)}")
    _tell(graph, function.func, values, output)


def _tell(graph: tg.Graph, algorithm: Callable[..., Any], values: Any, output: Path | None) -> None:
    typer.echo(report.finding(graph, algorithm, values))
    if output is not None:
        table = report.frame(graph, algorithm, values)
        with replacing(output) as temporary:
            getattr(table, TABLES[output.suffix.lower()])(temporary, index=False)
        typer.echo(f"result: {output}")
