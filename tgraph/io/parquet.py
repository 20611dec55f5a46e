"""Parquet tables with one row per edge."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.atomic_write import replacing
from tgraph.io.edges import Ids, Rules, columns_of_edges, named_edges
from tgraph.io.text.banners import refuse_others
from tgraph.io.text.names import Columns, find_columns, further_columns

if TYPE_CHECKING:
    import pyarrow

_DIRECTED = b"tgraph.directed"


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
    """Read the columns of sources, targets, weights and `columns` only; arguments are explained in `tgraph.read`.

    Ids are integers or strings. Without `directed`, the metadata of `write` decide; by default the graph is directed.
    Raises FileFormatError for another file, a missing value or a column of another type.

    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [3, 7]), "calls.parquet")
    >>> graph = tg.read("calls.parquet")
    >>> graph.directed, graph.weights
    (True, tensor([3, 7]))
    """
    from pyarrow import parquet

    with whole_file(path, "parquet"):
        schema = parquet.read_schema(path)
        found = find_columns(path, schema.names, source, target, weight, weights is not False)
        further = further_columns(path, schema.names, found, columns)
        wanted = list(dict.fromkeys([*(name for name in found if name), *further]))
        table = parquet.read_table(path, columns=wanted, memory_map=True, page_checksum_verification=True)
    one_way = says_directed(schema) if directed is None else directed
    return build(path, table, found, one_way, multi, self_loops, ids, further)


@contextmanager
def whole_file(path: PathLike, format: str) -> Iterator[None]:
    """Turn Arrow's errors for a damaged file, or a file of another format, into FileFormatError."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as fault:
        if isinstance(fault, OSError) and fault.errno is not None:
            raise
        refuse_others(path, format)
        raise FileFormatError(
            path, f"not a whole {format.capitalize()} file ({fault})", "write or fetch it again"
        ) from fault


def build(
    path: PathLike,
    table: pyarrow.Table,
    found: tuple[str, str, str | None],
    directed: bool,
    multi: Multi,
    self_loops: SelfLoops,
    ids: Ids,
    further: Sequence[Any] = (),
) -> Graph:
    """The graph of the columns of sources, targets and weights of a table, and `further` ones; `path` : for errors."""
    columns = {name: table.column(name) for name in further}
    return Rules(directed, multi, self_loops, ids).build(*edge_columns(path, table, found, ids), columns)


def edge_columns(
    path: PathLike, table: pyarrow.Table, found: tuple[str, str, str | None], ids: Ids
) -> tuple[Any, Any, np.ndarray | None]:
    """(sources, targets, weights or None) of the columns `found`; ids are integer arrays or arrow columns of text."""
    src, dst = (id_column(path, table.column(name), name, ids) for name in found[:2])
    if isinstance(src, np.ndarray) != isinstance(dst, np.ndarray):
        problem = f"column {found[0]!r} is {table.column(found[0]).type}, {found[1]!r} is {table.column(found[1]).type}"
        raise FileFormatError(path, problem, 'give both the same type, or read both as labels: ids="text"')
    values = None if found[2] is None else _weights(path, table.column(found[2]), found[2])
    return src, dst, values


def is_directed(path: PathLike) -> bool:
    """Whether the edges of a file are directed, by the metadata of `write`; True by default."""
    from pyarrow import parquet

    with whole_file(path, "parquet"):
        return says_directed(parquet.read_schema(path))


def says_directed(schema: pyarrow.Schema) -> bool:
    """Whether the metadata of a table say so, as those of `write` do; True by default."""
    return (schema.metadata or {}).get(_DIRECTED) != b"false"


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
    from pyarrow import parquet

    with whole_file(path, "parquet"):
        schema = parquet.read_schema(path)
    return columns_of(path, schema, source, target, weight, weights)


def columns_of(
    path: PathLike,
    schema: pyarrow.Schema,
    source: str | None,
    target: str | None,
    weight: str | None,
    weights: bool | None,
) -> Columns:
    """The columns that are taken of a table with this schema."""
    import pyarrow as pa

    found = find_columns(path, schema.names, source, target, weight, weights is not False)
    left = [field for field in schema if field.name not in found]
    numbers = tuple(each.name for each in left if pa.types.is_integer(each.type) or pa.types.is_floating(each.type))
    return Columns(*found, numbers, tuple(each.name for each in left if each.name not in numbers))


def id_column(path: PathLike, column: pyarrow.ChunkedArray, name: str, ids: Ids) -> Any:
    """The ids of a column: an integer array, or text of Arrow."""
    import pyarrow as pa

    _refuse_missing(path, column, name)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_integer(kind):
        if ids == "text":
            return column.cast(pa.string()).cast(pa.large_string())
        try:
            numbers = column.cast(pa.int64()).to_numpy()
        except pa.ArrowInvalid as fault:
            raise FileFormatError(path, f"column {name!r}: {fault}", 'read labels instead: ids="text"') from fault
        if ids == "keep" and numbers.size and numbers.min() < 0:
            row = int((numbers < 0).argmax())
            problem = f"column {name!r} row {row}: the id {numbers[row]} is negative"
            raise FileFormatError(path, problem, 'ids="compact" relabels ids 0..n-1')
        return _writable(numbers)
    if str(kind) in ("string", "large_string", "string_view"):
        if ids in ("keep", "compact"):
            raise ArgumentError(f"ids: column {name!r} of {path} holds text, which ids={ids!r} cannot take")
        return column.cast(pa.large_string())
    raise FileFormatError(path, f"column {name!r} is of type {kind}", "ids are integers or strings, convert the column")


def _weights(path: PathLike, column: pyarrow.ChunkedArray, name: str) -> np.ndarray:
    import pyarrow as pa

    _refuse_missing(path, column, name)
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        problem = f"column {name!r} is of type {column.type}"
        raise FileFormatError(path, problem, "weights are numbers: convert the column or pass weights=False")
    if pa.types.is_uint64(column.type):
        try:
            column = column.cast(pa.int64())
        except pa.ArrowInvalid as fault:
            raise FileFormatError(path, f"column {name!r}: {fault}", "convert the column to double") from fault
    return _writable(column.to_numpy())


def _refuse_missing(path: PathLike, column: pyarrow.ChunkedArray, name: str) -> None:
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise FileFormatError(path, f"column {name!r} row {row} has no value", "fill or drop the rows that miss one")


def _writable(numbers: np.ndarray) -> np.ndarray:
    return numbers if numbers.flags.writeable else numbers.copy()


def write(graph: Graph, path: PathLike, alone: bool = False) -> None:
    """Write the columns source, target and, where there are weights, weight, then those of the arcs; each undirected
    edge once. `alone` : whether isolated vertices are left out without a warning.

    >>> import pandas
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [3, 7]), "calls.parquet")
    >>> pandas.read_parquet("calls.parquet")
       source  target  weight
    0       0       1       3
    1       1       2       7
    """
    from pyarrow import parquet

    table = table_of(graph, alone)
    with replacing(path) as temporary:
        parquet.write_table(table, os.fspath(temporary), write_page_checksum=True)


def table_of(graph: Graph, alone: bool = False) -> pyarrow.Table:
    """The table of edges that `write` writes, whose metadata say whether they are directed; `alone` as of
    `named_edges`."""
    import pyarrow as pa

    columns = named_edges(graph, "a table of edges", alone)
    text = {name: pa.array(values, pa.string()) for name, values in columns.items() if values.dtype == object}
    table = pa.table(columns | text | columns_of_edges(graph, columns))
    return table.replace_schema_metadata({_DIRECTED: b"true" if graph.directed else b"false"})
