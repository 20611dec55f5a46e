"""The `tgraph` command: read a graph, run an algorithm on it, show or write what it gave.

A command is a chain of steps. Each step gets what the steps before it returned, by position; its keyword-only
parameters are options of the command.
"""

from __future__ import annotations

import inspect
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import tgraph as tg
from tgraph import progress
from tgraph.cli import dynamic, pages, ranks, report, stores
from tgraph.cli.command import steps
from tgraph.cli.comparison import compare
from tgraph.cli.conversion import convert
from tgraph.cli.examination import examine, sections
from tgraph.cli.graphs import generator, info, load, parts, picture, random_graph, read, recommend, save, size, verify
from tgraph.cli.group import described
from tgraph.cli.options import Device, Directed, Format, Weights, picture_file
from tgraph.cli.remedies import on_the_command_line
from tgraph.cli.topics import TOPICS
from tgraph.errors import TGraphError

# The command line's own errors (an unknown option, a missing argument); typer exports only the heirs of this class.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


class CommandError(TGraphError):
    """An error of the library, told in the words of the command line."""


class OneLineErrors(TyperGroup):
    """Says in one line on stderr what the user can put right; any other error is ours and keeps its traceback."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command and exit: 0 when done, 2 for a mistake of the user, 130 when interrupted."""
        with ranks.only_first_speaks(), warnings.catch_warnings():
            warnings.showwarning = lambda message, *details: _complain(f"warning: {message}")
            try:
                code = super().main(*args, **extra | {"standalone_mode": False})
            except typer.Abort:
                code = 130
            except (TGraphError, OSError, UsageError) as mistake:
                _complain(_explain(mistake))
                code = 2
        if code == 130:
            _complain("interrupted")
        sys.exit(code if isinstance(code, int) else 0)


def _explain(mistake: Exception) -> str:
    if isinstance(mistake, OSError) and mistake.filename is not None:
        return f"{mistake.filename}: {mistake.strerror}"
    return mistake.format_message() if isinstance(mistake, UsageError) else str(mistake)  # type: ignore[attr-defined]


def _complain(message: str) -> None:
    typer.echo(f"tgraph: {' '.join(message.split())}", err=True)


def demo(
    *,
    file: Annotated[Path | None, typer.Argument(help="A graph (default: a generated one).", show_default=False)] = None,
    format: Format = None,
    directed: Directed = None,
    weights: Weights = None,
    device: Device = "cpu",
    picture: Annotated[Path, typer.Option(callback=picture_file, help="Where to draw the iterations.")] = Path(
        "demo.png"
    ),
) -> None:
    """Run five algorithms on one graph, print what they found and cost, and draw their iterations."""
    if file is not None:
        graph = read(file=file, format=format, directed=directed, weights=weights)
    else:
        start = time.perf_counter()
        graph = tg.generators.rmat(16, weighted=True)
        took = report.duration(time.perf_counter() - start)
        typer.echo(f"a generated scale-free graph (R-MAT): {size(graph)}, made in {took}")
    typer.echo(compare(graph.to(device), picture))


def doctor() -> None:
    """Say what is installed and which backend serves which device; under torchrun also what the process group is
    like."""
    group = [sections(described())] if ranks.are_several() else []
    typer.echo("\n\n".join((examine(), *group)))


# ---- commands -----------------------------------------------------------------------------------------------------


def chain(group: typer.Typer, name: str, help: str, *steps: Callable[..., Any], topic: str | None = None) -> None:
    """Register the command `name` that takes the steps in order, with the options of them all; the help lists it under
    its `topic`."""
    options = [
        {
            option.name: option
            for option in inspect.signature(step, eval_str=True).parameters.values()
            if option.kind is option.KEYWORD_ONLY
        }
        for step in steps
    ]
    every = {name: option for own in options for name, option in own.items()}

    def command(**given: Any) -> None:
        results: list[Any] = []
        try:
            spreads = load in steps or convert in steps or doctor in steps
            with ranks.together(spreads, given.get("device", "cpu")), progress.shown(), progress.busy(name):
                for step, own in zip(steps, options, strict=True):
                    results.append(step(*results, **{name: given[name] for name in own}))
        except TGraphError as mistake:
            raise CommandError(on_the_command_line(str(mistake), every)) from mistake

    command.__signature__ = inspect.Signature(list(every.values()))  # type: ignore[attr-defined]
    command.__annotations__ = {name: option.annotation for name, option in every.items()}
    group.command(name, help=help, rich_help_panel=topic)(command)


