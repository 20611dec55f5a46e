"""CSV with named columns; without a header line it is an edge list."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes, encoding_of
from tgraph.io.edges import Ids, Rules, columns_of_edges, named_edges, printable
from tgraph.io.text import edgelist
from tgraph.io.text.banners import refuse_others
from tgraph.io.text.columns import first_lines
from tgraph.io.text.exact import show
from tgraph.io.text.line_layout import BLANKS, INT64, LineLayout, check_delimiter, split
from tgraph.io.text.names import Columns, find_columns, further_columns, has_customary

_ROWS = 1 << 12  # that tell whether the first line is a header
_COMMA = re.compile(rb"[-+]?\d*,\d+")  # a fraction after a comma; three digits may be thousands
_UNSAFE = re.compile(r"[\r\n\0]|^\ufeff|^\s|\s$")


def read(path: PathLike, *, progress: bool = False, **options: Any) -> Graph:
    """Read columns by name; `options` as of `plan`, `progress` as of `tgraph.read`.

    Raises FileFormatError for an invalid line, ArgumentError for a missing column.

    >>> with open("calls.csv", "w") as file:
    ...     print("caller,callee,minutes", file=file)
    ...     print("ann,bob,3", file=file)
    ...     print("bob,eve,7", file=file)
    >>> graph = tg.read("calls.csv", source="caller", target="callee", weight="minutes")
    >>> graph.vertices.tolist(), graph.weights.tolist()
    (['ann', 'bob', 'eve'], [3, 7])
    """
    return plan(path, **options).read(path, progress)


def plan(
    path: PathLike,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | None = None,
    directed: bool | None = None,
    weights: bool | int | None = None,
    multi: Multi = "keep",
    self_loops: SelfLoops = "keep",
    ids: Ids = "auto",
    delimiter: str | None = None,
    skip: int = 0,
    columns: bool | Sequence[str | int] | None = None,
    comments: str | None = edgelist.COMMENTS,
    encoding: str | None = None,
) -> edgelist.Plan:
    """The plan for reading a file, from its first lines; arguments are explained in `tgraph.read`.

    The first line is a header where it has the names of columns, given or conventional, and where it has two names
    above two numbers; where its first two fields are numbers, or one of the two is an end of a line below it, too, the
    file is an edge list, columns 1 and 2. The default `delimiter` is the one of , ; | and tab that yields known names,
    or is the most frequent, or blanks where there is none of these. Fields may be quoted with ", and surrounded by
    blanks. A column "type" with undirected or directed decides where `directed` is None; where both occur, the graph is
    directed, with both arcs of undirected edges. The weights of all rows have a comma before their fractions where that
    of the first has.
    Raises FileFormatError for a file without edges, or of another format, and ArgumentError for a missing column.
    """
    check_delimiter(delimiter)
    marks, encoding = edgelist.check_comments(comments), encoding_of(path, encoding)
    if not skip and marks == edgelist.COMMENTS:
        refuse_others(path, "csv", encoding)
    before = directed, weights, multi, self_loops, ids
    after = skip, columns, True, comments, encoding
    if isinstance(source, int) or isinstance(target, int):
        if weight is not None:
            raise ArgumentError(f"weight: where source or target is a number, weights= is, too, not {weight!r}")
        return edgelist.plan(path, *before, delimiter, *after, source, target)  # type: ignore[arg-type]
    _, data = first_lines(path, marks, skip, count=1, encoding=encoding)
    if not data:
        raise FileFormatError(path, "the file is empty: it has no line with an edge", "check that it is the right file")
    dress = LineLayout((), skip=data[0][0], comments=marks, inline=marks != edgelist.COMMENTS, encoding=encoding)
    number, line = data[0][0], dress.without_comments(data[0][1])
    delimiter = delimiter or _delimiter(line)
    header, names = [field.text for field in split(line, delimiter)], _names(line, delimiter)
    named = source is not None or target is not None or weight is not None or has_customary(names)
    if not named and len(header) > 1 and all(map(edgelist.NUMBER.fullmatch, header[:2])):
        return edgelist.plan(path, *before, delimiter, *after)
    if weights not in (None, True, False):
        raise ArgumentError(f"weights: {path} has named columns, so pass weight='name' instead of weights={weights!r}")
    if len(header) == 1:
        problem = f"the first line has one column: {show(line)}"
        raise FileFormatError(path, problem, "delimiter= sets the separator of columns", line=number)
    row = _first_row(path, replace(dress, delimiter=delimiter), len(names))
    if not named and row is not None and _occurs_again(path, replace(dress, delimiter=delimiter), header):
        return edgelist.plan(path, *before, delimiter, *after)
    numbered = row is not None and all(map(edgelist.NUMBER.fullmatch, row[1]))  # so that the first line is a header
    two = len(names) == 2 and row is not None and not numbered
    if not named and (two or any(map(edgelist.NUMBER.fullmatch, header))):
        problem = f"the first line is a header of unknown names, or no header: {show(line)}"
        raise FileFormatError(path, problem, 'pass source= and target=, or format="edgelist" without a header', number)
    found = find_columns(path, names, source, target, weight, weights is not False, either=numbered)
    if row is None:
        return edgelist.Plan(Rules(directed is not False, multi, self_loops, ids), None)
    line_of_row, fields = row
    values = dict(zip(names, fields, strict=False))
    kind = edgelist.id_kind(path, [(line_of_row, [values.get(name, b"") for name in found[:2]])], ids)
    kinds = {found[0]: kind, found[1]: kind} | ({found[2]: "number"} if found[2] else {})
    said = None if directed is not None else _direction(names, found, values)
    if said is not None:
        kinds[said[0]], directed = f"={said[1]}", said[1].lower() == "directed"
    rules = Rules(directed is not False, multi, self_loops, ids)
    lowest = 0 if ids == "keep" else INT64.start
    column = names.index(found[2]) if found[2] else None
    asked = further_columns(path, names, (*found, said[0] if said else None), columns)
    further = tuple((name, names.index(name)) for name in map(str, asked))
    value = values.get(found[2] or "", b"")
    has_comma = _COMMA.fullmatch(value) and (delimiter != "," or len(value.rpartition(b",")[2]) != 3)
    more, wide = edgelist.further_kinds(further, fields, column)
    kinds = {names[i]: kind for i, kind in more.items()} | kinds
    layout = replace(
        dress,
        fields=tuple(kinds.get(name, "skip") for name in names),
        delimiter=delimiter,
        lowest=lowest,
        quoted=True,
        decimal="," if has_comma else ".",
        wide=wide | edgelist.wide(column if column is not None and column < len(fields) else None, fields),
    )
    left = [name for name in names if name not in kinds]
    numbers = tuple(name for name in left if edgelist.NUMBER.fullmatch(values.get(name, b"")))
    taken = Columns(*found, numbers, tuple(name for name in left if name not in numbers))
    return edgelist.Plan(rules, layout, column, names.index(found[0]), names.index(found[1]), taken, further)


def _delimiter(line: bytes) -> str:
    """The delimiter of a header, of , ; | and tab: by known names, clean names, or the number of names; else blanks."""

    def likely(mark: str) -> tuple[bool, bool, int]:
        names = _names(line, mark)
        return has_customary(names), all(name == name.strip(",;") != "" for name in names), len(names)

    best = max(",;|\t", key=likely)
    return best if best.encode() in line else BLANKS


def _names(line: bytes, delimiter: str) -> list[str]:
    return [field.text.decode("utf-8", "replace") for field in split(line, delimiter)]


def _first_row(path: PathLike, layout: LineLayout, width: int) -> tuple[int, list[bytes]] | None:
    """(number, fields) of the first line with an edge; None without any. A line that begins like a comment is skipped
    where the next line has integer ids, or it has another number of fields than the header."""
    _, plain = first_lines(path, layout.comments, layout.skip, count=1, encoding=layout.encoding)
    any_line = [] if layout.inline else first_lines(path, "", layout.skip, count=1, encoding=layout.encoding)[1]
    rows = [(number, layout.split(line)) for number, line in (*any_line, *plain)]
    if len(rows) == 2 and all(map(edgelist.NUMBER.fullmatch, rows[1][1][:2])):
        return rows[1]
    return next((row for row in rows if len(row[1]) == width), rows[-1] if plain else None)


def _occurs_again(path: PathLike, layout: LineLayout, first: list[bytes]) -> bool:
    """Whether an end of the first line, of two ends and perhaps a number, is one of the lines below it as well: then it
    is no header."""
    if len(first) > 3 or not all(map(edgelist.NUMBER.fullmatch, first[2:])):
        return False
    _, rows = first_lines(path, layout.comments, layout.skip, count=_ROWS, encoding=layout.encoding)
    return not {*first[:2]}.isdisjoint(field for _, line in rows for field in layout.split(line)[:2])


def _direction(names: list[str], found: tuple[Any, ...], values: dict[str, bytes]) -> tuple[str, str] | None:
    """(name, first value) of a column with the direction of edges, as written by Gephi; None without one."""
    for name in names:
        value = values.get(name, b"").decode("utf-8", "replace")
        if name not in found and name.lower() == "type" and value.lower() in ("directed", "undirected"):
            return name, value
    return None


def columns(path: PathLike, **options: Any) -> Columns | None:
    """The columns that `read` takes with these options; None where there are no edges."""
    return plan(path, **options).taken


def write(graph: Graph, path: PathLike, alone: bool = False) -> None:
    """Write the columns source, target and, where there are weights, weight, then those of the arcs; each undirected
    edge once. `alone` : whether isolated vertices are left out without a warning.

    CSV does not record that a graph is undirected; a warning says so. Raises ArgumentError for a label with a line
    break, or a space at an end, and where the labels of the first edge are numbers.

    >>> from pathlib import Path
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [3, 7]), "calls.csv")
    >>> print(Path("calls.csv").read_text())
    "source","target","weight"
    0,1,3
    1,2,7
    """
    from pyarrow import csv

    columns = named_edges(graph, "a table of edges", alone)
    if not graph.directed:
        warnings.warn("CSV does not record that the edges are undirected: read it with directed=False", stacklevel=3)
    if isinstance(graph.vertices, np.ndarray):
        edgelist.check_labels(graph.vertices, _UNSAFE, "CSV")
        edgelist.check_read_as_labels(columns, 1, "CSV")
    with create_bytes(path) as file:
        table = printable(columns | columns_of_edges(graph, columns))
        csv.write_csv(table, file, csv.WriteOptions(quoting_style="needed"))
