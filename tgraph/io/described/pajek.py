"""Pajek (.net): sections of vertices, arcs, edges, lists of these, or a matrix."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes
from tgraph.io.columns import Column
from tgraph.io.described.graph import Described, as_number, drop, reader
from tgraph.io.described.number_rows import number_rows
from tgraph.io.described.rows import rows_of
from tgraph.io.described.source import text_of
from tgraph.io.text.banners import refuse_others
from tgraph.kernels.operators.dicts import packed

_WORD = re.compile(r'"([^"]*(?:""[^"]*)*)"|(\S+)')  # a quote within quotes is doubled
_UNSAFE = re.compile(r"[\\\r\n\0]")
_NAMES = re.compile(r"[^\s\"\d.+-][^\s\"]*")
_EDGES = {"arcs": True, "edges": False, "arcslist": True, "edgeslist": False, "links": False, "bipartite": False}
_SECTION = re.compile(r"^[ \t]*\*", re.MULTILINE)
_VERTEX = re.compile(  # the usual line of one
    r'[ \t]*([0-9]+)[ \t]+(?:"([^"\n]*(?:""[^"\n]*)*)"|([^\s"]+))((?:[ \t]+-?[0-9]*\.?[0-9]+){0,3})[ \t]*\n|([\s\S]+)'
)
_VERTICES = re.compile(r"^[ \t]*\*vertices", re.IGNORECASE | re.MULTILINE)
_STATES = ("intra", "inter", "multilayer", "states")  # of Infomap
Word = tuple[str, bool]  # and whether it was in quotes


@reader
def read(path: PathLike, encoding: str | None = None) -> Described:
    """Read a Pajek network; arguments are explained in `tgraph.read`.

    Labels are the ids of the vertices where each has another one; else the numbers 1..n are, and label is a column.
    Coordinates x, y, z, the shape, and pairs of names and values become columns; in a network of two modes the column
    "mode" is 1 or 2. The third number of an edge is its weight, 1 without one. The relation of a section, as *Arcs :1
    "likes", is the column "relation" of its edges: the name, or the number where it has none. Entries of a matrix that
    are not 0 are arcs, in a network of two modes edges between these. With arcs and edges in one file, an edge is two
    arcs. Files of Infomap are read too: *Vertices without their number, with any whole numbers as ids, and a bare list
    of links.
    Raises FileFormatError for an invalid line, and for a second network.

    >>> with open("trust.net", "w") as file:
    ...     print('*Vertices 3\\n1 "ann"\\n2 "bob"\\n3 "eve"\\n*Arcs\\n1 2 5\\n2 3 7', file=file)
    >>> graph = tg.read("trust.net")
    >>> graph.directed, graph.vertices.tolist(), graph.weights.tolist()
    (True, ['ann', 'bob', 'eve'], [5, 7])
    """
    refuse_others(path, "pajek")
    return _Parser(path, text_of(path, encoding)).network()


class _Parser:
    def __init__(self, path: PathLike, text: str):
        self.found = Described(path, directed=False)
        self._text = text
        self._n: int | None = None  # None: any whole numbers
        self._rows = self._row = 0  # of a matrix, and the present one
        self._shared: dict[str, Any] = {}  # data of all edges of the present section: its relation
        self._by_section: dict[str, Callable[[list[Word], int], None]] = {
            "vertices": self._describe,
            "matrix": self._matrix,
        }
        self._by_section |= {section: partial(self._edges, section) for section in _EDGES}

    def network(self) -> Described:
        begins = [match.start() for match in _SECTION.finditer(self._text)]
        self._preamble(self._text[: begins[0] if begins else None])
        line = self._text.count("\n", 0, begins[0]) + 1 if begins else 1
        for begin, end in itertools.pairwise([*begins, len(self._text)]):
            head, _, body = self._text[begin:end].partition("\n")
            section = self._begun(_words(head), line)
            taken = self._many(body, section) if section in self._by_section else len(body)
            for number, words in _lines(body[taken:], line + 1 + body.count("\n", 0, taken)):
                self._by_section[section](words, number)
            line += body.count("\n") + 1
        drop(self.found.vertex_columns, "label", map(str, self.found.vertices))
        self.found.name_by("label")
        return self.found

    def _preamble(self, text: str) -> None:
        """Lines before the first section: a note, or all links of Infomap."""
        taken = self._many(text, "arcs")
        for line, words in _lines(text[taken:], 1 + text.count("\n", 0, taken)):
            if all(isinstance(as_number(word), int) for word, _ in words[:2]):
                self.found.implied = True
                self._edges("arcs", words, line)
            elif _VERTICES.search(self._text) is None:
                problem = "the line *Vertices is missing"
                raise FileFormatError(self.found.path, problem, "begin the file with *Vertices n", line)

    def _begun(self, words: list[Word], line: int) -> str:
        """The section that a line begins."""
        section, self._row, self._shared = words[0][0].lower()[1:], 0, {}
        if len(words) > 1 and words[1][0].startswith(":"):
            self._shared = {"relation": " ".join(word for word, _ in words[2:]) or as_number(words[1][0][1:])}
        if section == "vertices":
            if self.found.vertices:
                raise FileFormatError(self.found.path, "a second network", "write each to a file of its own", line)
            if len(words) > 1:
                self._declare(words, line)
        elif section in _EDGES:
            self.found.implied = self._n is None
            self.found.directed |= _EDGES[section]
        elif section in _STATES:
            problem = f"the section {words[0][0].lower()!r}: several layers, or states, of a vertex"
            raise FileFormatError(self.found.path, problem, "keep one layer, as *Vertices and *Links", line)
        elif section not in ("matrix", "network"):
            problem = f"the section {words[0][0].lower()!r} is no part of a network"
            raise FileFormatError(self.found.path, problem, "leave it out", line)
        return section

    def _declare(self, words: list[Word], line: int) -> None:
        counts = [as_number(word) for word, _ in words[1:3]]
        if not all(isinstance(count, int) and 0 <= count < 2**28 for count in counts):
            raise FileFormatError(self.found.path, "*Vertices without their number", "write *Vertices n", line)
        self._n, self._rows = counts[0], min(counts)
        self.found.add([], range(1, self._n + 1))
        if len(counts) > 1:
            modes = packed([1] * self._rows + [2] * (self._n - self._rows))
            self.found.of_vertices.put_columns(np.arange(self._n), {"mode": (slice(None), Column(modes))})

    def _many(self, text: str, section: str) -> int:
        """Take as much of a section as looks alike: where that ends, 0 where it does not."""
        if section == "vertices" and self._n is not None:
            return self._describe_many(text, self._n)
        rows = number_rows(text) if section in ("arcs", "edges") else None
        if rows is None:
            return 0
        src, dst, weights = rows
        lowest, highest = min(src.min(), dst.min()), max(src.max(), dst.max())
        if lowest < (self._n is not None) or (self._n is not None and highest > self._n):
            return 0
        self.found.implied = self._n is None
        ways = itertools.repeat(_EDGES[section], len(src))
        if self._n is None:
            edges = self.found.add_edges(src.tolist(), dst.tolist(), ways)
        else:
            edges = self.found.add_rows(np.stack((src, dst), 1) - 1, ways)
        columns = {name: packed([value] * len(src)) for name, value in self._shared.items()}
        columns |= {} if weights is None else {"weight": weights}
        self.found.of_edges.put_columns(edges, {name: (slice(None), Column(each)) for name, each in columns.items()})
        return len(text)

    def _describe_many(self, text: str, n: int) -> int:
        found = _VERTEX.findall(text)
        rest = found.pop()[-1] if found and found[-1][-1] else ""
        places = [each.split() for *_, each, _ in found]
        numbers = np.array([int(each[0]) for each in found])
        wide = set(map(len, places))
        if len(wide) != 1 or numbers.min() < 1 or numbers.max() > n:
            return 0
        try:
            columns = [packed([float(each[axis]) for each in places]) for axis in range(wide.pop())]
        except ValueError:
            return 0
        labels = packed([quoted.replace('""', '"') or plain for _, quoted, plain, *_ in found])
        held = {"label": labels} | dict(zip("xyz", columns, strict=False))
        columns_of_run = {name: (slice(None), Column(values)) for name, values in held.items()}
        self.found.of_vertices.put_columns(numbers - 1, columns_of_run)
        return len(text) - len(rest)

    def _vertex(self, word: str, line: int) -> int:
        number, n = as_number(word), self._n
        if not isinstance(number, int) or (number < 0 if n is None else not 0 < number <= n):
            problem = f"{word[:60]!r} is no {'whole number' if n is None else f'vertex 1..{n}'}"
            raise FileFormatError(self.found.path, problem, "correct the line, or *Vertices", line)
        return number

    def _describe(self, words: list[Word], line: int) -> None:
        number = self._vertex(words[0][0], line)
        if self._n is None:
            self.found.vertex(number, {}, line)
        data: dict[str, Any] = {"label": words[1][0]} if len(words) > 1 else {}
        rest = words[2:]
        for axis in "xyz":
            if rest and not isinstance(as_number(rest[0][0]), str):
                data[axis] = float(rest.pop(0)[0])
        if len(rest) % 2:
            data["shape"] = rest.pop(0)[0]
        self.found.of_vertices.put(self.found.vertices[number], data | _pairs(rest))

    def _edges(self, section: str, words: list[Word], line: int) -> None:
        directed = _EDGES[section]
        if section.endswith("list"):
            source, *targets = (abs(self._vertex(word.lstrip("-"), line)) for word, _ in words)
            for target in targets:
                self.found.edge(source, target, self._shared, directed)
            return
        if len(words) < 2:
            problem = "an edge with one end"
            raise FileFormatError(self.found.path, problem, "a line holds source, target and weight", line)
        source, target = (self._vertex(word, line) for word, _ in words[:2])
        rest = words[2:]
        data = dict(self._shared)
        if rest and (len(rest) % 2 or not isinstance(as_number(rest[0][0]), str)):
            data["weight"] = _weight(self.found.path, rest.pop(0)[0], line)
        self.found.edge(source, target, data | _pairs(rest), directed)

    def _matrix(self, words: list[Word], line: int) -> None:
        """A row of a matrix; of two modes from the one to the other."""
        self._row += 1
        first = self._rows if self._rows < (self._n or 0) else 0
        wide = (self._n or 0) - first
        if self._row > self._rows or len(words) > wide:
            problem = f"more than {wide} numbers" if self._row <= self._rows else f"more than {self._rows} rows"
            raise FileFormatError(self.found.path, problem, f"a matrix here is {self._rows} x {wide}", line)
        for column, (word, _) in enumerate(words, first + 1):
            value = _weight(self.found.path, word, line)
            if value != 0:
                self.found.edge(self._row, column, self._shared | {"weight": value}, first == 0)


def _words(line: str) -> list[Word]:
    found = _WORD.finditer(line)
    return [(match[2] or match[1].replace('""', '"'), match[2] is None) for match in found]


def _lines(text: str, first: int) -> Iterator[tuple[int, list[Word]]]:
    for number, line in enumerate(text.split("\n"), first):
        words = _words(line)
        if words and not words[0][0].startswith(("%", "#")):
            yield number, words


def _pairs(words: list[Word]) -> dict[str, Any]:
    spelled = [word if quoted else as_number(word) for word, quoted in words]
    return dict(zip(map(str, spelled[::2]), spelled[1::2], strict=False))


def _weight(path: PathLike, word: str, line: int) -> int | float:
    value = as_number(word)
    if isinstance(value, str):
        raise FileFormatError(path, f"the weight {word[:60]!r} is not a number", "correct the line", line)
    return value


def write(graph: Graph, path: PathLike) -> None:
    """Write vertices with the original ids as labels, and arcs or edges with weights and columns of numbers and text.

    Quotes within text are doubled; edges with columns and no weights have the weight 1. Raises ArgumentError for text
    with backslashes or line ends, columns x, y and z of anything but numbers, and names of columns with blanks.

    >>> import networkx
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0], vertices=["ann", "bob", "eve"]), "a.net")
    >>> list(networkx.read_pajek("a.net").edges(data="weight"))
    [('ann', 'bob', 0.5), ('bob', 'eve', 2.0)]
    """
    rows = rows_of(graph, "Pajek", reserved=(("label", "id"), ()), unsafe=_UNSAFE, names=_NAMES)
    places = [rows.of_vertices.pop(axis) for axis in "xyz" if axis in rows.of_vertices]
    rows.of_vertices.pop("mode", None)
    if any(each.kind not in ("int", "float") or None in each.values for each in places):
        raise ArgumentError("graph.vertex_columns: x, y and z are places in Pajek; rename them by with_columns")
    with create_bytes(path) as file:
        file.write(f"*Vertices {len(rows.names)}\n".encode())
        for i, (name, data) in enumerate(zip(rows.names, rows.vertex_data(), strict=True)):
            own = [repr(each.values[i]) for each in places] + ([_spelled(data.pop("shape"))] if "shape" in data else [])
            file.write(f"{' '.join([str(i + 1), _spelled(str(name)), *own])}{_spelled_pairs(data)}\n".encode())
        file.write(b"*Arcs\n" if rows.directed else b"*Edges\n")
        for (u, v), data in zip(rows.edges, rows.edge_data(), strict=True):
            weight = data.pop("weight", 1 if data else "")
            file.write(f"{u + 1} {v + 1} {weight}{_spelled_pairs(data)}\n".encode())


def _spelled_pairs(data: dict[str, Any]) -> str:
    return "".join(f" {name} {_spelled(value)}" for name, value in data.items())


def _spelled(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return str(int(value) if isinstance(value, bool) else value)