app: typer.Typer = typer.Typer(cls=OneLineErrors, add_completion=False, pretty_exceptions_enable=False)
generate: typer.Typer = typer.Typer()
store: typer.Typer = typer.Typer()
changing: typer.Typer = typer.Typer()


@app.callback(invoke_without_command=True)
def tgraph(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Graph analytics as tensor programs."""
    if version:
        typer.echo(f"tgraph {tg.__version__}")
        raise typer.Exit()
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for topic, algorithms in TOPICS.items():
    for name, algorithm in algorithms.items():
        chain(app, name, algorithm.help, load, *steps(algorithm), topic=topic)
chain(app, "info", "What a graph is like.", load, info)
chain(app, "report", "A page on a graph: sizes, degrees, distances, communities, a drawing ...", load, pages.report)
chain(app, "advise", "What each layout of the arcs costs and gains, and which one to take.", read, recommend)
chain(app, "partition", "Cut a graph into parts of equally many arcs, few of which lead to others.", read, parts)
chain(app, "draw", "A picture of a graph, or a page to look around in.", read, picture)
chain(app, "convert", "Write a graph in another format, order or layout, or as blocks.", convert)
chain(app, "verify", "Compare a .tg file with its checksums.", verify)
chain(app, "demo", "Five algorithms on one graph: a table and a picture.", demo)
chain(app, "doctor", "What is installed, and which backend serves which device.", doctor)
app.add_typer(generate, name="generate", help="Make a graph and write it to a file.")
chain(generate, "rmat", "A scale-free graph, as in Graph500 and GAP.", random_graph(tg.generators.rmat), save)
chain(generate, "uniform", "A graph of uniformly random edges.", random_graph(tg.generators.uniform), save)
MODELS: dict[str, tuple[Callable[..., Any], str]] = {
    "grid": (tg.generators.grid2d, "A grid in which each vertex has four neighbours."),
    "erdos-renyi": (tg.generators.erdos_renyi, "Each pair of vertices is joined with one probability."),
    "random-edges": (tg.generators.random_edges, "So many random edges."),
    "barabasi-albert": (tg.generators.barabasi_albert, "New vertices are joined to those of large degree."),
    "watts-strogatz": (tg.generators.watts_strogatz, "A small world: a ring with some edges moved."),
    "regular": (tg.generators.random_regular, "Random edges, the same degree for each vertex."),
    "geometric": (tg.generators.random_geometric, "Points of a cube, joined where they are near."),
    "hyperbolic": (tg.generators.hyperbolic, "Points of a hyperbolic disk, joined where they are near."),
    "lfr": (tg.generators.lfr, "Communities, with power laws of degrees and sizes."),
    "tree": (tg.generators.random_tree, "A random tree."),
}
for name, (function, help) in MODELS.items():
    chain(generate, name, help, generator(function), save)
app.add_typer(store, name="store", help="What a store of features and edges holds; put, get, verify, copy.")
chain(store, "info", "What a store holds.", stores.info)
chain(store, "put", "Put the tensors of a file into a store.", stores.put)
chain(store, "get", "Write tensors of a store to a file.", stores.get)
chain(store, "verify", "Compare every block of a store with its checksum.", stores.verify)
chain(store, "copy", "Copy the tensors of a store to another.", stores.copy)

app.add_typer(changing, name="dynamic", help="A graph that changes, in a folder: made of files, changed, examined.")
chain(changing, "import", "Make a store of the edges in a file.", dynamic.import_)
chain(changing, "insert", "Insert the edges in a file.", dynamic.opened, dynamic.insert)
chain(changing, "delete", "Delete the edges in a file.", dynamic.opened, dynamic.delete)
chain(changing, "info", "What a store holds, and how it lies on the disk.", dynamic.info)
chain(changing, "compact", "Merge all changes into the arcs now, and empty the log.", dynamic.opened, dynamic.compact)
chain(changing, "verify", "Read all of a store and compare it with its checksums.", dynamic.verify)
chain(changing, "export", "Write the graph that a store has now to a file.", dynamic.export, save)


def main() -> None:
    """The entry point of the `tgraph` command."""
    app(prog_name="tgraph")
