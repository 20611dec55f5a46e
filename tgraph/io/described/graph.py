"""The graph of a file that describes vertices and edges."""

from __future__ import annotations

import functools
import inspect
import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import torch

from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.columns import as_column
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.io.columns import Column, columns_of, scattered
from tgraph.io.edges import Ids, Rules, check_declared
from tgraph.io.text.columns import joined
from tgraph.io.text.names import WEIGHTS
from tgraph.kernels.operators.dicts import MISSING, objects, packed

Id = int | str
Field = tuple[str, Sequence[str | None], Callable[[str], Any]]  # name, texts of many rows, what gives their values
_BLOCK = 1 << 16  # rows
_MANY = 1 << 9  # edges
_DEFAULT = 2  # the direction of an edge that does not say it
_INTEGER = re.compile(r"0|-?[1-9]\d{0,18}")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?(inf|infinity|nan)", re.IGNORECASE)


class Table:
    """Data of numbered rows by name. They come row by row, as dicts, or many rows at a time, as columns."""

    def __init__(self) -> None:
        self._parts: dict[str, list[tuple[np.ndarray, Column]]] = {}
        self._rows, self._dicts = array("q"), list[dict[str, Any]]()  # that are in no part yet

    def put(self, row: int, data: dict[str, Any]) -> None:
        """Add the data of a row."""
        if data:
            self._rows.append(row)
            self._dicts.append(data)
            if len(self._dicts) == _BLOCK:
                self._close()

    def put_columns(self, rows: np.ndarray, columns: Mapping[str, tuple[slice | list[int], Column]]) -> None:
        """Add columns for `rows`, int64 [k]: the places of their values among these, and the values."""
        self._close()
        for name, (places, column) in columns.items():
            if len(column):
                self._parts.setdefault(name, []).append((rows[places], column))

    def columns(self, place: np.ndarray, count: int) -> dict[str, Column]:
        """The columns [count], with row i at place[i]; what came last counts."""
        self._close()
        parts = {name: [(place[rows], each) for rows, each in held] for name, held in self._parts.items()}
        return {name: scattered(held, count) for name, held in parts.items()}

    def _close(self) -> None:
        rows, dicts = np.array(self._rows, dtype=np.int64), self._dicts
        self._rows, self._dicts = array("q"), []
        for name, column in columns_of(dicts, None).items():
            self._parts.setdefault(name, []).append((rows, column))


