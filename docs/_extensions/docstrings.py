"""Docstrings of tgraph as reStructuredText.

They are written to be read by `help()`: a line "name : text" describes a parameter, names and code are in single
backticks, and an indented paragraph is code. Here such lines become a definition list, names references, and the rest
stays text, whatever its characters mean in reStructuredText.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Any

ENTRY = re.compile(r"((?:\*{0,2}\w+)(?:, \*{0,2}\w+)*) : (?=\S)(.*)")
FURTHER = re.compile(r"(?<=[.;]) (?=\w+(?:, \w+)* : \S)")
ITEM = re.compile(r"(?:[-*]|\d+\.) ")
NAME = re.compile(r"~?[A-Za-z_]\w*(?:\.\w+)*")


def restructured(lines: Iterable[str]) -> list[str]:
    """The lines of a docstring, without their common indentation, as lines of reStructuredText."""
    paragraphs = [list(group) for blank, group in itertools.groupby(lines, lambda line: not line.strip()) if not blank]
    found: list[str] = []
    for paragraph in paragraphs:
        found += [*_paragraph(paragraph), ""]
    return found


def _paragraph(lines: list[str]) -> list[str]:
    if lines[0].lstrip().startswith(">>>"):
        return lines
    if lines[0].startswith(" "):
        return ["::", "", *(f"    {line}" for line in lines)]
    if len(lines) > 1 and set(lines[1].strip()) == {"-"}:  # a heading such as "Parameters", underlined
        lines = lines[2:]
    found: list[str] = []
    for part in _parts(lines):
        entries = FURTHER.split(" ".join(line.strip() for line in part))
        if all(ENTRY.fullmatch(entry) for entry in entries):
            found += [line for entry in entries for line in _definition(entry)]
        else:
            found += ["", *inline("\n".join(part)).split("\n")] if ITEM.match(part[0]) else [*_text(part)]
    return found


def _text(part: list[str]) -> list[str]:
    return ["", *inline("\n".join(line.strip() for line in part)).split("\n"), ""]


def _parts(lines: list[str]) -> list[list[str]]:
    """The lines of entries, of items of a list and of the text before them, each with the lines that continue it."""
    parts: list[list[str]] = []
    for line in lines:
        if not parts or ENTRY.match(line) or ITEM.match(line):
            parts.append([line])
        else:
            parts[-1].append(line)
    return parts


def _definition(entry: str) -> list[str]:
    names, text = ENTRY.fullmatch(entry).groups()  # type: ignore[union-attr]
    return [", ".join(f"``{name}``" for name in names.split(", ")), f"    {inline(text)}"]


def inline(text: str) -> str:
    """Text with names as references, code as literals, and nothing else that reStructuredText would interpret."""
    found = ""
    for part in re.split(r"(`+[^`]+`+)", text):
        code = part.startswith("`")
        # Markup begins and ends beside blanks and some punctuation, or beside an escaped blank, which does not show.
        if (code and re.search(r"[^\s'\"(\[{<\-/:]$", found)) or (
            found.endswith("`") and re.match(r"[^\s'\")\]}>\-/:.,;!?]", part)
        ):
            found += "\\ "
        found += _code(part.strip("`")) if code else _escaped(part)
    return found


def _code(code: str) -> str:
    call = code.removesuffix("()")
    return f":py:obj:`{code}`" if NAME.fullmatch(call) else f"``{' '.join(code.split())}``"


def _escaped(text: str) -> str:
    return re.sub(r"([\\*|]|_(?!\w))", r"\\\1", text)


def process(app: Any, what: str, name: str, value: object, options: Any, lines: list[str]) -> None:
    lines[:] = restructured(lines)


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True}
