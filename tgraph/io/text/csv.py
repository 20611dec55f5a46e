"""CSV with named columns; without a header line it is an edge list."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes
from tgraph.io.edges import Ids, Rules, named_edges, printable
from tgraph.io.text import edgelist
from tgraph.io.text.columns import first_lines
from tgraph.io.text.line_layout import LineLayout, check_delimiter
from tgraph.io.text.names import Columns, find_columns


def read(path: PathLike, *, progress: bool = False, **options: Any) -> Graph:
    """Read columns by name; the `options` are those of `plan`, `progress` that of `tgraph.read`.

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
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    directed: bool | None = None,
    weights: bool | int | None = None,
    multi: Multi = "keep",
    self_loops: SelfLoops = "keep",
    ids: Ids = "auto",
    delimiter: str | None = None,
    skip: int = 0,
) -> edgelist.Plan:
    """How to read a file, from its first lines; arguments are explained in `tgraph.read`.

    A first line that contains a number is not a header: the file is then read as an edge list, columns 1 and 2.
    Fields may be quoted with ". Raises FileFormatError and ArgumentError.
    """
    check_delimiter(delimiter)
    _, data = first_lines(path, edgelist.COMMENTS, skip)
    if not data:
        raise FileFormatError(path, "the file is empty: it has no line with an edge", "check that it is the right file")
    number, line = data[0]
    delimiter = delimiter or next((mark for mark in ",;\t" if mark.encode() in line), ",")
    split = LineLayout((), delimiter, quoted=True).split
    header = split(path, number, line)
    named = source is not None or target is not None or weight is not None
    if not named and any(map(edgelist.NUMBER.fullmatch, header)):
        return edgelist.plan(path, directed, weights, multi, self_loops, ids, delimiter, skip, quoted=True)
    if weights not in (None, True, False):
        raise ArgumentError(f"weights: {path} has named columns, so pass weight='name' instead of weights={weights!r}")
    names = [field.decode("utf-8", "replace") for field in header]
    found = find_columns(path, names, source, target, weight, weights is not False)
    rules = Rules(directed is not False, multi, self_loops, ids)
    if len(data) == 1:
        return edgelist.Plan(rules, None)
    row = split(path, *data[1])
    ends = [row[names.index(name)] if names.index(name) < len(row) else b"" for name in found[:2]]
    kind = edgelist.id_kind(path, [(data[1][0], ends)], ids)
    kinds = {found[0]: kind, found[1]: kind} | ({found[2]: "number"} if found[2] else {})
    layout = LineLayout(tuple(kinds.get(name, "skip") for name in names), delimiter, skip=number, quoted=True)
    column = names.index(found[2]) if found[2] else None
    left = [name for name in names if name not in found]
    values = dict(zip(names, row, strict=False))
    numbers = tuple(name for name in left if edgelist.NUMBER.fullmatch(values.get(name, b"")))
    taken = Columns(*found, numbers, tuple(name for name in left if name not in numbers))
    return edgelist.Plan(rules, layout, column, names.index(found[0]), names.index(found[1]), taken)


def columns(path: PathLike, **options: Any) -> Columns | None:
    """The columns that `read` takes with these options; None where there are no edges."""
    return plan(path, **options).taken


def write(graph: Graph, path: PathLike) -> None:
    """Write the columns source, target and, where there are weights, weight; each undirected edge once.

    CSV does not record that a graph is undirected; a warning says so. Raises ArgumentError for a label with
    a line break, or a space at an end.

    >>> from pathlib import Path
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [3, 7]), "calls.csv")
    >>> print(Path("calls.csv").read_text())
    "source","target","weight"
    0,1,3
    1,2,7
    """
    from pyarrow import csv

    columns = named_edges(graph, "a table of edges")
    if not graph.directed:
        warnings.warn("CSV cannot say that the edges are undirected: read it back with directed=False", stacklevel=3)
    if isinstance(graph.vertices, np.ndarray):
        for label in graph.vertices:
            if "\n" in label or "\r" in label or label != label.strip():
                raise ArgumentError(f"graph.vertices: the label {label!r} cannot stand in CSV; write .parquet instead")
    with create_bytes(path) as file:
        csv.write_csv(printable(columns), file, csv.WriteOptions(quoting_style="needed"))
