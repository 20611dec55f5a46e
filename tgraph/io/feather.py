"""Feather and Arrow's IPC files (.feather, .arrow, .ipc) with one row per edge."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.graph import Graph
from tgraph.files import PathLike
from tgraph.files.atomic_write import replacing
from tgraph.io.edges import Ids
from tgraph.io.parquet import build, columns_of, says_directed, table_of, whole_file
from tgraph.io.text.names import Columns, find_columns, further_columns

if TYPE_CHECKING:
    import pyarrow


def read(
    path: PathLike,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    directed: bool | None = None,
    weights: bool | None = None,
    multi: Multi = "keep",
    self_loops: SelfLoops = "keep",
    ids: Ids = "auto",
    columns: bool | Sequence[str] | None = None,
) -> Graph:
    """Read a table, a file or a stream of Arrow, as `tgraph.io.parquet.read` does; arguments are explained in
    `tgraph.read`.

    Raises FileFormatError for another file, a missing value or a column of another type.

    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [3, 7]), "calls.feather")
    >>> tg.read("calls.feather").weights
    tensor([3, 7])
    """
    table = _table(path)
    found = find_columns(path, table.schema.names, source, target, weight, weights is not False)
    further = further_columns(path, table.schema.names, found, columns)
    one_way = says_directed(table.schema) if directed is None else directed
    return build(path, table, found, one_way, multi, self_loops, ids, further)


def _table(path: PathLike) -> pyarrow.Table:
    import pyarrow
    from pyarrow import feather, ipc

    with whole_file(path, "feather"), open(path, "rb") as file:
        if file.read(4) in (b"ARRO", b"FEA1"):
            return feather.read_table(os.fspath(path), memory_map=False)
        file.seek(0)
        with ipc.open_stream(pyarrow.PythonFile(file, "r")) as stream:
            return stream.read_all()


def columns(
    path: PathLike,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    weights: bool | None = None,
    **options: Any,
) -> Columns:
    """The columns that `read` takes with these options."""
    return columns_of(path, _table(path).schema, source, target, weight, weights)


def write(graph: Graph, path: PathLike, alone: bool = False) -> None:
    """Write the columns source, target and, where there are weights, weight, then those of the arcs; each undirected
    edge once. `alone` : whether isolated vertices are left out without a warning.

    >>> import pandas
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [3, 7]), "calls.feather")
    >>> pandas.read_feather("calls.feather")
       source  target  weight
    0       0       1       3
    1       1       2       7
    """
    from pyarrow import feather

    table = table_of(graph, alone)
    with replacing(path) as temporary:
        feather.write_feather(table, os.fspath(temporary))
