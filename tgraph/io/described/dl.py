"""DL (.dl), of UCINET: a header `dl n=... format=...`, labels, and a matrix or a list of edges or of neighbours."""

from __future__ import annotations

import re
from typing import NoReturn

import numpy as np

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes
from tgraph.io.columns import Column
from tgraph.io.described.graph import Described, as_number, reader
from tgraph.io.described.number_rows import number_rows
from tgraph.io.described.rows import rows_of
from tgraph.io.described.source import text_of
from tgraph.io.text.banners import refuse_others

_HEAD = re.compile(r"\s*dl\b(?P<said>.*?)\bdata\s*:", re.IGNORECASE | re.DOTALL | re.MULTILINE)
_LABELS = re.compile(r"\blabels\s*:(.*)", re.IGNORECASE | re.DOTALL)
_EMBEDDED = re.compile(r"\b(row\s+|column\s+|col\s+)?labels\s+embedded\b", re.IGNORECASE)
_WORD = re.compile(r'"([^"]*)"|([^\s,"]+)')
_FORMATS = ("fullmatrix", "edgelist1", "nodelist1")
_UNSAFE = re.compile(r'[\s,":=]|^$')


@reader
def read(path: PathLike, encoding: str | None = None) -> Described:
    """Read a DL file of one matrix, in the formats fullmatrix, edgelist1 and nodelist1. Arguments are explained in
    `tgraph.read`. Ids are the labels, embedded or not, or the numbers 1..n; entries of a matrix other than 0 are arcs.

    Raises FileFormatError for other formats, several matrices, and invalid lines.

    >>> with open("friends.dl", "w") as file:
    ...     print("dl n=3 format=edgelist1\\nlabels:\\nann,bob,eve\\ndata:\\n1 2 5\\n2 3 7", file=file)
    >>> graph = tg.read("friends.dl")
    >>> graph.vertices.tolist(), graph.weights.tolist()
    (['ann', 'bob', 'eve'], [5, 7])
    """
    refuse_others(path, "dl")
    text = text_of(path, encoding)
    head = _HEAD.match(text)
    if head is None:
        raise FileFormatError(
            path, "no header of DL", "begin the file with dl n=... format=..., and data: above the data"
        )
    said, embedded = head["said"], _EMBEDDED.search(head["said"]) is not None
    said = _EMBEDDED.sub(" ", said)
    labels = _LABELS.search(said)
    options = dict(re.findall(r"(\w+)\s*=\s*(\w+)", (said[: labels.start()] if labels else said).lower()))
    n, kind = as_number(options.get("n", "")), options.get("format", "fullmatrix")
    if not isinstance(n, int) or kind not in _FORMATS or options.get("nm", "1") != "1":
        problem = f"DL with {', '.join(f'{name}={value}' for name, value in options.items())}"
        raise FileFormatError(path, problem, f"known is n= with format={'|'.join(_FORMATS)}", 1)
    names = _words(labels[1]) if labels else []
    found = Described(path, directed=True, implied=embedded)
    if not embedded:
        if names and len(names) != n:
            raise FileFormatError(path, f"{len(names)} labels of {n} vertices", "give each vertex one", 1)
        for name in names or map(str, range(1, n + 1)):
            found.vertex(name, {})
    line = text.count("\n", 0, head.end())
    body = text[head.end() :]
    if kind == "edgelist1" and not embedded and _many(found, body):
        return found
    rows = [(line + i, _words(each)) for i, each in enumerate(body.split("\n"), 1) if each.strip()]
    {"fullmatrix": _matrix, "edgelist1": _edges, "nodelist1": _neighbours}[kind](found, rows, n, embedded)
    if len(found.vertices) > n:
        raise FileFormatError(path, f"{len(found.vertices)} labels of {n} vertices", "correct n=", 1)
    return found


def _words(text: str) -> list[str]:
    return [match[1] if match[2] is None else match[2] for match in _WORD.finditer(text)]


Rows = list[tuple[int, list[str]]]


def _matrix(found: Described, rows: Rows, n: int, embedded: bool) -> None:
    if embedded and rows:
        for name in rows.pop(0)[1]:
            found.vertex(name, {})
    names = list(found.vertices)
    numbers = [(line, word) for line, words in rows for word in words[int(embedded) :]]
    if len(numbers) != n * n:
        raise FileFormatError(found.path, f"{len(numbers)} numbers in a matrix of {n} vertices", "it has n x n", 1)
    for i, (line, word) in enumerate(numbers):
        weight = as_number(word)
        if isinstance(weight, str):
            _fail(found, line, word)
        if weight != 0:
            found.edge(names[i // n], names[i % n], {"weight": weight})


def _many(found: Described, text: str) -> bool:
    """Add the edges of lines of numbers alone; False, and nothing, for others."""
    rows = number_rows(text.replace(",", " "))
    if rows is None or min(rows[0].min(), rows[1].min()) < 1 or max(rows[0].max(), rows[1].max()) > len(found.vertices):
        return False
    edges = found.add_rows(np.stack(rows[:2], 1) - 1)
    if rows[2] is not None:
        found.of_edges.put_columns(edges, {"weight": (slice(None), Column(rows[2]))})
    return True


def _edges(found: Described, rows: Rows, n: int, embedded: bool) -> None:
    names = list(found.vertices)
    for line, words in rows:
        weight = as_number(words[2]) if len(words) == 3 else 1
        if len(words) not in (2, 3) or isinstance(weight, str):
            _fail(found, line, " ".join(words))
        source, target = (word if embedded else _named(found, names, word, line) for word in words[:2])
        found.edge(source, target, {"weight": weight} if len(words) == 3 else {})


def _neighbours(found: Described, rows: Rows, n: int, embedded: bool) -> None:
    names = list(found.vertices)
    for line, words in rows:
        source, *targets = (word if embedded else _named(found, names, word, line) for word in words)
        for target in targets:
            found.edge(source, target, {})


def _named(found: Described, names: list[int | str], word: str, line: int) -> int | str:
    number = as_number(word)
    if not isinstance(number, int) or not 0 < number <= len(names):
        _fail(found, line, word)
    return names[number - 1]


def _fail(found: Described, line: int, text: str) -> NoReturn:
    problem = f"{text[:60]!r} is no {'number' if ' ' not in text else 'edge'} that fits the header"
    raise FileFormatError(found.path, problem, "correct the line, or n= and format=", line)


def write(graph: Graph, path: PathLike) -> None:
    """Write format=edgelist1.

    Raises ArgumentError for an undirected graph, and for labels with blanks, commas, colons, = or quotes.

    >>> from pathlib import Path
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [3, 7], vertices=["ann", "bob", "eve"]), "a.dl")
    >>> print(Path("a.dl").read_text())
    dl n=3 format=edgelist1
    labels:
    ann
    bob
    eve
    data:
    1 2 3
    2 3 7
    """
    if not graph.directed:
        raise ArgumentError("graph: DL does not say that edges are undirected; write .net, .graphml or .tg")
    rows = rows_of(graph, "DL", columns=False, unsafe=_UNSAFE)
    weight = rows.of_edges.get("weight")
    with create_bytes(path) as file:
        file.write(f"dl n={len(rows.names)} format=edgelist1\nlabels:\n".encode())
        file.writelines(f"{name}\n".encode() for name in rows.names)
        file.write(b"data:\n")
        for i, (u, v) in enumerate(rows.edges):
            file.write(f"{u + 1} {v + 1}{'' if weight is None else f' {weight.values[i]}'}\n".encode())
