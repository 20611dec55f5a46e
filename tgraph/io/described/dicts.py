"""Edge lists whose lines differ: `source target {'weight': 3}`, of networkx, `source target [weight]`, of NCOL."""

from __future__ import annotations

import ast
import re
from typing import Any

from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.io.described.graph import Described, as_number, reader
from tgraph.io.described.source import text_of
from tgraph.io.text.line_layout import BLANKS

LINE = re.compile(rb"\s*\S+[\s,;|]+\S+[\s,;|]+\{(['\"\d(].*:.*)?\}\s*")  # to recognise a file by its first data


@reader
def read(
    path: PathLike,
    encoding: str | None = None,
    directed_by_default: bool = True,
    delimiter: str | None = None,
    skip: int = 0,
    comments: str | None = "#%",
) -> Described:
    """Read lines of two ends and a dict of their data, their weight, or nothing; `directed_by_default` : what
    `directed=None` means. The other arguments are explained in `tgraph.read`. Raises FileFormatError for an invalid
    line."""
    found = Described(path, directed=directed_by_default, implied=True)
    for number, line in enumerate(text_of(path, encoding).split("\n"), 1):
        if number <= skip or not line.strip() or line.lstrip()[0] in (comments or ""):
            continue
        words = line.strip().split(None if delimiter in (None, BLANKS) else delimiter, 2)
        if len(words) < 2:
            raise FileFormatError(path, f"{line[:60]!r} has not two ends", "write source target {...}", number)
        found.edge(words[0], words[1], _dict(path, words[2], number) if words[2:] not in ([], ["{}"]) else {})
    return found


def _dict(path: PathLike, text: str, line: int) -> dict[str, Any]:
    if not isinstance(weight := as_number(text.strip()), str):
        return {"weight": weight}
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError) as fault:
        value = fault
    if not isinstance(value, dict):
        raise FileFormatError(
            path, f"{text[:60]!r} is neither a number nor a dict of these and text", "correct the line", line
        )
    return {str(name): each for name, each in value.items()}
