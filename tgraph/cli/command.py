"""How an algorithm becomes a command: what to run with which options, and what to print and write."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import typer

import tgraph as tg
from tgraph.cli import report
from tgraph.cli.options import OPTIONS, TABLES, Backend, Device, Mode, Output, Progress, choosing, trace_file
from tgraph.cli.saying import say
from tgraph.errors import ArgumentError
from tgraph.files.atomic_write import replacing

# Options that name a vertex; without a source a search starts from the best connected vertex.
VERTICES = ("source", "target")


class Algorithm(NamedTuple):
    """A command, in words that need no import of what it runs.

    run : the name in `tgraph.algorithms` of the class of a program, or of a function of the graph.
    finding : makes a line that a person can check from the graph and what `run` gave.
    frame : makes the table that --output writes.
    options : {a parameter of `run` that the command has: its default there, or the values that it may have, the default
        first}; None for a vertex. `cli.options.OPTIONS` explains them.
    given : arguments that are the same in every call.
    """

    run: str
    help: str
    finding: Callable[[tg.Graph, Any], str]
    frame: Callable[[tg.Graph, Any], Any]
    options: Mapping[str, Any] = MappingProxyType({})
    given: Mapping[str, Any] = MappingProxyType({})

    @property
    def is_program(self) -> bool:
        """Whether `run` is the class of a program."""
        return self.run[0].isupper()


def steps(algorithm: Algorithm) -> tuple[Callable[..., Any], Callable[..., None]]:
    """The steps of its command after the graph is loaded: what to run, and running it."""
    parameters = []
    for name, value in algorithm.options.items():
        default, annotation = value, OPTIONS[name]
        if isinstance(value, tuple):
            default, annotation = value[0], choosing(annotation, value)
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )

    def prepare(graph: tg.Graph, /, **given: Any) -> Any:
        for name in given.keys() & VERTICES:
            given[name] = _vertex(graph, name, given[name])
        if "target" in given and given.get("source") == given["target"]:
            vertex = report.shown(graph.ids(given["target"]))
            raise ArgumentError(f"--target: {vertex} is the source as well; name another vertex")
        if given.get("weighted") is False and graph.weight_dtype is not None:
            say("all edges count alike (--weighted: by their weights)")
        run = getattr(tg.algorithms, algorithm.run)
        return run(**given) if algorithm.is_program else partial(run, **given, **algorithm.given)

    prepare.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return prepare, partial(execute if algorithm.is_program else call, algorithm)


def _vertex(graph: tg.Graph, option: str, name: str | None) -> int:
    """The index of the vertex that the user named, or of the best connected one to start from, and say which."""
    import numpy as np

    if name is None:
        if option != "source":
            raise ArgumentError(f"--{option}: name a vertex")
        vertex = report.best_connected(graph)
        say(f"from vertex {report.shown(vertex)}, the one of largest out-degree (--source names another)")
        return graph.index(vertex)
    labels = isinstance(graph.vertices, np.ndarray)
    index = graph.index(int(name) if not labels and re.fullmatch(r"-?\d{1,40}", name) else name)
    say(f"{'from' if option == 'source' else 'to'} vertex {report.shown(name)}")
    return index


def execute(
    algorithm: Algorithm,
    graph: tg.Graph,
    program: tg.Program,
    /,
    *,
    mode: Annotated[Mode, typer.Option(help="The direction of iterations.")] = Mode.auto,
    backend: Backend = "auto",
    device: Device = "cpu",
    output: Output = None,
    trace: Annotated[
        Path | None,
        typer.Option(callback=trace_file, help="Draw what each iteration did, or write it as a page, .html."),
    ] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="Keep the state of the run there, and go on from it.")] = None,
    progress: Progress = False,
) -> None:
    """Run the program, say what it found and cost, and write what was asked for."""
    graph = graph.to(device)
    run = tg.run(program, graph, mode=mode.value, backend=backend, trace=True, progress=progress, checkpoint=checkpoint)
    iterations, switches, seconds, rate = report.cost(run)
    say(f"iterations {iterations}, direction switches {switches}, time {seconds}, {rate} edges/s")
    _tell(algorithm, graph, run.values, output)
    if trace is not None and run.trace is not None and _leads(graph):
        run.trace.plot(trace)
        if run.trace.shares:
            say(report.by_rank(run.trace))
        say(f"trace: {trace}")


def call(
    algorithm: Algorithm,
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
    if "backend" in inspect.signature(function).parameters:
        function = partial(function, backend=backend)
    elif backend != "auto":
        raise ArgumentError(f"--backend: this algorithm has one implementation; leave {backend!r} out")
    values = function(graph)
    say(f"time {report.duration(time.perf_counter() - start)}")
    _tell(algorithm, graph, values, output)


def _tell(algorithm: Algorithm, graph: tg.Graph, values: Any, output: Path | None) -> None:
    say(algorithm.finding(graph, values))
    if output is not None:
        table = algorithm.frame(graph, values)  # gathered by all
        if not _leads(graph):
            return
        with replacing(output) as temporary:
            getattr(table, TABLES[output.suffix.lower()])(temporary, index=False)
        say(f"result: {output}")


def _leads(graph: tg.Graph) -> bool:
    return graph.layout is None or graph.layout.leads
