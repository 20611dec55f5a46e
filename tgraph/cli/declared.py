"""Declarations of algorithms, read from their source: help and completion import nothing."""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
from pathlib import Path
from typing import Any

# In the package of a topic, the names that it takes from a module.
IMPORT = re.compile(r"^from tgraph\.algorithms\.(\S+) import (?:\(([^)]*)\)|(.*))", re.M)
# After the name of a function: its parameters and type, and the first paragraph of its docstring.
DECLARATION = re.compile(r'(\(.*?\) -> .*?:)\n    """(.*?)(?:\n\n|""")', re.S)
# The end of a summary: what follows are parameters, dtypes and shapes.
DETAILS = re.compile(r"[:;]|\.(?=\s|$)|,? \[|, (?:bool|float\d+|int\d+|an int)\b")


@functools.cache
def _homes() -> dict[str, Path]:
    """The file of each public name of `tgraph.algorithms`."""
    spec = importlib.util.find_spec("tgraph.algorithms")
    assert spec is not None and spec.submodule_search_locations
    folder, found = Path(spec.submodule_search_locations[0]), {}
    for package in folder.glob("*/__init__.py"):
        for module, several, one in IMPORT.findall(package.read_text(encoding="utf-8")):
            home = folder / f"{module.replace('.', '/')}.py"
            found.update(dict.fromkeys(re.findall(r"\w+", several or one), home))
    return found


@functools.cache
def program_of(function: str) -> str | None:
    """The class of the program that a function runs, None for one that is no program."""
    return next((name for name in _homes() if name.lower() == function.replace("_", "") and name[0].isupper()), None)


def _declaration(function: str) -> re.Match[str]:
    source = _homes()[function].read_text(encoding="utf-8")
    found = DECLARATION.match(source, source.index(f"\ndef {function}(") + len(f"\ndef {function}"))
    assert found is not None, function
    return found


def summary(function: str) -> str:
    """The first words of a docstring, up to details, as a sentence."""
    text = " ".join(_declaration(function)[2].split())
    return f"{DETAILS.split(text, 1)[0].replace('`', '')}."


def defaults(function: str) -> dict[str, Any]:
    """The default of each parameter that is a literal, None for a parameter without one."""
    declared = ast.parse(f"def f{_declaration(function)[1]} ...").body[0]
    assert isinstance(declared, ast.FunctionDef)
    parameters = declared.args
    missing = [None] * (len(parameters.args) - len(parameters.defaults))
    given = (*missing, *parameters.defaults, *parameters.kw_defaults)
    named = zip((*parameters.args, *parameters.kwonlyargs), given, strict=True)
    return {name.arg: _literal(value) for name, value in named}


def _literal(value: ast.expr | None) -> Any:
    try:
        return None if value is None else ast.literal_eval(value)
    except ValueError:  # such as torch.float32, which is no option
        return None
