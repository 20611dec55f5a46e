"""Which columns of a table hold the edges."""

from __future__ import annotations

from collections.abc import Sequence

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.io.stream import PathLike

SOURCES = ("source", "src", "from", "fromnodeid", "u")
TARGETS = ("target", "dst", "to", "tonodeid", "v")
WEIGHTS = ("weight", "w", "weights")


def find_columns(
    path: PathLike, names: Sequence[str], source: str | None, target: str | None, weight: str | None, weighted: bool
) -> tuple[str, str, str | None]:
    """The columns of sources, targets and weights: those asked for, else those with a customary name.

    Raises ArgumentError for a name that is not there, FileFormatError where no customary name is.
    """
    for argument, name in (("source", source), ("target", target), ("weight", weight)):
        if name is not None and name not in names:
            raise ArgumentError(f"{argument}: {path} has no column {name!r}; its columns are {_listed(names)}")
    source, target = source or _customary(names, SOURCES), target or _customary(names, TARGETS)
    if source is None or target is None:
        problem = f"no column is called {' or '.join(SOURCES if source is None else TARGETS)}"
        raise FileFormatError(path, problem, f"name the columns with source= and target=: {_listed(names)}")
    return source, target, (weight or _customary(names, WEIGHTS)) if weighted else None


def _customary(names: Sequence[str], customary: Sequence[str]) -> str | None:
    known = {name.lower(): name for name in names}
    return next((known[name] for name in customary if name in known), None)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
