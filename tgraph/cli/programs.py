"""`tgraph run`: a program of one's own, a class in a file of Python, with every option of the engine."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import tgraph as tg
from tgraph.cli import graphs
from tgraph.cli.command import VERTICES, Algorithm, execute, vertex
from tgraph.cli.options import Backend, Device, File, Memory, Mode, Output, Progress, To, trace_file, writable
from tgraph.cli.reading import checked, reading
from tgraph.cli.results import vertices
from tgraph.cli.results.result import Result
from tgraph.errors import ArgumentError


def program_class(text: str) -> type[tg.Program]:
    """The class that `FILE.py` or `FILE.py:Name` names.

    Raises ArgumentError for a file that is not there or cannot be run, and without a name for several classes.
    """
    path, name = (text, "") if text.endswith(".py") else text.rpartition(":")[::2]
    if not path.endswith(".py"):
        raise ArgumentError(f"PROGRAM: {text!r} is neither FILE.py nor FILE.py:Name")
    found = {
        each.__name__: each
        for each in vars(_module(Path(path))).values()
        if isinstance(each, type) and issubclass(each, tg.Program) and not each.__module__.startswith("tgraph.")
    }
    if name in found:
        return found[name]
    listed = ", ".join(found) or "none; derive one from tg.Program or tg.Relaxation"
    if name or not found:
        raise ArgumentError(f"PROGRAM: {path} has no program {name}".rstrip() + f"; its programs are {listed}")
    if len(found) > 1:
        raise ArgumentError(
            f"PROGRAM: {path} has several programs; name one, as in {path}:{next(iter(found))}: {listed}"
        )
    return next(iter(found.values()))


def _module(path: Path) -> Any:
    """The file as a module; its folder is searched for what it imports, as that of a script."""
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None, "it ends in .py"
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except OSError:
        raise
    except Exception as fault:
        raise ArgumentError(f"PROGRAM: {path} cannot be run: {type(fault).__name__}: {fault}") from fault
    finally:
        sys.path.pop(0)
    return module


def settings(made: type[tg.Program], given: list[str]) -> dict[str, Any]:
    """The arguments `name=value` of the constructor; values are literals of Python, or else text.

    Raises ArgumentError for what is no such argument, and for one that is missing.
    """
    takes = inspect.signature(made).parameters
    found = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals:
            raise ArgumentError(f"--set: {each!r} is not of the form name=value")
        if name not in takes:
            listed = ", ".join(takes) or "none"
            raise ArgumentError(f"--set: {made.__name__} takes no argument {name!r}; its arguments are {listed}")
        found[name] = value if name in VERTICES else _literal(value)
    required = [name for name, each in takes.items() if each.default is each.empty and each.kind not in (2, 4)]
    missing = [name for name in required if name not in found and name != "source"]
    if missing:
        raise ArgumentError(f"--set: {made.__name__} needs {missing[0]}; give it as --set {missing[0]}=VALUE")
    return dict.fromkeys(name for name in required if name == "source") | found


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _columns(graph: tg.Graph, values: Any) -> dict[str, Any]:
    """The vertex data of a program as columns: value, or those of a dict; value0, value1 ... of rows."""
    named = values if isinstance(values, dict) else {"value": values}
    return {
        column: part
        for name, each in named.items()
        for column, part in (
            [(name, each)] if each.dim() == 1 else [(f"{name}{i}", part) for i, part in enumerate(each.flatten(1).T)]
        )
    }


def _line(graph: tg.Graph, values: Any) -> str:
    columns = _columns(graph, values)
    lines = [vertices.top(graph, column) for column in columns.values()]
    return (
        lines[0] if len(lines) == 1 else "\n".join(f"{name}: {line}" for name, line in zip(columns, lines, strict=True))
    )


VALUES = Result(_line, lambda graph, values: graph.frame(**_columns(graph, values)))


@checked(graphs.check_loading)
@reading()
def run(
    *,
    program: Annotated[
        str,
        typer.Argument(
            metavar="PROGRAM.py", help="A file with a tg.Program or tg.Relaxation; one of several: PROGRAM.py:Name."
        ),
    ],
    file: File,
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An argument of its constructor; source and target are ids."),
    ] = None,
    mode: Annotated[Mode, typer.Option(help="The direction of iterations.")] = Mode.auto,
    backend: Backend = "auto",
    fuse: Annotated[bool, typer.Option(help="Read the code of the program as an expression, and fuse it.")] = True,
    max_iterations: Annotated[int | None, typer.Option(min=0, help="Give up after so many iterations.")] = None,
    memory: Memory = None,
    device: Device = "cpu",
    output: Output = None,
    to: To = "csv",
    trace: Annotated[
        Path | None, typer.Option(callback=trace_file, help="Draw what each iteration did, or write a page, .html.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(callback=writable, help="Keep the state of the run there, and go on from it.")
    ] = None,
    progress: Progress = False,
    **given: Any,
) -> None:
    """Run a program of your own, a class in a file of Python."""
    made = program_class(program)
    arguments = settings(made, set or [])
    graph = graphs.load(file=file, memory=memory, device=device, progress=progress, **given)
    arguments |= {name: vertex(graph, name, arguments[name]) for name in VERTICES if name in arguments}
    execute(
        Algorithm(program, VALUES),
        graph,
        made(**arguments),
        mode=mode,
        backend=backend,
        fuse=fuse,
        max_iterations=max_iterations,
        device=device,
        output=output,
        to=to,
        trace=trace,
        checkpoint=checkpoint,
        progress=progress,
    )
