"""Options of the readers as options of every command that reads a graph: a further one is a line of READING."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from tgraph.cli.choices import FORMATS, IDS, MULTI, SELF_LOOPS, among, one_of
from tgraph.cli.remedies import in_words_of
from tgraph.errors import ArgumentError, TGraphError

HEADING = "Reading"


def _option(*names: str, help: str, values: tuple[str, ...] = (), **more: Any) -> Any:
    if values:
        more |= {"callback": among(values), "autocompletion": one_of(values)}
    return typer.Option(*names, help=help, show_default=False, rich_help_panel=HEADING, **more)


# By name: the type and the option, of which None is the default and leaves the argument out.
READING: dict[str, Any] = {
    "format": Annotated[
        str | None, _option(help="The format, where the extension does not tell, and of a pipe.", values=FORMATS)
    ],
    "directed": Annotated[
        bool | None, _option("--directed/--undirected", help="How to take the edges (default: as the file says).")
    ],
    "weights": Annotated[
        str | None, _option(help="Column of weights: its name, its number from 3 upwards, or 'none'.")
    ],
    "source_column": Annotated[str | None, _option(help="Column of the first ends of edges: its name, or its number.")],
    "target_column": Annotated[str | None, _option(help="Column of the other ends of edges: its name, or its number.")],
    "columns": Annotated[str | None, _option(help="Further columns to keep, as in a,b or 4,5; 'all' for all of them.")],
    "vertices": Annotated[
        str | None, _option(help="A table with one row per vertex, beside one of edges: ids, then data to keep.")
    ],
    "delimiter": Annotated[
        str | None, _option(help=r"The character between columns; '\t' or 'tab' for a tab (default: detected).")
    ],
    "skip": Annotated[int | None, _option(help="So many lines to leave out at the beginning.", min=0)],
    "quoted": Annotated[bool | None, _option("--quoted", help='Fields may be in quotes, " ".')],
    "comments": Annotated[str | None, _option(help="What lines of comments begin with; 'none': there are none.")],
    "encoding": Annotated[str | None, _option(help="Of the text, such as latin-1 (default: UTF-8).")],
    "ids": Annotated[str | None, _option(help=f"How to take ids: {', '.join(IDS)}.", values=IDS)],
    "multi": Annotated[str | None, _option(help=f"Parallel edges: {', '.join(MULTI)}.", values=MULTI)],
    "self_loops": Annotated[str | None, _option(help="Self-loops: keep, drop.", values=SELF_LOOPS)],
    "strict": Annotated[bool | None, _option("--strict/--no-strict", help="Whether lists of METIS have to agree.")],
    "verify": Annotated[bool | None, _option("--verify/--no-verify", help="Check the sums of a .tg file.")],
}
# Arguments of `tgraph.read` by the options that give them, as errors name them.
OPTION_OF = {name: f"--{name.replace('_', '-')}" for name in READING} | {
    "source": "--source-column",
    "target": "--target-column",
    "weight": "--weights",
    "path": "FILE",
}


def arguments(**given: Any) -> dict[str, Any]:
    """Values of the options as arguments of `tgraph.read`, without those that were left out."""
    given = {name: value for name, value in given.items() if value is not None}
    found = {name.removesuffix("_column"): value for name, value in given.items()}
    if "weights" in found:
        found |= weights_by(found.pop("weights"))
    if "columns" in found:
        listed = found["columns"].split(",")
        found["columns"] = True if listed == ["all"] else [int(each) if each.isdecimal() else each for each in listed]
    found |= {name: int(found[name]) for name in ("source", "target") if found.get(name, "").isdecimal()}
    if "delimiter" in found:
        found["delimiter"] = {"\\t": "\t", "tab": "\t"}.get(found["delimiter"], found["delimiter"])
    if found.get("comments") == "none":
        found["comments"] = None
    return found


def weights_by(column: str) -> dict[str, Any]:
    """The option --weights as an argument of `tgraph.read`."""
    if column == "none":
        return {"weights": False}
    return {"weights": int(column)} if column.isdecimal() else {"weight": column}


def reading(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of steps: the options of READING, or those of these `names`, come in the place of `**given`."""

    def extended(step: Callable[..., Any]) -> Callable[..., Any]:
        own = [each for each in inspect.signature(step).parameters.values() if each.kind is not each.VAR_KEYWORD]
        shared = (
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=READING[name])
            for name in names or READING
        )
        step.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
        return step

    return extended


def checked(check: Callable[..., None]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of steps: `check` gets their options before the first step reads a file."""

    def with_check(step: Callable[..., Any]) -> Callable[..., Any]:
        step.before = check  # type: ignore[attr-defined]
        return step

    return with_check


@contextmanager
def naming_options(*others: str) -> Iterator[None]:
    """A context of readers, whose errors name options of the command. others : further arguments that are options."""
    try:
        yield
    except TGraphError as mistake:
        raise in_words_of(mistake, OPTION_OF | {name: f"--{name}" for name in others}) from mistake


def refuse(given: dict[str, Any], what: str) -> None:
    """Raise ArgumentError where an option of the readers is given to `what` reads a file as it is."""
    if any(value is not None for value in given.values()):
        options = ", ".join(OPTION_OF[name] for name, value in given.items() if value is not None)
        raise ArgumentError(f"{what}: a .tg file is read as it is; leave out {options}")
