"""Declarations of algorithms and generators, read from their source: help and completion import nothing."""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import re
from pathlib import Path
from typing import Any

# Imports in the `__init__` of a package from its modules.
IMPORT = re.compile(r"^from tgraph\.(?:algorithms|generators)\.(\S+) import (?:\(([^)]*)\)|(.*))", re.M)
# After the name of a function: its parameters and type, and the first paragraph of its docstring.
DECLARATION = re.compile(r'(\(.*?\) -> .*?:)\n    """(.*?)(?:\n\n|""")', re.S)
# The end of a summary: what follows are parameters, dtypes and shapes.
DETAILS = re.compile(r"[:;]|\.(?=\s|$)|,? \[|, (?:bool|float\d+|int\d+|an int)\b")


@functools.cache
def _homes(package: str) -> dict[str, Path]:
    """The file of each public name of `tgraph.algorithms` or `tgraph.generators`."""
    spec = importlib.util.find_spec(f"tgraph.{package}")
    assert spec is not None and spec.submodule_search_locations
    folder, found = Path(spec.submodule_search_locations[0]), {}
    for init in folder.rglob("__init__.py"):
        for module, several, one in IMPORT.findall(init.read_text(encoding="utf-8")):
            home = folder / f"{module.replace('.', '/')}.py"
            found.update(dict.fromkeys(re.findall(r"\w+", several or one), home))
    return found


@functools.cache
def program_of(function: str) -> str | None:
    """The class of the program that a function runs, or None."""
    plain = function.replace("_", "")
    return next((name for name in _homes("algorithms") if name.lower() == plain and name[0].isupper()), None)


def _declaration(function: str, package: str) -> re.Match[str]:
    source = _homes(package)[function].read_text(encoding="utf-8")
    found = DECLARATION.match(source, source.index(f"\ndef {function}(") + len(f"\ndef {function}"))
    assert found is not None, function
    return found


def summary(function: str) -> str:
    """The first words of the docstring of an algorithm, up to details, as a sentence."""
    text = " ".join(_declaration(function, "algorithms")[2].split())
    return f"{DETAILS.split(text, 1)[0].replace('`', '')}."


def parameters(function: str, package: str = "algorithms") -> dict[str, tuple[str, Any]]:
    """(type, default) of each parameter: the type as it is written; the default `inspect.Parameter.empty` without one,
    and None for one that is no literal, such as torch.float32."""
    declared = ast.parse(f"def f{_declaration(function, package)[1]} ...").body[0]
    assert isinstance(declared, ast.FunctionDef)
    of = declared.args
    given = (*[None] * (len(of.args) - len(of.defaults)), *of.defaults, *of.kw_defaults)
    named = zip((*of.args, *of.kwonlyargs), given, strict=True)
    return {one.arg: (ast.unparse(one.annotation) if one.annotation else "", _value(default)) for one, default in named}


def _value(default: ast.expr | None) -> Any:
    try:
        return inspect.Parameter.empty if default is None else ast.literal_eval(default)
    except ValueError:
        return None
