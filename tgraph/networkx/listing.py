"""Lists of the functions that run here, for networkx without torch and for readers: python -m tgraph.networkx.listing

Writes `_tgraph_networkx/functions.py` and `docs/networkx-functions.md` beside this package, from the registry.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import ModuleType

import networkx as nx

from tgraph.networkx import functions
from tgraph.networkx.registry import FUNCTIONS, Entry

ROOT = Path(__file__).parents[2]
GRAPHS = ("G", "H", "G1", "G2", "R", "B", "D")

INTRODUCTION = """\
# Functions of networkx that run on TGraph

{count} functions, by the names by which networkx dispatches them; how they are called is in [networkx.md](networkx.md).
Made from the code by `make networkx-listing`.

Options are those of networkx. Functions that are given as weights, and graphs that compute their neighbours, are left
to networkx by all; "left to networkx" is what else is: an option by its name where it has another value than the
default, or than those after "but". "made of": networkx's own code runs on our graphs, and what takes its time is in the
functions named. "cost" decides from which size on a call with a graph of networkx's own runs
here where the call does not say so (see [networkx.md](networkx.md#which-calls-run-here)); arguments in brackets change
it where they are given.
"""


def listing() -> str:
    """The text of `_tgraph_networkx/functions.py`."""
    functions.load()
    lines = ['"""Functions of networkx\'s backend tgraph by name, and the calls that each leaves to networkx."""', ""]
    lines += ["# ruff: noqa: E501", ""]
    lines.append("FUNCTIONS: dict[str, str] = {")
    lines += [f'    "{name}": "{_text(FUNCTIONS[name].gaps)}",' for name in sorted(FUNCTIONS)]
    return "\n".join([*lines, "}", ""])


def _text(gaps: str) -> str:
    return f"Left to networkx: {gaps}." if gaps else ""


def page() -> str:
    """The text of `docs/networkx-functions.md`."""
    functions.load()
    modules: dict[str, list[Entry]] = {}
    for entry in sorted(FUNCTIONS.values(), key=lambda entry: entry.name):
        modules.setdefault(entry.module, []).append(entry)
    parts = [INTRODUCTION.format(count=len(FUNCTIONS))]
    folder = ""
    for name in sorted(modules):
        package = name.rpartition(".")[0]
        if package != folder:
            parts.append(f"## {_first_sentence(importlib.import_module(package))}\n")
            folder = package
        parts += [f"### {_first_sentence(importlib.import_module(name))}\n", _table(modules[name])]
    return "\n".join(parts)


def _first_sentence(module: ModuleType) -> str:
    return inspect.getdoc(module).partition(".")[0].replace("\n", " ")  # type: ignore[union-attr]


def _table(entries: list[Entry]) -> str:
    lines = ["| function | options | left to networkx | made of | cost |", "|---|---|---|---|---|"]
    for entry in entries:
        options = ", ".join(f"`{_option(each)}`" for each in _options(entry))
        parts = ", ".join(f"`{name}`" for name in entry.made_of)
        lines.append(f"| `{entry.name}` | {options} | {entry.gaps} | {parts} | {_cost(entry)} |")
    return "\n".join([*lines, ""])


def _options(entry: Entry) -> list[inspect.Parameter]:
    return [each for each in entry.signature.parameters.values() if each.name not in GRAPHS]


def _option(parameter: inspect.Parameter) -> str:
    kind, default = parameter.kind, parameter.default
    if kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or default is parameter.empty:
        return str(parameter).partition(":")[0]
    return f"{parameter.name}={default.__name__ if inspect.isclass(default) else repr(default)}"


def _cost(entry: Entry) -> str:
    if not nx.utils.backends._registered_algorithms[entry.name].graphs:
        return ""
    others = "".join(f" (`{name}`: {cost})" for name, cost in entry.given.items())
    return entry.cost + others


FILES = {Path("_tgraph_networkx/functions.py"): listing, Path("docs/networkx-functions.md"): page}

if __name__ == "__main__":
    for path, text in FILES.items():
        (ROOT / path).write_text(text())
