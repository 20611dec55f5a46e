"""A table with one row per vertex, beside a table of edges: ids, and the data that become columns of vertices."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.columns import flat
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.atomic_write import replacing
from tgraph.io.edges import Ids, text_labels
from tgraph.io.parquet import id_column, whole_file
from tgraph.io.text.names import customary

if TYPE_CHECKING:
    import pyarrow

_KINDS = {".parquet": "parquet", ".pq": "parquet", ".csv": ",", ".tsv": "\t"}
_KINDS |= dict.fromkeys((".feather", ".arrow", ".ipc"), "feather")
NAMES = ("vertex", "id", "node", "vertex_id", "node_id", "vertexid", "nodeid", ":id")


def joined(graph: Graph, rows: pyarrow.Table, ids: Ids, where: PathLike = "vertices") -> Graph:
    """The graph with a row for each vertex: first those of the `rows`, in their order, isolated ones too, then others
    that have an edge, without data. `where` : for errors.

    Raises FileFormatError for an id that is missing, or in two rows, and ArgumentError for ids of another type than
    those of the edges.
    """
    names = rows.column_names
    key = customary(names, NAMES) or (names[0] if names else None)
    if key is None:
        raise FileFormatError(where, "the table of vertices has no column", "give it one of ids, called vertex")
    given = id_column(where, rows.column(key), key, ids)
    listed = given.tolist() if isinstance(given, np.ndarray) else given.to_pylist()
    if len(place := {each: row for row, each in enumerate(listed)}) < len(listed):
        row = next(row for row, each in enumerate(listed) if place[each] != row)
        problem = f"column {key!r} row {row}: the id {listed[row]!r} is in row {place[listed[row]]} too"
        raise FileFormatError(where, problem, "give each vertex one row")
    labels = range(graph.num_vertices) if graph.vertices is None else graph.vertices.tolist()
    if labels and listed and type(labels[0]) is not type(listed[0]):
        kinds = f"those of edges are {type(labels[0]).__name__}, of vertices {type(listed[0]).__name__}"
        raise ArgumentError(f'vertices: the ids differ in type, {kinds}; read both as labels: ids="text"')
    known = set(labels)
    isolated = [each for each in listed if each not in known]
    if ids == "keep":  # whose numbers are vertices
        isolated = list(range(graph.num_vertices, max(listed, default=-1) + 1))
    every = [*labels, *isolated]
    index = {each: i for i, each in enumerate(every)}
    first = list(every) if ids == "keep" else [*listed, *(each for each in every if each not in place)]
    order = torch.tensor([index[each] for each in first], dtype=torch.int64)
    return _ordered(graph, every, order).with_columns(vertices=_columns(rows, key, [place.get(each) for each in first]))


def _ordered(graph: Graph, every: list[Any], order: Tensor) -> Graph:
    """The graph with the vertices of the labels `every`, the last of them isolated, in another order."""
    offset, neighbors, weights = graph.storage.to_csr()
    offset = torch.cat([offset, offset[-1:].expand(len(every) - graph.num_vertices)])
    whole = Graph(offset, neighbors, weights, _unless_numbers(every), graph.directed)
    whole = whole.with_columns(arcs=dict(graph.arc_columns))
    if torch.equal(order, torch.arange(len(every))):
        return whole
    turned = whole.subgraph(order)
    ids = _unless_numbers([every[i] for i in order.tolist()])
    same = Graph(turned.offset, turned.neighbors, turned.weights, ids, turned.directed)
    return same.with_columns(arcs=dict(turned.arc_columns))


def _unless_numbers(labels: list[Any]) -> Any:
    """The labels as ids; None for 0..n-1 in order."""
    return None if labels == list(range(len(labels))) else labels


def _columns(rows: pyarrow.Table, key: str, places: list[int | None]) -> dict[str, Any]:
    import pyarrow as pa

    return {name: rows.column(name).take(pa.array(places, pa.int64())) for name in rows.column_names if name != key}


def read(path: PathLike, ids: Ids) -> pyarrow.Table:
    """The table in a file, with ids as text for `ids="text"`."""
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    kind = _kind(path)
    with whole_file(path, {",": "csv", "\t": "csv"}.get(kind, kind)):
        if kind == "parquet":
            return parquet.read_table(path)
        if kind == "feather":
            return feather.read_table(os.fspath(path), memory_map=False)
        parsed = csv.ParseOptions(delimiter=kind)
        if ids != "text":
            return csv.read_csv(os.fspath(path), parse_options=parsed)
        with csv.open_csv(os.fspath(path), parse_options=parsed) as reader:
            key = customary(reader.schema.names, NAMES) or reader.schema.names[0]
        as_text = csv.ConvertOptions(column_types={key: pa.string()})
        return csv.read_csv(os.fspath(path), parse_options=parsed, convert_options=as_text)


def _kind(path: PathLike) -> str:
    extension = Path(path).suffix.lower()
    if extension not in _KINDS:
        raise ArgumentError(f"vertices: a table is {', '.join(_KINDS)}, got {Path(path).name!r}")
    return _KINDS[extension]


def write(graph: Graph, path: PathLike) -> None:
    """Write a table of the column vertex, original ids, and the columns of vertices, as `Graph.frame` has them."""
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    kind, ids = _kind(path), graph.vertices
    if ids is None:
        key = pa.array(np.arange(graph.num_vertices))
    else:
        key = pa.array(ids.cpu().numpy()) if isinstance(ids, Tensor) else pa.array(text_labels(ids), pa.string())
    table = pa.table({"vertex": key} | flat(graph.vertex_columns, ("vertex",)))
    with replacing(path) as temporary:
        if kind == "parquet":
            parquet.write_table(table, os.fspath(temporary), write_page_checksum=True)
        elif kind == "feather":
            feather.write_feather(table, os.fspath(temporary))
        else:
            csv.write_csv(table, os.fspath(temporary), csv.WriteOptions(delimiter=kind))
