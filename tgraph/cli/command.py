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
from tgraph.cli import declared, report, tables
from tgraph.cli.options import (
    OPTIONS,
    Backend,
    Device,
    Mode,
    Output,
    Progress,
    To,
    choosing,
    trace_file,
    writable,
)
from tgraph.cli.results.result import Result, shown
from tgraph.cli.saying import is_told, say, tell
from tgraph.errors import ArgumentError, UnknownVertexError

# Options that name a vertex; without a source a search starts from the best connected vertex.
VERTICES = ("source", "target")


class Algorithm(NamedTuple):
    """A command that runs an algorithm, without importing it.

    run : the function of `tgraph.algorithms`, whose docstring is the help of the command. result : the line and the
    table of its results. options : names of its parameters that the command has; `cli.options.OPTIONS` explains them.
    values : of options that are one of a few texts. given : arguments that are the same in every call. holds : for
    --check, whether what was found is a positive answer; `refused` is a word of the error that is a negative one.
    """

    run: str
    result: Result
    options: str = ""
    values: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    given: Mapping[str, Any] = MappingProxyType({})
    holds: Callable[[Any], bool] | None = None
    refused: str = ""


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
        given |= {name: vertex(graph, name, given[name]) for name in VERTICES if name in given}
        if "target" in given and given.get("source") == given["target"]:
            raise ArgumentError(
                f"--target: {shown(graph.ids(given['target']))} is the source as well; name another vertex"
            )
        if given.get("weighted") is False and graph.weight_dtype is not None:
            say("all edges count alike (--weighted: by their weights)")
        run = getattr(tg.algorithms, program or algorithm.run)
        return run(**given) if program else partial(run, **given, **algorithm.given)

    prepare.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    prepare.before = _check_vertices  # type: ignore[attr-defined]
    step = partial(execute if program else call, algorithm)
    own = inspect.signature(step)
    if algorithm.holds is None:
        own = own.replace(parameters=[each for name, each in own.parameters.items() if name != "check"])
    step.__signature__ = own  # type: ignore[attr-defined]
    if not program and "backend" not in known:
        step.before = _check_one_backend  # type: ignore[attr-defined]
    return prepare, step


def _check_vertices(*, target: str | None = "", source: str | None = None, **others: Any) -> None:
    """Raise ArgumentError for a target that is not named, or is the source."""
    if target is None:
        raise ArgumentError("--target: name a vertex")
    if target == source:
        raise ArgumentError(f"--target: {shown(target)} is the source as well; name another vertex")


def _check_one_backend(*, backend: str, **others: Any) -> None:
    if backend != "auto":
        raise ArgumentError(f"--backend: this algorithm has one implementation; leave {backend!r} out")


def vertex(graph: tg.Graph, option: str, name: str | None) -> int:
    """The index of the named vertex, or of the best connected one for a source; prints which."""
    import numpy as np

    if name is None:
        best = report.best_connected(graph)
        say(f"from vertex {shown(best)}, the one of largest out-degree (--source names another)")
        return graph.index(best)
    labels = isinstance(graph.vertices, np.ndarray)
    try:
        index = graph.index(int(name) if not labels and re.fullmatch(r"-?\d{1,40}", name) else name)
    except UnknownVertexError as mistake:
        raise ArgumentError(f"--{option}{str(mistake).removeprefix('ids')}") from mistake
    say(f"{'from' if option == 'source' else 'to'} vertex {shown(name)}")
    return index


Check = Annotated[bool, typer.Option("--check", help="Exit with code 1 where the answer is no.")]


def execute(
    algorithm: Algorithm,
    graph: tg.Graph,
    program: tg.Program,
    /,
    *,
    mode: Annotated[Mode, typer.Option(help="The direction of iterations.")] = Mode.auto,
    backend: Backend = "auto",
    fuse: Annotated[bool, typer.Option(help="Read the code of programs as expressions, and fuse these.")] = True,
    device: Device = "cpu",
    output: Output = None,
    to: To = "csv",
    trace: Annotated[
        Path | None,
        typer.Option(callback=trace_file, help="Draw what each iteration did, or write it as a page, .html."),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(callback=writable, help="Keep the state of the run there, and go on from it.")
    ] = None,
    check: Check = False,
    progress: Progress = False,
    **limits: Any,
) -> None:
    """Run the program, print its result and cost, and write the files of the options."""
    graph = graph.to(device)
    engine = {"mode": mode.value, "backend": backend, "fuse": fuse, "checkpoint": checkpoint, **limits}
    run = tg.run(program, graph, trace=True, progress=progress, **engine)
    iterations, switches, seconds, rate = report.cost(run)
    say(f"iterations {iterations}, direction switches {switches}, time {seconds}, {rate} edges/s")
    assert run.trace is not None
    tell(iterations=run.iterations, converged=run.converged, seconds=run.trace.milliseconds / 1e3)
    _tell(algorithm, graph, run.values, output, to)
    if trace is not None and _leads(graph):
        run.trace.plot(trace)
        if run.trace.shares:
            say(report.by_rank(run.trace))
        say(f"trace: {trace}")
    _answer(check and not (algorithm.holds is None or algorithm.holds(run.values)))


def call(
    algorithm: Algorithm,
    graph: tg.Graph,
    function: partial[Any],
    /,
    *,
    backend: Backend = "auto",
    device: Device = "cpu",
    output: Output = None,
    to: To = "csv",
    check: Check = False,
) -> None:
    """Call the function, print its result and cost, and write the file of the option."""
    graph, clock = graph.to(device), report.stopwatch()
    if "backend" in inspect.signature(function).parameters:
        function = partial(function, backend=backend)
    try:
        values = function(graph)
    except ArgumentError as mistake:
        if not check or not algorithm.refused or not str(mistake).startswith(f"graph: {algorithm.refused}"):
            raise
        line = str(mistake).removesuffix(mistake.remedy).removeprefix("graph: ").removesuffix("; ")
        say(line)
        tell(summary=line)
        _answer(no=True)
    say(f"time {clock()}")
    _tell(algorithm, graph, values, output, to)
    _answer(check and not (algorithm.holds is None or algorithm.holds(values)))


def _answer(no: bool) -> None:
    """Exit with 1 for a negative answer."""
    if no:
        tell(answer=False)
        raise typer.Exit(1)


def _tell(algorithm: Algorithm, graph: tg.Graph, values: Any, output: Path | None, to: str) -> None:
    result, line = algorithm.result, algorithm.result.line(graph, values)
    say(line)
    if output is None and not is_told():
        return
    table = result.table(graph, values)  # gathered by all
    if not _leads(graph):
        return
    tell(summary=line, rows=tables.rows(table))
    if output is not None:
        tables.write(table, output, to)


def _leads(graph: tg.Graph) -> bool:
    return graph.storage.is_main_rank
