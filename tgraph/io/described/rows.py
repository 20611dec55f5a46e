"""What is written of a graph: its ids, its edges, and the columns of both as plain values."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tgraph.core.columns import flat
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.io.edges import columns_of_edges, edges_of, text_labels

KINDS = {"i": "int", "u": "int", "f": "float", "b": "bool"}


@dataclass(frozen=True)
class Values:
    """A column: `kind` int, float, bool or text; None for a missing value."""

    kind: str
    values: list[Any]


@dataclass(frozen=True)
class Rows:
    """A graph as plain values. `names` : the ids of the vertices, all int or all str; `edges` : (source, target) as
    vertices, each undirected edge once; `of_vertices`, `of_edges` : columns, the weights among these."""

    directed: bool
    names: list[Any]
    edges: list[tuple[int, int]]
    of_vertices: dict[str, Values]
    of_edges: dict[str, Values]

    def vertex_data(self) -> Iterator[dict[str, Any]]:
        """The data of each vertex, without missing values."""
        return _dicts(self.of_vertices, len(self.names))

    def edge_data(self) -> Iterator[dict[str, Any]]:
        """The data of each edge, without missing values."""
        return _dicts(self.of_edges, len(self.edges))


def rows_of(
    graph: Graph,
    purpose: str,
    *,
    columns: bool = True,
    reserved: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
    unsafe: re.Pattern[str] | None = None,
    names: re.Pattern[str] | None = None,
) -> Rows:
    """The rows of a graph for a format, named `purpose` in messages.

    `columns` : whether the format holds any. `reserved` : names that those of vertices and of edges cannot have there.
    `unsafe` : what no text may contain. `names` : what names of columns match. Warns of columns that are left out;
    raises ArgumentError for labels and names that the format cannot hold.
    """
    if not columns:
        graph = Graph(graph.offset, graph.neighbors, graph.weights, graph.vertices, graph.directed)
    labels = graph.vertices
    ids = range(graph.num_vertices) if labels is None else labels.tolist()
    if labels is not None and not isinstance(labels, torch.Tensor):
        ids = text_labels(labels).tolist()
        if ids and all(re.fullmatch(r"0|-?[1-9]\d{0,18}", label) for label in ids):
            remedy = "write .json, .parquet or .tg"
            raise ArgumentError(
                f"graph.vertices: {purpose} would read the labels as integers, {ids[0]!r} first; {remedy}"
            )
    src, dst, weights = edges_of(graph)
    weighed = {} if weights is None else {"weight": weights}
    of_edges = _held(weighed | columns_of_edges(graph, weighed), reserved[1], purpose, names)
    of_vertices = _held(flat(graph.vertex_columns), reserved[0], purpose, names)
    if unsafe is not None:
        texts = [each.values for each in (*of_vertices.values(), *of_edges.values()) if each.kind == "text"]
        for text in (*ids, *of_vertices, *of_edges, *(text for values in texts for text in values)):
            if isinstance(text, str) and unsafe.search(text):
                raise ArgumentError(f"graph: the text {text[:60]!r} cannot stand in {purpose}; write .parquet or .tg")
    return Rows(graph.directed, list(ids), list(zip(src.tolist(), dst.tolist(), strict=True)), of_vertices, of_edges)


def _held(
    columns: Mapping[str, Any], reserved: tuple[str, ...], purpose: str, names: re.Pattern[str] | None
) -> dict[str, Values]:
    held: dict[str, Values] = {}
    left = []
    for name, column in columns.items():
        if name in reserved or (names is not None and not names.fullmatch(name)):
            raise ArgumentError(f"columns: {purpose} has no place for a column {name!r}; rename it by with_columns")
        kind = KINDS.get(column.dtype.kind) if isinstance(column, np.ndarray) else _kind(column.type)
        if kind is None:
            left.append(name)
        else:
            held[name] = Values(kind, column.tolist())
    if left:
        text = f"{purpose} holds numbers, bools and text: the columns {', '.join(left)} are left out; .tg keeps them"
        warnings.warn(text, stacklevel=5)
    return held


def _kind(of: Any) -> str | None:
    import pyarrow as pa

    tests = {"int": pa.types.is_integer, "float": pa.types.is_floating, "bool": pa.types.is_boolean}
    tests["text"] = lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return next((kind for kind, test in tests.items() if test(of)), None)


def _dicts(columns: dict[str, Values], count: int) -> Iterator[dict[str, Any]]:
    for i in range(count):
        yield {name: value for name, each in columns.items() if (value := each.values[i]) is not None}
