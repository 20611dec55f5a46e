"""Writes the pages that follow from the code: python docs/pages.py (or make pages).

algorithms.md is made of the docstrings of `tg.algorithms`, the list of algorithms in command.md of the tables of cli,
the table of programs and engines in model.md of what tests/own declares.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tgraph as tg
from tgraph.cli.command import VERTICES
from tgraph.cli.declared import summary
from tgraph.cli.topics import TOPICS

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "tests" / "own"))

import engines  # noqa: E402

NAMES = ("Jaccard", "Katz", "Leiden", "Louvain", "PageRank", "SimRank")
LIST = re.compile(r"(?ms)^    tgraph bfs FILE.*?(?=^    tgraph info FILE)")
TABLE = re.compile(r"(?m)^\|  \| lines \|.*\n(?:\|.*\n)+")

INTRODUCTION = """# Algorithms

The functions of `tg.algorithms`. Vertices are indices 0..n-1, values are tensors on the graph's device, and `graph.ids`
has the original ids. `help(tg.algorithms.bfs)` explains the options and names the source of the method; most functions
are a [command](command.md) too, and run [behind networkx](guide.md). What takes a `seed` gives the same result on any
number of threads.
"""


def algorithms() -> str:
    """The page of algorithms: a table for each topic."""
    parts = [INTRODUCTION]
    topics = [topic for topic in vars(tg.algorithms).values() if isinstance(topic, types.ModuleType)]
    for topic in sorted(topics, key=lambda topic: topic.__name__):
        named = {name: getattr(topic, name) for name in topic.__all__}
        functions = {name: value for name, value in named.items() if inspect.isfunction(value)}
        programs = [f"`{name}`" for name in named if name not in functions]
        lines = [f"## {heading(topic)}", "", topic.__doc__ or "", ""]
        lines += ["| function | result |", "|---|---|"]
        lines += [f"| `{signature(name, function)}` | {sentence(function)} |" for name, function in functions.items()]
        lines += ["", f"Programs: {', '.join(programs)}."] if programs else []
        parts.append("\n".join(lines).rstrip() + "\n")
    return "\n".join(parts)


def heading(topic: types.ModuleType) -> str:
    name = topic.__name__.rpartition(".")[2]
    return name.upper() if name == "dag" else name.capitalize()


def signature(name: str, function: Callable[..., Any]) -> str:
    """The call with its defaults, without types."""
    parameters = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters_of(function)]
    return f"{name}{inspect.Signature(parameters)}".replace("|", "\\|")


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def sentence(function: Callable[..., Any]) -> str:
    """The first sentence of a docstring."""
    paragraph = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
    return re.split(r"(?<=\.)\s(?=[A-Z])", paragraph)[0].replace("|", "\\|")


def commands() -> str:
    """A line for each algorithm that is a command, topics apart."""
    blocks = []
    for topic in TOPICS.values():
        lines = []
        for name, row in topic.items():
            ends = "".join(f" --{option} ID" for option in row.options.split() if option in VERTICES)
            call = f"    tgraph {name} FILE{ends}"
            lines.append(f"{call:<40}  {uncapitalised(summary(row.run)).rstrip('.')}")
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks) + "\n"


def uncapitalised(text: str) -> str:
    """The text as it goes on within a line: names keep their capitals."""
    return text if text.startswith(NAMES) else text[0].lower() + text[1:]


def pages() -> dict[Path, str]:
    """The text of each page by its path."""
    command = HERE / "command.md"
    listed, count = LIST.subn(lambda match: commands(), command.read_text(encoding="utf-8"))
    assert count == 1, "command.md has no list from `tgraph bfs FILE` to `tgraph info FILE`"
    model = HERE / "model.md"
    tabled, count = TABLE.subn(lambda match: f"{engines.matrix()}\n", model.read_text(encoding="utf-8"))
    assert count == 1, "model.md has no table of programs, which begins with a column of lines"
    return {HERE / "algorithms.md": algorithms(), command: listed, model: tabled}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
