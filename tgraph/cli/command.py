"""Commands of algorithms: their options, the run, the line and the table of the result."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import typer

import tgraph as tg
from tgraph.cli import declared, report
from tgraph.cli.options import OPTIONS, TABLES, Backend, Device, Mode, Output, Progress, choosing, trace_file
from tgraph.cli.results.result import Result, shown
from tgraph.cli.saying import say
from tgraph.errors import ArgumentError
from tgraph.files.atomic_write import replacing

# Options that name a vertex; without a source a search starts from the best connected vertex.
VERTICES = ("source", "target")


class Algorithm(NamedTuple):
    """A command that runs an algorithm, without importing it.

    run : the function of `tgraph.algorithms`, whose docstring is the help of the command. result : the line and the
    table of its results. options : names of its parameters that the command has; `cli.options.OPTIONS` explains them.
    values : of options that are one of a few texts. given : arguments that are the same in every call.
    """

    run: str
    result: Result
    options: str = ""
    values: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    given: Mapping[str, Any] = MappingProxyType({})


def steps(algorithm: Algorithm) -> tuple[Callable[..., Any], Callable[..., None]]:
    """The steps of its command after the graph is loaded: what to run, and running it."""
    known, program = declared.parameters(algorithm.run), declared.program_of(algorithm.run)
    parameters = []
    for name in algorithm.options.split():
        values = algorithm.values.get(name)
        annotation = OPTIONS[name] if values is None else choosing(OPTIONS[name], values)
        default = None if name in VERTICES else known[name][1]
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )

    def prepare(graph: tg.Graph, /, **given: Any) -> Any:
        given |= {name: _vertex(graph, name, given[name]) for name in VERTICES if name in given}
        if "target" in given and given.get("source") == given["target"]:
            vertex = shown(graph.ids(given["target"]))
            raise ArgumentError(f"--target: {vertex} is the source as well; name another vertex")
        if given.get("weighted") is False and graph.weight_dtype is not None:
            say("all edges count alike (--weighted: by their weights)")
        run = getattr(tg.algorithms, program or algorithm.run)
        return run(**given) if program else partial(run, **given, **algorithm.given)

    prepare.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return prepare, partial(execute if program else call, algorithm.result)


def _vertex(graph: tg.Graph, option: str, name: str | None) -> int:
    """The index of the named vertex, or of the best connected one for a source; prints which."""
    import numpy as np

    if name is None:
        if option != "source":
            raise ArgumentError(f"--{option}: name a vertex")
        vertex = report.best_connected(graph)
        say(f"from vertex {shown(vertex)}, the one of largest out-degree (--source names another)")
        return graph.index(vertex)
    labels = isinstance(graph.vertices, np.ndarray)
    index = graph.index(int(name) if not labels and re.fullmatch(r"-?\d{1,40}", name) else name)
    say(f"{'from' if option == 'source' else 'to'} vertex {shown(name)}")
    return index


def execute(
    result: Result,
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
    """Run the program, print its result and cost, and write the files of the options."""
    graph = graph.to(device)
    run = tg.run(program, graph, mode=mode.value, backend=backend, trace=True, progress=progress, checkpoint=checkpoint)
    iterations, switches, seconds, rate = report.cost(run)
    say(f"iterations {iterations}, direction switches {switches}, time {seconds}, {rate} edges/s")
    _tell(result, graph, run.values, output)
    if trace is not None and run.trace is not None and _leads(graph):
        run.trace.plot(trace)
        if run.trace.shares:
            say(report.by_rank(run.trace))
        say(f"trace: {trace}")


def call(
    result: Result,
    graph: tg.Graph,
    function: partial[Any],
    /,
    *,
    backend: Backend = "auto",
    device: Device = "cpu",
    output: Output = None,
) -> None:
    """Call the function, print its result and cost, and write the file of the option."""
    graph, clock = graph.to(device), report.stopwatch()
    if "backend" in inspect.signature(function).parameters:
        function = partial(function, backend=backend)
    elif backend != "auto":
        raise ArgumentError(f"--backend: this algorithm has one implementation; leave {backend!r} out")
    values = function(graph)
    say(f"time {clock()}")
    _tell(result, graph, values, output)


def _tell(result: Result, graph: tg.Graph, values: Any, output: Path | None) -> None:
    say(result.line(graph, values))
    if output is not None:
        table = result.table(graph, values)  # gathered by all
        if not _leads(graph):
            return
        with replacing(output) as temporary:
            getattr(table, TABLES[output.suffix.lower()])(temporary, index=False)
        say(f"result: {output}")


def _leads(graph: tg.Graph) -> bool:
    return graph.storage.is_main_rank
