"""The graph of a file that describes vertices and edges."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.columns import as_column
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.io.columns import Column, columns_of
from tgraph.io.edges import Ids, Rules, check_declared
from tgraph.io.text.names import WEIGHTS

Id = int | str
_INTEGER = re.compile(r"0|-?[1-9]\d{0,18}")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?(inf|infinity|nan)", re.IGNORECASE)


@dataclass
class Described:
    """What a file says. `directed` : the direction of edges that do not say it themselves. `implied` : whether an edge
    may name vertices that are not declared."""

    path: PathLike
    directed: bool
    implied: bool = False
    vertices: dict[Id, dict[str, Any]] = field(default_factory=dict)
    edges: list[tuple[Id, Id, dict[str, Any], bool]] = field(default_factory=list)

    def vertex(self, name: Id, data: dict[str, Any], line: int | None = None) -> None:
        """Declare a vertex. Raises FileFormatError for one that is declared already."""
        if name in self.vertices and not self.implied:
            raise FileFormatError(self.path, f"two vertices are called {name!r}", "give each its own id", line=line)
        self.vertices.setdefault(name, {}).update(data)

    def edge(self, source: Id, target: Id, data: dict[str, Any], directed: bool | None = None) -> None:
        """Add an edge; `directed` : its own direction."""
        if self.implied:
            self.vertices.setdefault(source, {})
            self.vertices.setdefault(target, {})
        self.edges.append((source, target, data, self.directed if directed is None else directed))

    def name_by(self, key: str) -> None:
        """Take the values of `key` as the ids where every vertex has another one; else the key stays a column."""
        names = [str(data[key]) for data in self.vertices.values() if data.get(key) is not None]
        if len(set(names)) < len(self.vertices):
            return
        known = dict(zip(self.vertices, names, strict=True))
        self.vertices = dict(zip(names, self.vertices.values(), strict=True))
        for data in self.vertices.values():
            del data[key]
        self.edges = [(self._known(known, u), self._known(known, v), *rest) for u, v, *rest in self.edges]

    def _known(self, known: dict[Any, Any], name: Id) -> Any:
        if name not in known:
            problem = f"an edge names the vertex {str(name)[:60]!r}, which is not declared"
            raise FileFormatError(self.path, problem, "declare it, or correct the edge")
        return known[name]

    def number(self, ids: Ids) -> tuple[list[int], list[int], list[dict[str, Any]], Any]:
        """(sources, targets, data of the vertices, their original ids or None), as `ids` of `tgraph.read` says."""
        names = list(self.vertices)
        integers = all(_INTEGER.fullmatch(str(name)) and abs(int(name)) < 2**63 for name in names)
        if ids in ("keep", "compact") and not integers:
            odd = next(name for name in names if not _INTEGER.fullmatch(str(name)))
            raise ArgumentError(f"ids: {self.path} has the id {odd!r}, which ids={ids!r} cannot take")
        if ids == "text" or not integers:
            place = dict(zip(names, range(len(names)), strict=True))
            labels = np.array([str(name) for name in names], dtype=object)
            if len(set(labels)) < len(labels):
                raise FileFormatError(self.path, "an integer and a text are the same id", "give each vertex its own id")
            return *self._ends(place), list(self.vertices.values()), labels
        numbers = {name: int(name) for name in names}
        if len(set(numbers.values())) < len(numbers):
            raise FileFormatError(self.path, "an integer and a text are the same id", "give each vertex its own id")
        if ids == "keep":
            if min(numbers.values(), default=0) < 0:
                problem = f"the id {min(numbers.values())} is negative"
                raise FileFormatError(self.path, problem, 'ids="compact" relabels ids 0..n-1')
            count = max(numbers.values(), default=-1) + 1
            check_declared(self.path, count, len(self.edges), None)
            rows: list[dict[str, Any]] = [{} for _ in range(count)]
            for name, number in numbers.items():
                rows[number] = self.vertices[name]
            return *self._ends(numbers), rows, None
        names.sort(key=int)
        place = dict(zip(names, range(len(names)), strict=True))
        originals = torch.tensor([int(name) for name in names], dtype=torch.int64, device="cpu")
        identity = bool((originals == torch.arange(len(names), device="cpu")).all())
        return *self._ends(place), [self.vertices[name] for name in names], None if identity else originals

    def _ends(self, place: dict[Any, int]) -> tuple[list[int], list[int]]:
        return [self._known(place, u) for u, *_ in self.edges], [self._known(place, v) for _, v, *_ in self.edges]


def graph_of(
    found: Described,
    *,
    directed: bool | None = None,
    weights: bool | None = None,
    weight: str | None = None,
    multi: Multi = "keep",
    self_loops: SelfLoops = "keep",
    ids: Ids = "auto",
    columns: bool | Sequence[str] | None = None,
) -> Graph:
    """The graph of what a file says; arguments are explained in `tgraph.read`. Data of vertices and edges become
    columns unless `columns` says otherwise; values of several types become text. Where some edges are directed and
    others not, the graph is directed, with both arcs of the others.

    Raises FileFormatError for an edge of a vertex that is not declared, and for weights that are not numbers.
    """
    src, dst, rows, vertices = found.number(ids)
    data, ways = [each for *_, each, _ in found.edges], {way for *_, way in found.edges} or {found.directed}
    if len(ways) == 2 and directed is not False:
        back = [i for i, (*_, way) in enumerate(found.edges) if not way and src[i] != dst[i]]
        src, dst = src + [dst[i] for i in back], dst + [src[i] for i in back]
        data = data + [data[i] for i in back]
    of_edges, of_vertices = columns_of(data, None), columns_of(rows, None)
    name, values = _weights(found, of_edges, weight, weights)
    of_edges.pop(name, None)
    chosen = _chosen(found.path, columns, of_edges, of_vertices)
    one_way = directed if directed is not None else True in ways
    rules = Rules(one_way, multi, self_loops, "keep", len(rows), vertices, listed_once=ways == {False})
    graph = rules.build(
        np.array(src, dtype=np.int64),
        np.array(dst, dtype=np.int64),
        values,
        {name: _values(each) for name, each in of_edges.items() if name in chosen},
    )
    return graph.with_columns(vertices={name: _values(each) for name, each in of_vertices.items() if name in chosen})


def _chosen(path: PathLike, columns: bool | Sequence[str] | None, *held: dict[Any, Column]) -> set[str]:
    known = dict.fromkeys(name for each in held for name in each)
    if columns is None or isinstance(columns, bool):
        return set() if columns is False else set(known)
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise ArgumentError(f"columns: expected a list of names, True or False, got {columns!r}")
    for name in columns:
        if name not in known:
            listed = ", ".join(map(repr, known)) or "none"
            raise ArgumentError(f"columns: {path} has no column {name!r}; its columns are {listed}")
    return set(columns)


def _weights(
    found: Described, columns: dict[Any, Column], weight: str | None, weights: bool | None
) -> tuple[str | None, Any]:
    """(name of the column of weights, their values, 1 for edges without) or (None, None)."""
    if weights not in (None, True, False):
        raise ArgumentError(f"weights: {found.path} has named data, so pass weight='name' instead of {weights!r}")
    if weight is not None and weight not in columns:
        listed = ", ".join(map(repr, columns)) or "none"
        raise ArgumentError(f"weight: {found.path} has no data {weight!r} of edges; those are {listed}")
    known = {str(name).lower(): name for name in reversed(columns)}
    name = weight or next((known[each] for each in WEIGHTS if each in known), None)
    if name is None and "value" in known and isinstance(columns[known["value"]].values, torch.Tensor):
        name = known["value"]  # by custom in GML, and in JSON for d3
    if name is None or weights is False:
        return name, None
    column = columns[name]
    try:
        if not isinstance(column.values, torch.Tensor):
            spelled = [as_number(value) if isinstance(value, str) else value for value in column.tolist()]
            column = Column(np.fromiter(spelled, dtype=object, count=len(spelled)))
        values = column.numbers(1)
    except (TypeError, OverflowError) as fault:
        remedy = "correct it, pass weight='name' for other data, or weights=False"
        raise FileFormatError(found.path, f"the {name!r} of an edge: {fault}", remedy) from fault
    return name, values.long() if values.dtype == torch.bool else values


def _values(column: Column) -> Any:
    values: Any = column.given()
    if isinstance(values, torch.Tensor):
        return values
    try:
        return as_column(values, len(values), torch.device("cpu"), "")
    except ArgumentError:
        return as_column(
            [None if value is None else str(value) for value in values], len(values), torch.device("cpu"), ""
        )


def as_number(text: str) -> Any:
    """The int or float that a text spells, else the text.

    >>> from tgraph.io.described.graph import as_number
    >>> as_number("7"), as_number("7."), as_number("007"), as_number("x")
    (7, 7.0, 7, 'x')
    """
    if not _NUMBER.fullmatch(text):
        return text
    if text.lstrip("+-").isdigit():
        return int(text) if len(text) < 4000 else text
    return float(text)


def drop(dicts: Collection[dict[str, Any]], key: str, usual: Iterable[str]) -> None:
    """Remove a `key` whose values are the `usual` ones in all of the dicts."""
    if all(data.get(key) == value for data, value in zip(dicts, usual, strict=True)):
        for data in dicts:
            del data[key]


def flattened(pairs: Iterable[tuple[str, Any]], prefix: str = "") -> dict[str, Any]:
    """Nested dicts as one, with the names joined by underscores."""
    flat: dict[str, Any] = {}
    waiting = [(prefix + name, value) for name, value in pairs]
    while waiting:
        name, value = waiting.pop(0)
        if isinstance(value, dict):
            waiting[:0] = [(f"{name}_{inner}", each) for inner, each in value.items()]
        else:
            flat[name] = value
    return flat


def reader(parse: Callable[..., Described]) -> Callable[..., Graph]:
    """The `read` of a format, whose options are those of `parse`, of (path, encoding=None, ...), and of `graph_of`."""
    own = inspect.signature(parse).parameters
    shared = [each for name, each in inspect.signature(graph_of).parameters.items() if name != "found"]

    @functools.wraps(parse)
    def read(path: PathLike, **options: Any) -> Graph:
        given = {name: options.pop(name) for name in own if name in options}
        return graph_of(parse(path, **given), **options)

    read.__signature__ = inspect.Signature([*own.values(), *shared], return_annotation="Graph")  # type: ignore[attr-defined]
    return read
