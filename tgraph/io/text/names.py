"""The columns of a table with the ends and weights of edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike

_SOURCES = "source src from fromnodeid u source_id sourceid src_id from_id fromid id_1 id1 node_1 node1 :start_id"
_TARGETS = "target dst to tonodeid v target_id targetid dst_id to_id toid id_2 id2 node_2 node2 :end_id"
SOURCES, TARGETS = tuple(_SOURCES.split()), (*_TARGETS.split(), "destination", "dest")
WEIGHTS = ("weight", "w", "weights")


def find_columns(
    path: PathLike,
    names: Sequence[str],
    source: str | None,
    target: str | None,
    weight: str | None,
    weighted: bool,
    either: bool = True,
) -> tuple[str, str, str | None]:
    """The columns of sources, targets and weights: as given, by default by conventional names, or, with `either`, the
    two of a table that has no others.

    Raises ArgumentError for a missing column, FileFormatError where none has a conventional name, or two have the same.
    """
    for argument, name in (("source", source), ("target", target), ("weight", weight)):
        if name is not None and name not in names:
            raise ArgumentError(f"{argument}: {path} has no column {name!r}; its columns are {_listed(names)}")
    if either and source is None and target is None and len(names) == 2 and not has_customary(names):
        source, target = names
    source, target = source or customary(names, SOURCES), target or customary(names, TARGETS)
    if source is None or target is None:
        problem = f"no column is called {' or '.join((SOURCES if source is None else TARGETS)[:5])}"
        raise FileFormatError(path, problem, f"name the columns with source= and target=: {_listed(names)}")
    found = source, target, (weight or customary(names, WEIGHTS)) if weighted else None
    for name in found:
        if name is not None and list(names).count(name) > 1:
            raise FileFormatError(path, f"two columns are called {name!r}", "give each column a name of its own")
    return found


def further_columns(
    path: PathLike,
    names: Sequence[str | int],
    taken: Sequence[str | int | None],
    wanted: bool | Sequence[str | int] | None,
) -> tuple[str | int, ...]:
    """The columns that become data of the edges: the `wanted` ones, or for True all but those `taken`.

    Raises ArgumentError for a missing column, and FileFormatError where two have the same name.
    """
    if isinstance(wanted, str) or not isinstance(wanted, (bool, Sequence, type(None))):
        raise ArgumentError(f"columns: expected a list of names, or True for all, got {wanted!r}")
    found = tuple(name for name in names if name not in taken) if wanted is True else tuple(wanted or ())
    for name in found:
        if name not in names:
            raise ArgumentError(f"columns: {path} has no column {name!r}; its columns are {_listed(names)}")
        if list(names).count(name) > 1:
            raise FileFormatError(path, f"two columns are called {name!r}", "give each column a name of its own")
    return found


def has_customary(names: Sequence[str]) -> bool:
    """Whether there are columns of sources and targets with conventional names."""
    return customary(names, SOURCES) is not None and customary(names, TARGETS) is not None


def customary(names: Sequence[str], conventional: Sequence[str]) -> str | None:
    """The first column that has one of the conventional names, None without any."""
    known = {name.lower().partition("(")[0] or name: name for name in reversed(names)}  # Neo4j: ":START_ID(Person)"
    return next((known[name] for name in conventional if name in known), None)


def _listed(names: Sequence[str | int]) -> str:
    return ", ".join(map(repr, names))


@dataclass(frozen=True)
class Columns:
    """The columns of a file, read and left out, by name or by number from 1.

    weight : None without weights. numbers : numeric columns left out. others : the rest.
    """

    source: str | int
    target: str | int
    weight: str | int | None
    numbers: tuple[str | int, ...] = ()
    others: tuple[str | int, ...] = ()

    def option(self, column: str | int) -> str:
        """The argument of `tgraph.read` that reads a column as weights."""
        return f"weights={column}" if isinstance(column, int) else f"weight={column!r}"

    def warning(self) -> str:
        """The warning for numeric columns left out; empty without any."""
        if not self.numbers:
            return ""
        remedy = f"{self.option(self.numbers[0])} takes weights from there, weights=False reads none"
        if self.weight is not None:
            remedy = f"weights come from {named(self.weight)}; {self.option(self.numbers[0])} takes others"
        return f"{named(*self.numbers)} left out: {remedy}"


def named(*columns: str | int) -> str:
    """Columns as text for messages."""
    return ("column " if len(columns) == 1 else "columns ") + ", ".join(map(repr, columns))
