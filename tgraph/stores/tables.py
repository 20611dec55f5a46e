"""Tables of vertices and edges put into stores.

    papers = Ids()
    put_features(features, "paper", "papers-*.parquet", {"x": "embedding", "y": "label"}, id="doi", ids=papers)
    put_edges(edges, ("paper", "cites", "paper"), duckdb.sql("SELECT citing, cited FROM citations"), "citing", "cited",
              ids=papers)

Tables are those of `tgraph.io.arrow.read_columns`: files, tables of pyarrow, pandas or polars, queries of DuckDB.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from tgraph.core.rows import offset_of
from tgraph.errors import ArgumentError
from tgraph.io.arrow import column_names, is_path, read_columns, to_tensor
from tgraph.io.text.names import find_columns
from tgraph.stores.feature_store import EDGES, FeatureStore
from tgraph.stores.graph_store import GraphStore
from tgraph.stores.ids import Ids

Columns = Mapping[str, str | Sequence[str]]


def put_features(
    features: FeatureStore,
    group: str | None,
    table: Any,
    columns: Columns | Sequence[str] | None = None,
    *,
    id: str | None = None,
    ids: Ids | None = None,
) -> None:
    """Put columns of a `table` with one row per vertex of a type as its features.

    features : the store. group : the type of vertices, None for a homogeneous graph. columns : by the name of the
    feature, a column, of numbers or of lists of the same length, or several, concatenated to a matrix; or names of
    columns; by default all but `id`. id, ids : the column of original ids, and their dictionary: the number of the id
    is the row of the feature, by default the row of the table. Features are read from files one after the other, with
    one in memory at a time; other tables are read once.

    Raises ArgumentError, before anything is written, for missing or non-numeric columns, a repeated id, and ids of the
    dictionary missing in the table.

    >>> import pyarrow
    >>> from tgraph import stores
    >>> features = stores.FeatureStore()
    >>> table = pyarrow.table({"year": [1999, 2005], "x": [[0.5, 1.0], [2.0, 3.0]]})
    >>> stores.put_features(features, "paper", table)
    >>> features["paper", "year", None], features["paper", "x", None]
    (tensor([1999, 2005]), tensor([[0.5000, 1.0000],
            [2.0000, 3.0000]], dtype=torch.float64))
    """
    if (id is None) != (ids is None):
        raise ArgumentError("id, ids: give the column of the ids and the dictionary, or neither")
    wanted = _by_name([name for name in column_names(table) if name != id] if columns is None else columns)
    every = [name for names in wanted.values() for name in names] + ([] if id is None else [id])
    table = table if is_path(table) else read_columns(table, every)
    place = None if id is None or ids is None else _places(ids, read_columns(table, [id]).column(id), id)
    for name, names in wanted.items():
        found = _matrix(read_columns(table, names), names)
        if place is not None:
            found = torch.empty_like(found).index_copy_(0, place, found)
        features[group, name, None] = found


def put_edges(
    graph: GraphStore,
    edge_type: tuple[str, str, str] | None,
    table: Any,
    source: str | None = None,
    target: str | None = None,
    *,
    ids: Ids | tuple[Ids, Ids] | None = None,
    unknown: Literal["error", "add", "drop"] = "error",
    size: tuple[int, int] | None = None,
    features: FeatureStore | None = None,
    columns: Columns | Sequence[str] = (),
) -> None:
    """Put a `table` with one row per edge into a graph store, by destination (CSC), for sampling without sorting.

    edge_type : (source, relation, destination), None for a homogeneous graph. source, target : names of columns, by
    default recognised by convention. ids : the dictionary of the ids at both ends, or one for each; by default ids are
    numbers of vertices. unknown : whether ids missing in the dictionary are an error, are added, or drop the edge.
    size : the numbers of vertices; by default of `ids`, or the smallest that fit. features, columns : the store of edge
    features, and their columns, as in `put_features`.

    Raises ArgumentError, before anything is written, for missing columns, unknown ids, and ends out of range.

    >>> import pyarrow
    >>> from tgraph import stores
    >>> edges, ids = stores.GraphStore(), stores.Ids()
    >>> table = pyarrow.table({"source": ["a", "b"], "target": ["b", "c"]})
    >>> stores.put_edges(edges, ("paper", "cites", "paper"), table, ids=ids, unknown="add")
    >>> edges[("paper", "cites", "paper"), "csc"], ids.of([0, 1, 2])
    ((tensor([0, 1]), tensor([0, 0, 1, 2])), ['a', 'b', 'c'])
    """
    if unknown not in ("error", "add", "drop"):
        raise ArgumentError(f"unknown: expected 'error', 'add' or 'drop', got {unknown!r}")
    if columns and features is None:
        raise ArgumentError("features: give the store that takes the columns of the edges")
    wanted = _by_name(columns)
    ends = find_columns("the table", column_names(table), source, target, None, False)[:2]
    read = read_columns(table, [*ends, *(name for names in wanted.values() for name in names)])
    row, col, kept = _numbered([read.column(name) for name in ends], ends, ids, unknown)
    data = {name: _matrix(read, names) for name, names in wanted.items()}
    size = size or _size(row, col, ids, edge_type is None)
    if len(col) and not (0 <= int(col.min()) <= int(col.max()) < size[1]):
        raise ArgumentError(f"size: is {size}, but the edges lead to {int(col.min())} to {int(col.max())}")
    order = col.argsort(stable=True)
    offset = offset_of(col.bincount(minlength=size[1]))
    graph[edge_type, "csc", True, size] = row[order], offset
    for name, values in data.items():
        assert features is not None
        values = values if kept is None else values[kept]
        features[EDGES if edge_type is None else edge_type, name, None] = values[order]


def _by_name(columns: Columns | Sequence[str]) -> dict[str, list[str]]:
    """The columns of each feature."""
    named = columns if isinstance(columns, Mapping) else {name: name for name in columns}
    return {name: [names] if isinstance(names, str) else list(names) for name, names in named.items()}


def _matrix(table: Any, names: list[str]) -> Tensor:
    """Columns concatenated to a matrix; a single column unchanged."""
    parts = [to_tensor(table.column(name), name) for name in names]
    if len(parts) == 1:
        return parts[0]
    kind = parts[0].dtype
    for part in parts:
        kind = torch.promote_types(kind, part.dtype)
    return torch.cat([part.to(kind).view(len(part), -1) for part in parts], 1)


def _places(ids: Ids, column: Any, name: str) -> Tensor:
    """The row of each id. Raises ArgumentError unless all ids occur exactly once."""
    place = ids.add(column)
    counts = place.bincount(minlength=len(ids))
    if bool((counts != 1).any()):
        number = int((counts != 1).nonzero()[0])
        found = ids.of([number])[0]
        raise ArgumentError(f"{name}: {found!r} occurs {int(counts[number])} times; a vertex has one row")
    return place


def _numbered(columns: list[Any], names: Sequence[str], ids: Any, unknown: str) -> tuple[Tensor, Tensor, Tensor | None]:
    """(sources, destinations, their rows in the table or None for all)"""
    if ids is None:
        row, col = (to_tensor(column, name).to(torch.int64) for column, name in zip(columns, names, strict=True))
        return row, col, None
    both = ids if isinstance(ids, tuple) else (ids, ids)
    if unknown == "add":
        row, col = (held.add(column) for held, column in zip(both, columns, strict=True))
        return row, col, None
    outside = None if unknown == "error" else -1
    row, col = (held.numbers(column, outside) for held, column in zip(both, columns, strict=True))
    kept = ((row >= 0) & (col >= 0)).nonzero().squeeze(1)
    return row[kept], col[kept], kept


def _size(row: Tensor, col: Tensor, ids: Ids | tuple[Ids, Ids] | None, is_square: bool) -> tuple[int, int]:
    if ids is not None:
        both = ids if isinstance(ids, tuple) else (ids, ids)
        return len(both[0]), len(both[1])
    rows, columns = (int(ends.max()) + 1 if len(ends) else 0 for ends in (row, col))
    return (max(rows, columns),) * 2 if is_square else (rows, columns)
