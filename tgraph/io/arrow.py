"""Tables of Arrow: from Parquet and other files, pyarrow, pandas, polars, cuDF, queries of DuckDB."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.io import parquet
from tgraph.io.edges import Ids
from tgraph.io.text.names import find_columns, further_columns
from tgraph.io.vertex_table import joined

if TYPE_CHECKING:
    import pyarrow

_FORMATS = {".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc", ".csv": "csv"}


def from_table(
    table: Any,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    *,
    directed: bool = True,
    weights: bool | None = None,
    multi: Multi = "keep",
    self_loops: SelfLoops = "keep",
    ids: Ids = "auto",
    columns: bool | Sequence[str] | None = None,
    vertices: Any = None,
) -> Graph:
    """The graph of a `table` with one row per edge, of any kind in `read_columns`, such as files or a query of DuckDB.

    source, target, weight : names of columns; by default conventional ones are recognised, without weights for
    `weights=False`. directed : whether rows are arcs or undirected edges. multi, self_loops, ids, columns : as of
    `tgraph.read`. vertices : another table, of a row for each vertex, as `tgraph.read` takes a file.

    Raises ArgumentError for missing columns, FileFormatError for missing values, and other ids than integers or text.

    >>> import pyarrow
    >>> table = pyarrow.table({"source": ["ann", "bob"], "target": ["bob", "eve"], "weight": [1.5, 2.5]})
    >>> graph = tg.from_table(table)
    >>> graph.vertices.tolist(), graph.weights
    (['ann', 'bob', 'eve'], tensor([1.5000, 2.5000], dtype=torch.float64))
    """
    names = column_names(table)
    found = find_columns("the table", names, source, target, weight, weights is not False)
    further: Any = further_columns("the table", names, found, columns)
    read = read_columns(table, [*(name for name in found if name), *further])
    graph = parquet.build("the table", read, found, directed, multi, self_loops, ids, further)
    return graph if vertices is None else joined(graph, read_columns(vertices), ids)


def read_columns(table: Any, columns: Sequence[str] | None = None) -> pyarrow.Table:
    """The columns of a table, by default all; others are not read.

    table : the path of a file, a folder or a pattern such as "edges-*.parquet", or a list of paths; or an object with
    columns of Arrow: tables, batches, datasets and readers of pyarrow, frames of pandas, polars (lazy ones too) and
    cuDF, relations of DuckDB.

    Raises ArgumentError for other objects, patterns without a file, and missing columns.
    """
    import pyarrow as pa
    from pyarrow import dataset

    if is_path(table):
        table = _files(table)
    known = column_names(table)
    for name in columns or ():
        if name not in known:
            raise ArgumentError(f"columns: the table has no {name!r}, only {', '.join(map(repr, known))}")
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    names = None if columns is None else list(dict.fromkeys(columns))
    if hasattr(table, "collect"):  # a lazy frame, which computes the columns that are asked for
        table, names = (table if names is None else table.select(names)).collect(), None
    if hasattr(table, "to_arrow") and not hasattr(table, "__arrow_c_stream__"):  # of cuDF, on the GPU
        table, names = (table if names is None else table[names]).to_arrow(), None
    if isinstance(table, dataset.Dataset):
        return table.to_table(columns=names)
    if not isinstance(table, (pa.Table, pa.RecordBatchReader)):
        if names is not None and hasattr(table, "select"):
            table = table.select(*names)  # DuckDB and polars then compute no others
        table = pa.RecordBatchReader.from_stream(table)
    found = table.read_all() if isinstance(table, pa.RecordBatchReader) else table
    return found if names is None else found.select(names)


def column_names(table: Any) -> list[str]:
    """The names of the columns of a table; `table` and errors are those of `read_columns`."""
    if is_path(table):
        table = _files(table)
    if hasattr(table, "collect_schema"):
        return list(table.collect_schema().names())
    if any(hasattr(table, how) for how in ("__arrow_c_stream__", "__arrow_c_array__", "to_table", "to_arrow")):
        names = table.schema.names if hasattr(table, "schema") else table.columns
        return list(names() if callable(names) else names)  # a method of polars
    kind = type(table).__name__
    raise ArgumentError(f"table: expected paths or columns of Arrow, got {kind}; convert it with pyarrow.table")


def is_path(table: Any) -> bool:
    """Whether a table is given as paths."""
    paths = table if isinstance(table, (list, tuple)) else [table]
    return all(isinstance(each, (str, os.PathLike)) for each in paths)


def _files(table: Any) -> Any:
    """The dataset of files."""
    from pyarrow import dataset

    if table in ([], ()):
        raise ArgumentError("table: no files are given")
    paths = []
    for given in map(os.fspath, table if isinstance(table, (list, tuple)) else [table]):
        found = sorted(glob.glob(given)) if glob.has_magic(given) and not os.path.exists(given) else [given]
        if not found:
            raise ArgumentError(f"table: no file matches {given!r}")
        paths += found
    if len(paths) == 1 and os.path.isdir(paths[0]):
        return dataset.dataset(paths[0], format="parquet")
    formats = {Path(path).suffix.lower() for path in paths}
    if len(formats) > 1 or not formats <= set(_FORMATS):
        raise ArgumentError(f"table: expected one format of {', '.join(_FORMATS)}, got {', '.join(sorted(formats))}")
    return dataset.dataset(paths, format=_FORMATS[formats.pop()])


def to_tensor(column: pyarrow.ChunkedArray, name: str) -> Tensor:
    """The numbers of a column, [n], of lists of the same length [n, d].

    Decimal numbers become float64; times int64, in the unit of the column; unsigned ones the next larger dtype.
    Raises ArgumentError for missing values, lists of different lengths, and text, with the row and the `name`.
    """
    import pyarrow as pa

    _refuse_missing(column, name)
    kind = column.type
    if pa.types.is_dictionary(kind):
        return to_tensor(column.cast(kind.value_type), name)
    if pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _lists(column, name)
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    elif pa.types.is_temporal(kind):
        column = (column.cast(pa.int32()) if kind.bit_width == 32 else column).cast(pa.int64())
    elif pa.types.is_unsigned_integer(kind) and kind.bit_width > 8:
        try:
            column = column.cast(pa.int32() if kind.bit_width == 16 else pa.int64())
        except pa.ArrowInvalid as fault:
            raise ArgumentError(f"{name}: {fault}; convert the column to double") from fault
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        remedy = "number its values, by dictionary_encode for instance"
        raise ArgumentError(f"{name}: is of type {kind}, tensors hold numbers; {remedy}")
    if not len(column):
        return torch.from_numpy(pa.array([], column.type).to_numpy(zero_copy_only=False).copy())
    numbers = column.to_numpy()
    return torch.from_numpy(numbers if numbers.flags.writeable else numbers.copy())


def _refuse_missing(column: pyarrow.ChunkedArray, name: str, width: int = 1) -> None:
    if column.null_count:
        row = column.is_null().index(True).as_py() // width
        raise ArgumentError(f"{name}: row {row} has no value; fill or drop the rows that miss one")


def _lists(column: pyarrow.ChunkedArray, name: str) -> Tensor:
    import pyarrow.compute as pc

    if not len(column):
        width = getattr(column.type, "list_size", 0)
    else:
        lengths = pc.list_value_length(column)
        width = lengths[0].as_py()
        other = pc.index(pc.equal(lengths, width), False).as_py()
        if other >= 0:
            got = lengths[other].as_py()
            raise ArgumentError(f"{name}: the list of row {other} has {got} numbers, that of row 0 {width}; pad them")
    flat = pc.list_flatten(column)
    _refuse_missing(flat, name, max(width, 1))
    values = to_tensor(flat, name)
    return values.view(len(column), width, *values.shape[1:])


Graph.from_table = staticmethod(from_table)
