"""Pajek (.net): sections of vertices, arcs, edges, lists of these, or a matrix."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes
from tgraph.io.described.graph import Described, as_number, drop, reader
from tgraph.io.described.rows import rows_of
from tgraph.io.described.source import text_of
from tgraph.io.text.banners import refuse_others

_WORD = re.compile(r'"([^"]*)"|(\S+)')
_UNSAFE = re.compile(r'["\\\r\n\0]')
_NAMES = re.compile(r"[^\s\"\d.+-][^\s\"]*")
_EDGES = {"arcs": True, "edges": False, "arcslist": True, "edgeslist": False, "links": False, "bipartite": False}
_VERTICES = re.compile(r"^[ \t]*\*vertices", re.IGNORECASE | re.MULTILINE)
Word = tuple[str, bool]  # and whether it was in quotes


@reader
def read(path: PathLike, encoding: str | None = None) -> Described:
    """Read a Pajek network; arguments are explained in `tgraph.read`.

    Labels are the ids of the vertices where each has another one; else the numbers 1..n are, and label is a column.
    Coordinates x, y, z, the shape, and pairs of names and values become columns; in a network of two modes the column
    "mode" is 1 or 2. The third number of an edge is its weight, 1 without one. Entries of a matrix that are not 0 are
    arcs, in a network of two modes edges between these. With arcs and edges in one file, an edge is two arcs. Files of
    Infomap are read too: *Vertices without their number, with any whole numbers as ids, and a bare list of links.
    Raises FileFormatError for an invalid line, and for a second network.

    >>> with open("trust.net", "w") as file:
    ...     print('*Vertices 3\\n1 "ann"\\n2 "bob"\\n3 "eve"\\n*Arcs\\n1 2 5\\n2 3 7', file=file)
    >>> graph = tg.read("trust.net")
    >>> graph.directed, graph.vertices.tolist(), graph.weights.tolist()
    (True, ['ann', 'bob', 'eve'], [5, 7])
    """
    refuse_others(path, "pajek")
    found = Described(path, directed=False)
    section, row, rows = "", 0, 0
    n: int | None = None  # None: any whole numbers
    text = text_of(path, encoding)
    for line, words in _lines(text):
        head = words[0][0].lower()
        if head.startswith("*"):
            section, row = head[1:], 0
            if section == "vertices":
                if found.vertices:
                    raise FileFormatError(path, "a second network", "write each to a file of its own", line)
                n = _vertices(found, words, line) if len(words) > 1 else None
                rows = n - sum(data.get("mode") == 2 for data in found.vertices.values()) if n is not None else 0
            elif section in _EDGES:
                found.implied = n is None
                found.directed = found.directed or _EDGES[section]
            elif section not in ("matrix", "network"):
                raise FileFormatError(path, f"the section {head!r} is no part of a network", "leave it out", line)
        elif section == "vertices":
            _describe(found, words, n, line)
        elif section in _EDGES:
            _edges(found, section, words, n, line)
        elif section == "matrix":
            row += 1
            last = n or 0
            first = rows if rows < last else 0  # of two modes: from the one to the other
            if row > rows or len(words) > last - first:
                problem = f"more than {last - first} numbers" if row <= rows else f"more than {rows} rows"
                raise FileFormatError(path, problem, f"a matrix here is {rows} x {last - first}", line)
            for column, (word, _) in enumerate(words, first + 1):
                value = _weight(path, word, line)
                if value != 0:
                    found.edge(row, column, {"weight": value}, first == 0)
        elif section != "network" and all(isinstance(as_number(word), int) for word, _ in words[:2]):
            found.implied = True
            _edges(found, "arcs", words, None, line)
        elif section != "network" and _VERTICES.search(text) is None:
            raise FileFormatError(path, "the line *Vertices is missing", "begin the file with *Vertices n", line)
    drop(found.vertices.values(), "label", map(str, found.vertices))
    found.name_by("label")
    return found


def _lines(text: str) -> Iterator[tuple[int, list[Word]]]:
    for number, line in enumerate(text.split("\n"), 1):
        words = [(match[1] or match[2] or "", match[2] is None) for match in _WORD.finditer(line)]
        if words and not words[0][0].startswith(("%", "#")):
            yield number, words


def _vertices(found: Described, words: list[Word], line: int) -> int:
    counts = [as_number(word) for word, _ in words[1:3]]
    if not counts or not all(isinstance(count, int) and 0 <= count < 2**28 for count in counts):
        raise FileFormatError(found.path, "*Vertices without their number", "write *Vertices n", line)
    for number in range(1, counts[0] + 1):
        found.vertex(number, {} if len(counts) == 1 else {"mode": 1 if number <= counts[1] else 2})
    return int(counts[0])


def _vertex(path: PathLike, word: str, n: int | None, line: int) -> int:
    number = as_number(word)
    if not isinstance(number, int) or (number < 0 if n is None else not 0 < number <= n):
        problem = f"{word[:60]!r} is no {'whole number' if n is None else f'vertex 1..{n}'}"
        raise FileFormatError(path, problem, "correct the line, or *Vertices", line)
    return number


def _describe(found: Described, words: list[Word], n: int | None, line: int) -> None:
    number = _vertex(found.path, words[0][0], n, line)
    if n is None:
        found.vertex(number, {}, line)
    data = found.vertices[number]
    if len(words) > 1:
        data["label"] = words[1][0]
    rest = words[2:]
    for axis in "xyz":
        if rest and not isinstance(as_number(rest[0][0]), str):
            data[axis] = float(rest.pop(0)[0])
    if len(rest) % 2:
        data["shape"] = rest.pop(0)[0]
    data |= _pairs(rest)


def _pairs(words: list[Word]) -> dict[str, Any]:
    spelled = [word if quoted else as_number(word) for word, quoted in words]
    return dict(zip(map(str, spelled[::2]), spelled[1::2], strict=False))


def _edges(found: Described, section: str, words: list[Word], n: int | None, line: int) -> None:
    directed = _EDGES[section]
    if section.endswith("list"):
        source, *targets = (abs(_vertex(found.path, word.lstrip("-"), n, line)) for word, _ in words)
        for target in targets:
            found.edge(source, target, {}, directed)
        return
    if len(words) < 2:
        raise FileFormatError(found.path, "an edge with one end", "a line holds source, target and weight", line)
    source, target = (_vertex(found.path, word, n, line) for word, _ in words[:2])
    rest = words[2:]
    data = {}
    if rest and (len(rest) % 2 or not isinstance(as_number(rest[0][0]), str)):
        data["weight"] = _weight(found.path, rest.pop(0)[0], line)
    found.edge(source, target, data | _pairs(rest), directed)


def _weight(path: PathLike, word: str, line: int) -> int | float:
    value = as_number(word)
    if isinstance(value, str):
        raise FileFormatError(path, f"the weight {word[:60]!r} is not a number", "correct the line", line)
    return value


def write(graph: Graph, path: PathLike) -> None:
    """Write vertices with the original ids as labels, and arcs or edges with weights and columns of numbers and text.

    Raises ArgumentError for text with quotes, backslashes or line ends, columns x, y and z of anything but numbers, and
    names of columns with blanks.

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
    return f'"{value}"' if isinstance(value, str) else str(int(value) if isinstance(value, bool) else value)
