"""The public names of tgraph, in public_names.txt: python tests/public_names.py writes it anew.

What is in it is kept, or deprecated before it changes (CONTRIBUTING.md): a change of the file is one of the interface,
which has to be meant. Functions have the names of their parameters, classes their methods and properties.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

FILE = Path(__file__).with_suffix(".txt")

# The packages that users import from, as they stand in the house (ARCHITECTURE.md), from the top to the bottom.
PACKAGES = (
    *("tgraph", "tgraph.networkx", "tgraph.algorithms", "tgraph.drawing", "tgraph.pyg", "tgraph.nn", "tgraph.stream"),
    *("tgraph.sampling", "tgraph.stores", "tgraph.dynamic", "tgraph.distributed", "tgraph.io", "tgraph.generators"),
    *("tgraph.primitives", "tgraph.formats", "tgraph.random", "tgraph.errors"),
)


def listing() -> str:
    """The text of the file."""
    return "\n\n".join("\n".join([name, *(f"    {line}" for line in _lines(name))]) for name in PACKAGES) + "\n"


def _lines(package: str) -> Iterator[str]:
    module = _module(package)
    for name in sorted(getattr(module, "__all__", None) or _own(module)):
        value = getattr(module, name)
        if inspect.isclass(value):
            yield f"{name}{_parameters(value)}"
            yield from sorted(f"{name}.{member}" for member in _members(value))
        elif isinstance(value, ModuleType):
            yield name
            if package == "tgraph.primitives":
                yield from (f"{name}.{step}{_parameters(getattr(value, step))}" for step in sorted(_own(value)))
        else:
            yield f"{name}{_parameters(value)}"


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:  # tgraph.random is a module of tgraph.core
        return getattr(importlib.import_module("tgraph"), name.removeprefix("tgraph."))


def _own(module: ModuleType) -> list[str]:
    """What a module defines itself."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", None) == module.__name__
    ]


def _members(cls: type) -> Iterator[str]:
    """The public methods and properties that a class, or one of ours that it derives from, defines."""
    kinds = (FunctionType, property, functools.cached_property, staticmethod, classmethod)
    for name in {name for base in cls.__mro__ if base.__module__.startswith("tgraph") for name in vars(base)}:
        getattr(cls, name, None)  # which attaches a method that another module defines
        value = inspect.getattr_static(cls, name)
        if not name.startswith("_") and isinstance(value, kinds):
            call = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            yield name + (_parameters(call) if isinstance(call, FunctionType) else "")


def _parameters(value: object) -> str:
    """(graph, source, **options) of what can be called, nothing of what cannot."""
    if not callable(value):
        return ""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):  # of C
        return "(...)"
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    names = [marks.get(each.kind, "") + each.name for each in parameters if each.name not in ("self", "cls")]
    keyword = next((n for n, each in enumerate(parameters) if each.kind == each.KEYWORD_ONLY), None)
    if keyword is not None and not any(name.startswith("*") and name[1] != "*" for name in names):
        names.insert(keyword - (len(parameters) - len(names)), "*")
    return f"({', '.join(names)})"


if __name__ == "__main__":
    FILE.write_text(listing(), encoding="utf-8")
