"""Commands that are chains of steps, and groups of commands, each made on first use.

Each step gets what the steps before it returned, by position; its keyword-only parameters are options of the command.
Making all commands, or importing their dependencies, takes longer than running one: a group has the names and texts of
its commands, enough for its help and the completion of a shell.
"""

from __future__ import annotations

import functools
import gc
import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from tgraph import progress
from tgraph.cli import ranks
from tgraph.cli.pipes import is_output
from tgraph.cli.reading import READING
from tgraph.cli.remedies import in_words_of
from tgraph.cli.saying import answering
from tgraph.errors import TGraphError
from tgraph.interrupts import work_begins


class Entry(NamedTuple):
    """A command, before it is made.

    described : a sentence, or a function that finds it. make : gives the command its name and help. topic : the heading
    under which it is listed.
    """

    described: str | Callable[[], str]
    make: Callable[[str, str], Any]
    topic: str

    @property
    def help(self) -> str:
        """The sentence."""
        return self.described if isinstance(self.described, str) else self.described()


def chain(
    *steps: Callable[..., Any],
    help: str | Callable[[], str] = "",
    topic: str = "Commands",
    spreads: bool = False,
    more: Any = None,
) -> Entry:
    """The command that takes the steps in order, with the options of them all.

    help : a sentence, or a function that finds it, by default the first of the docstring of the last step. spreads :
    True for a command of several processes. more : makes further steps when the command is made.
    """

    def make(name: str, help: str) -> Any:
        every = steps if more is None else (*steps, *more())
        return made(typer.Typer(**PLAIN), chained(name, every, spreads), name, help)

    return Entry(help or (inspect.getdoc(steps[-1]) or "").partition("\n\n")[0], make, topic)


def group(help: str, entries: Mapping[str, Entry]) -> Entry:
    """The group of these commands."""

    def make(name: str, help: str) -> Any:
        app = typer.Typer(**PLAIN, cls=group_of(Group, entries))
        app.callback(help=help)(_nothing)
        made = typer.main.get_command(app)
        made.name = name
        return made

    return Entry(help, make, "Commands")


PLAIN: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None, "pretty_exceptions_enable": False}


def _nothing() -> None: ...


def made(app: typer.Typer, function: Callable[..., None], name: str, help: str) -> Any:
    """The command of a function."""
    app.command(name, help=help, cls=Command)(function)
    return typer.main.get_command(app)


def chained(name: str, steps: tuple[Callable[..., Any], ...], spreads: bool) -> Callable[..., None]:
    """The function of a command that takes the steps in order."""
    options = [options_of(step) for step in steps]
    every = {name: option for own in options for name, option in own.items()}
    words = {name: f"--{name.replace('_', '-')}" for name in every if name not in READING}

    def command(**given: Any) -> None:
        as_json = given.pop("json")
        import tgraph.kernels  # noqa: F401  first, since steps tell how long they took

        work_begins()
        collecting_again()
        logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it warns of a home that it cannot write to
        results: list[Any] = []
        try:
            chosen = [{name: given[name] for name in own} for own in options]
            for step, own in zip(steps, chosen, strict=True):
                if (before := getattr(step, "before", None)) is not None:
                    before(**own)
            quiet = is_output(given.get("output")) or is_output(given.get("out"))
            with (
                answering(name, as_json, quiet),
                ranks.together(spreads, given.get("device", "cpu")),
                progress.shown(),
                progress.busy(name),
            ):
                for step, own in zip(steps, chosen, strict=True):
                    results.append(step(*results, **own))
        except TGraphError as mistake:
            raise in_words_of(mistake, words) from mistake

    of_all = {
        **every,
        "json": inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json),
    }
    command.__signature__ = inspect.Signature(list(of_all.values()))  # type: ignore[attr-defined]
    command.__annotations__ = {name: option.annotation for name, option in of_all.items()}
    return command


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object in place of lines.")]


def options_of(step: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The keyword-only parameters of a step. Other annotations may name modules that are
    not imported yet, and are not evaluated."""
    function = step.func if isinstance(step, functools.partial) else step
    return {
        name: option.replace(annotation=eval(option.annotation, function.__globals__))
        if isinstance(option.annotation, str)
        else option
        for name, option in inspect.signature(step).parameters.items()
        if option.kind is option.KEYWORD_ONLY
    }


def collecting_again() -> None:
    """End the pause of the garbage collector that `main` began: during the import of torch it finds nothing to collect,
    and takes a sixth of the time."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


class Command(TyperCommand):
    """A command whose options a shell completes by their names alone, without reading the values before them."""

    def parse_args(self, context: Any, args: list[str]) -> list[str]:
        """Set the parameters of the context, and return the remaining arguments."""
        return [] if context.resilient_parsing else super().parse_args(context, args)

    def format_options(self, context: Any, formatter: Any) -> None:
        """Write arguments and options, those of the readers under a heading of their own."""
        headings: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(context):
            if (row := parameter.get_help_record(context)) is not None:
                kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
                headings.setdefault(getattr(parameter, "rich_help_panel", None) or kind, []).append(row)
        for heading, rows in headings.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


class _Commands(dict[str, Any]):
    """The commands of a group by name, made on first use."""

    def __init__(self, entries: Mapping[str, Entry]):
        super().__init__(dict.fromkeys(entries))
        self._entries = entries

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        if found is None:
            entry = self._entries[name]
            found = self[name] = entry.make(name, entry.help)
        return found

    def get(self, name: str, default: Any = None) -> Any:  # of a dict it would not ask __getitem__
        return self[name] if name in self else default  # noqa: SIM401


class Group(TyperGroup):
    """A group of commands, listed by topic."""

    entries: ClassVar[Mapping[str, Entry]]

    def __init__(self, **attributes: Any):
        super().__init__(**attributes)
        self.commands = _Commands(self.entries)

    def get_help_option(self, context: Any) -> Any:
        """The option --help, False where it is not given: typer would import what checks the absent value."""
        option = super().get_help_option(context)
        if option is not None:
            option.default = False
        return option

    def list_commands(self, context: Any) -> list[str]:
        """The names, in the order in which they are listed."""
        return list(self.entries)

    def format_commands(self, context: Any, formatter: Any) -> None:
        """Write the commands of each topic under its heading."""
        topics: dict[str, list[tuple[str, str]]] = {}
        for name, entry in self.entries.items():
            topics.setdefault(entry.topic, []).append((name, entry.help))
        for topic, rows in topics.items():
            with formatter.section(topic):
                formatter.write_dl(rows)

    def shell_complete(self, context: Any, incomplete: str) -> list[Any]:
        """The commands and options that begin so; a command by its name and text, without being made."""
        commands, self.commands = (
            self.commands,
            {name: TyperCommand(name=name, help=entry.help) for name, entry in self.entries.items()},
        )
        try:
            return super().shell_complete(context, incomplete)
        finally:
            self.commands = commands


def group_of(kind: type[Group], entries: Mapping[str, Entry]) -> type[Group]:
    """The class of a group with these commands."""
    return type(kind.__name__, (kind,), {"entries": entries})
