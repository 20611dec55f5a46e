"""The `tgraph` command: read a graph, run an algorithm on it, show or write the result.

Nothing heavy is imported before a command runs: help, completion and mistakes answer at once.
"""

from __future__ import annotations

import gc
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import tgraph as tg
from tgraph.cli import completion, dynamic, graphs, pages, programs, ranks, stores
from tgraph.cli.chains import PLAIN, Entry, Group, chain, group, group_of
from tgraph.cli.command import steps
from tgraph.cli.conversion import convert
from tgraph.cli.declared import summary
from tgraph.cli.options import Device, picture_file
from tgraph.cli.reading import reading
from tgraph.cli.remedies import exit_code
from tgraph.cli.saying import say, tell
from tgraph.cli.topics import TOPICS
from tgraph.errors import TGraphError

# The command line's own errors (an unknown option, a missing argument); typer exports only subclasses of this one.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


class OneLineErrors(Group):
    """Prints mistakes of the user as one line on stderr; any other error is a fault of tgraph and has a traceback."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command and exit: 0 when done, 1 for a negative answer, 2 for a use that cannot be meant, 3 for data
        that cannot be taken, 130 when interrupted."""
        with ranks.only_first_speaks(), warnings.catch_warnings():
            warnings.showwarning = lambda message, *details: _complain(f"warning: {message}")
            try:
                code = super().main(*args, **extra | {"standalone_mode": False})
            except typer.Abort:
                code = 130
            except (TGraphError, OSError, UsageError) as mistake:
                _complain(_explain(mistake))
                code = exit_code(mistake)
        if code == 130:
            _complain("interrupted")
        sys.exit(code if isinstance(code, int) else 0)


def _explain(mistake: Exception) -> str:
    if isinstance(mistake, OSError) and mistake.filename is not None:
        return f"{mistake.filename}: {mistake.strerror}"
    return mistake.format_message() if isinstance(mistake, UsageError) else str(mistake)  # type: ignore[attr-defined]


def _complain(message: str) -> None:
    say(f"tgraph: {' '.join(message.split())}", err=True)


@reading()
def demo(
    *,
    file: Annotated[Path | None, typer.Argument(help="A graph (default: a generated one).", show_default=False)] = None,
    device: Device = "cpu",
    picture: Annotated[Path, typer.Option(callback=picture_file, help="Where to draw the iterations.")] = Path(
        "demo.png"
    ),
    **given: Any,
) -> None:
    """Five algorithms on one graph: a table and a picture."""
    from tgraph.cli.comparison import compare, generated, next_steps

    graph = generated() if file is None else graphs.read(file=file, **given)
    say(compare(graph.to(device), picture))
    tell(picture=str(picture))
    say(f"\n{next_steps(file, given)}")


def doctor() -> None:
    """Versions, devices and the backends that serve them; under torchrun also the process group."""
    from tgraph.cli.examination import facts_here, sections

    facts = facts_here()
    if ranks.are_several():
        from tgraph.cli.group import described

        facts |= described()
    say(sections(facts))
    tell(**{title.replace(" ", "_"): dict(rows) for title, rows in facts.items()})


# ---- commands -----------------------------------------------------------------------------------------------------

COMMANDS: dict[str, Entry] = {
    name: chain(
        graphs.load, help=partial(summary, algorithm.run), topic=topic, spreads=True, more=partial(steps, algorithm)
    )
    for topic, algorithms in TOPICS.items()
    for name, algorithm in algorithms.items()
}
COMMANDS |= {
    "info": chain(graphs.load, graphs.info, spreads=True),
    "report": chain(graphs.load, pages.report, spreads=True),
    "advise": chain(graphs.read, graphs.recommend),
    "partition": chain(graphs.read, graphs.parts),
    "draw": chain(graphs.read, graphs.picture),
    "run": chain(programs.run, spreads=True),
    "convert": chain(convert, spreads=True),
    "verify": chain(graphs.verify),
    "demo": chain(demo),
    "doctor": chain(doctor, spreads=True),
    "generate": group(
        "Make a graph and write it to a file.",
        {
            name: chain(help=model.help, more=lambda model=model: (graphs.generator(model), graphs.save))
            for name, model in graphs.MODELS.items()
        },
    ),
    "store": group(
        "Contents of a store of features and edges; put, get, verify, copy.",
        {
            "info": chain(stores.info),
            "put": chain(stores.put),
            "get": chain(stores.get),
            "verify": chain(stores.verify),
            "copy": chain(stores.copy),
        },
    ),
    "dynamic": group(
        "A graph that changes, in a folder: made of files, changed, examined.",
        {
            "import": chain(dynamic.import_),
            "insert": chain(dynamic.opened, dynamic.insert),
            "delete": chain(dynamic.opened, dynamic.delete),
            "info": chain(dynamic.info),
            "compact": chain(dynamic.opened, dynamic.compact),
            "verify": chain(dynamic.verify),
            "export": chain(dynamic.export, graphs.save, help="Write the graph that a store has now to a file."),
        },
    ),
}

app: typer.Typer = typer.Typer(**PLAIN, cls=group_of(OneLineErrors, COMMANDS))


@app.callback(invoke_without_command=True)
def tgraph(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    install_completion: Annotated[
        bool, typer.Option("--install-completion", help="Have this shell (bash, zsh or fish) complete commands.")
    ] = False,
    show_completion: Annotated[
        bool, typer.Option("--show-completion", help="Print the script by which this shell does, to keep or change.")
    ] = False,
) -> None:
    """Graph analytics as tensor programs."""
    if show_completion:
        say(completion.script())
        raise typer.Exit()
    if version:
        say(f"tgraph {tg.__version__}")
        raise typer.Exit()
    if install_completion:
        say(completion.install())
        raise typer.Exit()
    if context.invoked_subcommand is None:
        say(context.get_help())


def main() -> None:
    """Run the command that the arguments of the process give, and exit."""
    completion.prepare()
    gc.disable()  # until the command runs
    app(prog_name="tgraph")