class Described:
    """What a file says. `directed` : the direction of edges that do not say it themselves. `implied` : whether an edge
    may name vertices that are not declared.

    vertices : the row of each id, in the order of declaration; of_vertices, of_edges : their data.
    """

    def __init__(self, path: PathLike, directed: bool, implied: bool = False):
        self.path, self.directed, self.implied = path, directed, implied
        self.vertices: dict[Any, int] = {}
        self.of_vertices, self.of_edges = Table(), Table()
        self._ends, self._one_way = array("q"), bytearray()
        self._later: list[tuple[int, Any, Any]] = []  # first row, sources and targets of edges by ids of text
        self._undeclared: dict[Id, int] = {}  # and where in `_ends` each is named first

    def __len__(self) -> int:
        """The number of edges."""
        return len(self._one_way)

    def vertex(self, name: Id, data: dict[str, Any], line: int | None = None) -> None:
        """Declare a vertex. Raises FileFormatError for one that is declared already."""
        if name in self._undeclared:
            del self._undeclared[name]
            self.vertices[name] = self.vertices.pop(name)
        elif name in self.vertices and not self.implied:
            raise FileFormatError(self.path, f"two vertices are called {name!r}", "give each its own id", line=line)
        self.of_vertices.put(self.vertices.setdefault(name, len(self.vertices)), data)

    def edge(self, source: Id, target: Id, data: dict[str, Any], directed: bool | None = None) -> None:
        """Add an edge; `directed` : its own direction."""
        self.of_edges.put(len(self), data)
        self._ends.extend((self._row(source), self._row(target)))
        self._one_way.append(_DEFAULT if directed is None else directed)

    def add_edges(self, sources: Sequence[Id], targets: Sequence[Id], ways: Iterable[bool | None] = ()) -> np.ndarray:
        """Add many edges: their rows. `ways` : the direction of each, or nothing."""
        if not self.implied and len(sources) >= _MANY and type(sources[0]) is str:
            import pyarrow as pa

            self._later.append((len(self), *(pa.array(names, pa.large_string()) for names in (sources, targets))))
            return self.add_rows(np.zeros(2 * len(sources), dtype=np.int64), ways)
        for known in (self.vertices.__getitem__, self._row):
            names = chain.from_iterable(zip(sources, targets, strict=True))
            try:
                return self.add_rows(np.fromiter(map(known, names), np.int64, 2 * len(sources)), ways)
            except KeyError:  # they may be declared later, or by this
                continue
        raise AssertionError("every id has a row by now")

    def add_rows(self, ends: np.ndarray, ways: Iterable[bool | None] = ()) -> np.ndarray:
        """Add many edges between rows of vertices, int64 [2 k], source and target in turn: the rows of the edges."""
        first = len(self)
        self._ends.frombytes(ends.tobytes())
        self._one_way.extend(_DEFAULT if way is None else way for way in ways)
        self._one_way.extend(bytes([_DEFAULT]) * (len(self._ends) // 2 - len(self)))
        return np.arange(first, len(self))

    def add(self, fields: Sequence[Field], *ends: Sequence[Id], ways: Iterable[bool | None] = ()) -> bool:
        """Add many vertices, with such ids, or edges, with such sources and targets, with the values of their fields;
        or nothing, and False, where a vertex is known already, two fields have one name, or a text has no value."""
        try:
            columns = {name: _converted(texts, convert) for name, texts, convert in fields}
        except (ValueError, KeyError):
            return False
        if len(columns) < len(fields):
            return False
        if len(ends) == 2:
            self.of_edges.put_columns(self.add_edges(*ends, ways), columns)
            return True
        rows = np.arange(len(self.vertices), len(self.vertices) + len(ends[0]))
        if len(set(ends[0])) < len(rows) or not self.vertices.keys().isdisjoint(ends[0]):
            return False
        self.vertices.update(zip(ends[0], rows.tolist(), strict=True))
        self.of_vertices.put_columns(rows, columns)
        return True

    def _row(self, name: Id) -> int:
        if name not in self.vertices:
            self.vertices[name] = len(self.vertices)
            if not self.implied:
                self._undeclared[name] = len(self._ends)
        return self.vertices[name]

    def _look_up(self) -> None:
        """Find the rows of ends that were left for later, all at once: pyarrow's table of ids is faster than a dict."""
        import pyarrow as pa
        import pyarrow.compute as pc

        declared = pa.array([name for name in self.vertices if name not in self._undeclared], pa.large_string())
        row = np.array([row for name, row in self.vertices.items() if name not in self._undeclared], dtype=np.int64)
        whole = np.array(self._ends, dtype=np.int64)
        for side in (0, 1):
            names = pa.chunked_array([each[1 + side] for each in self._later], pa.large_string())
            edges = np.concatenate([np.arange(first, first + len(held)) for first, held, _ in self._later])
            found = joined(pc.fill_null(pc.index_in(names, declared), -1))
            for place in np.flatnonzero(found < 0)[:1].tolist():
                self._undeclared.setdefault(names[place].as_py(), 2 * int(edges[place]) + side)
            whole[2 * edges + side] = row[found] if len(row) else 0
        self._ends = array("q", whole.tobytes())

    @cached_property
    def vertex_columns(self) -> dict[str, Column]:
        """The data of the vertices, in the order of `vertices`. Raises FileFormatError for one that is not declared."""
        if self._later:
            self._look_up()
        if self._undeclared:
            name = min(self._undeclared, key=self._undeclared.__getitem__)
            problem = f"an edge names the vertex {str(name)[:60]!r}, which is not declared"
            raise FileFormatError(self.path, problem, "declare it, or correct the edge")
        place = self._by_row(np.arange(len(self.vertices)))
        return self.of_vertices.columns(place, len(place))

    @cached_property
    def edge_columns(self) -> dict[str, Column]:
        """The data of the edges."""
        return self.of_edges.columns(np.arange(len(self)), len(self))

    def _by_row(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers in the order of the rows, given in that of `vertices`."""
        moved = np.empty(len(self.vertices), dtype=np.int64)
        moved[np.fromiter(self.vertices.values(), np.int64, len(self.vertices))] = numbers
        return moved

    def name_by(self, key: str) -> None:
        """Take the values of `key` as the ids where every vertex has another one; else the key stays a column."""
        column = self.vertex_columns.get(key)
        values = [] if column is None else column.tolist()
        names = [str(value) for value in values if value is not None and value is not MISSING]
        if column is not None and len(set(names)) == len(self.vertices):
            self.vertices = dict(zip(names, self.vertices.values(), strict=True))
            del self.vertex_columns[key]

    def edges(self, place: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(sources, targets, whether each is directed), where the vertices are at `place`, in their order."""
        ends = self._by_row(place)[np.array(self._ends, dtype=np.int64)].reshape(-1, 2)
        ways = np.array(self._one_way, dtype=np.uint8)
        return ends[:, 0], ends[:, 1], np.where(ways == _DEFAULT, self.directed, ways == 1)

    def number(self, ids: Ids) -> tuple[np.ndarray, int, Any]:
        """(the vertex that each is in the graph, the number of these, their original ids or None), as `ids` of
        `tgraph.read` says."""
        names = list(self.vertices)
        place = np.arange(len(names))
        integers = all(type(name) is int or _INTEGER.fullmatch(name) for name in names)
        integers = integers and all(-(2**63) <= int(name) < 2**63 for name in names)
        if ids in ("keep", "compact") and not integers:
            odd = next(name for name in names if not _INTEGER.fullmatch(str(name)))
            raise ArgumentError(f"ids: {self.path} has the id {odd!r}, which ids={ids!r} cannot take")
        labels: list[Any] = [str(name) for name in names] if ids == "text" or not integers else list(map(int, names))
        if len(set(labels)) < len(labels):
            raise FileFormatError(self.path, "an integer and a text are the same id", "give each vertex its own id")
        if ids == "text" or not integers:
            return place, len(names), objects(labels)
        numbers = np.array(labels, dtype=np.int64)
        if ids == "keep":
            if min(labels, default=0) < 0:
                raise FileFormatError(
                    self.path, f"the id {min(labels)} is negative", 'ids="compact" relabels ids 0..n-1'
                )
            count = max(labels, default=-1) + 1
            check_declared(self.path, count, len(self), None)
            return numbers, count, None
        order = numbers.argsort(kind="stable")
        place[order] = np.arange(len(names))
        identity = bool((numbers[order] == np.arange(len(names))).all())
        return place, len(names), None if identity else torch.from_numpy(numbers[order])


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
    of_vertices, of_edges = found.vertex_columns, found.edge_columns
    place, count, vertices = found.number(ids)
    src, dst, one_way = found.edges(place)
    of_vertices = {name: scattered([(place, each)], count) for name, each in of_vertices.items()}
    mixed = bool(one_way.any() and not one_way.all())
    if mixed and directed is not False:
        back = np.flatnonzero(~one_way & (src != dst))
        src, dst = np.concatenate((src, dst[back])), np.concatenate((dst, src[back]))
        both = torch.from_numpy(np.concatenate((np.arange(len(one_way)), back)))
        of_edges = {name: each.take(both) for name, each in of_edges.items()}
    name, values = _weights(found, of_edges, weight, weights)
    of_edges = {each: column for each, column in of_edges.items() if each != name}
    chosen = _chosen(found.path, columns, of_edges, of_vertices)
    if directed is None:
        directed = bool(one_way.any()) if len(one_way) else found.directed
    once = not one_way.any() if len(one_way) else not found.directed
    rules = Rules(directed, multi, self_loops, "keep", count, vertices, listed_once=once)
    graph = rules.build(src, dst, values, {name: _values(each) for name, each in of_edges.items() if name in chosen})
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
    if text.isdigit() and text.isascii() and len(text) < 4000:
        return int(text)
    if not _NUMBER.fullmatch(text):
        return text
    if text.lstrip("+-").isdigit():
        return int(text) if len(text) < 4000 else text
    return float(text)


def _converted(texts: Sequence[str | None], convert: Callable[[str], Any]) -> tuple[slice | list[int], Column]:
    """(the places of the texts that are not missing, their values)"""
    places: slice | list[int] = slice(None)
    if None in texts:
        places = [i for i, text in enumerate(texts) if text is not None]
        texts = [text for text in texts if text is not None]
    return places, Column(packed(list(map(convert, texts))))  # type: ignore[arg-type]


def drop(columns: dict[str, Column], key: str, usual: Iterable[Any]) -> None:
    """Remove a column `key` of the `usual` values alone."""
    if key in columns and columns[key].tolist() == list(usual):
        del columns[key]


def flattened(pairs: Iterable[tuple[str, Any]], prefix: str = "") -> dict[str, Any]:
    """Nested dicts as one, with the names joined by underscores."""
    flat = {prefix + name: value for name, value in pairs}
    if dict not in map(type, flat.values()):
        return flat
    waiting, flat = list(flat.items()), {}
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
