"""DOT (.dot, .gv), of Graphviz: the graph in it, not the picture."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from tgraph.core.graph import Graph
from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes
from tgraph.io.described.graph import Described, as_number, reader
from tgraph.io.described.rows import rows_of
from tgraph.io.described.source import text_of
from tgraph.io.text.banners import refuse_others

_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)|(?P<arrow>->|--)|(?P<mark>[{}\[\];,=:+])"
    r"|(?P<word>[^\W\d][\w]*|-?(?:\.\d+|\d+(?:\.\d*)?))|\"(?P<text>(?:[^\"\\]|\\.)*)\"",
    re.DOTALL | re.MULTILINE,
)
_NO_NAME = re.compile(r"[\0\r]|\\$")
_DEEPEST = 100
Token = tuple[str, str, int]
Data = dict[str, Any]


@reader
def read(path: PathLike, encoding: str | None = None) -> Described:
    """Read a graph or digraph; arguments are explained in `tgraph.read`.

    Attributes become columns, with the defaults of `node [...]` and `edge [...]`, and "weight" the weights; unquoted
    numbers are numbers. An edge that a strict graph names again is the same one, with further attributes. Chains, and
    subgraphs as ends of edges, are all the edges that they stand for; subgraphs leave no trace beyond these, nor do
    ports and attributes of graphs.
    Raises FileFormatError for two graphs, labels in HTML, joined strings, and anything else.

    >>> with open("trust.dot", "w") as file:
    ...     print("digraph { ann -> {bob eve} [weight=2] }", file=file)
    >>> graph = tg.read("trust.dot")
    >>> graph.vertices.tolist(), graph.weights.tolist()
    (['ann', 'bob', 'eve'], [2, 2])
    """
    refuse_others(path, "dot")
    return _Parser(path, text_of(path, encoding)).graph()


class _Parser:
    def __init__(self, path: PathLike, text: str):
        self._path = path
        self._tokens = _tokens(path, text)
        self._next: Token = ("", "", 1)
        self.found = Described(path, directed=False, implied=True)
        self._strict: dict[Any, int] | None = None  # the row of each edge of a strict graph, by its ends
        self._advance()

    def graph(self) -> Described:
        if self._is_word("strict"):
            self._strict = {}
        if not (self._is_word("digraph", take=False) or self._is_word("graph", take=False)):
            self._fail("graph or digraph")
        self.found.directed = self._advance()[1].lower() == "digraph"
        if self._next[1] != "{":
            self._name()
        self._body({}, {}, 0)
        if self._next[0]:
            self._fail("the end of the file, with one graph")
        return self.found

    def _body(self, of_vertices: Data, of_edges: Data, depth: int) -> list[str]:
        """The names of the vertices in { ... }."""
        if depth > _DEEPEST:
            self._fail(f"a subgraph within {_DEEPEST} others at most")
        self._expect("{")
        of_vertices, of_edges, members = dict(of_vertices), dict(of_edges), dict[str, None]()
        while self._next[1:2] != ("}",) or self._next[0] != "mark":
            if self._next[0] == "mark" and self._next[1] in ";,":
                self._advance()
            elif self._is_word("node", take=False) or self._is_word("edge", take=False):
                (of_vertices if self._advance()[1].lower() == "node" else of_edges).update(self._attributes())
            elif self._is_word("graph"):
                self._attributes()
            else:
                members.update(dict.fromkeys(self._statement(of_vertices, of_edges, depth)))
        self._advance()
        return list(members)

    def _statement(self, of_vertices: Data, of_edges: Data, depth: int) -> list[str]:
        ends = [self._end(of_vertices, of_edges, depth)]
        if not ends[0][1] and self._next[1] == "=" and self._next[0] == "mark":  # of the graph
            self._advance()
            self._name()
            return []
        for name in ends[0][0]:
            self._declare(name, of_vertices)
        while self._next[0] == "arrow":
            if (self._next[1] == "->") != self.found.directed:
                self._fail(f"{'->' if self.found.directed else '--'}, as in a {'di' * self.found.directed}graph,")
            self._advance()
            ends.append(self._end(of_vertices, of_edges, depth))
            for name in ends[-1][0]:
                self._declare(name, of_vertices)
        data = self._attributes() if self._next[1] == "[" else {}
        if len(ends) == 1 and not ends[0][1]:
            self.found.vertex(ends[0][0][0], data)
        for (sources, _), (targets, _) in itertools.pairwise(ends):
            for source in sources:
                for target in targets:
                    self._edge(source, target, of_edges, data)
        return [name for names, _ in ends for name in names]

    def _declare(self, name: str, defaults: Data) -> None:
        if name not in self.found.vertices:
            self.found.vertex(name, dict(defaults))

    def _edge(self, source: str, target: str, defaults: Data, data: Data) -> None:
        if self._strict is not None:
            pair = (source, target) if self.found.directed else frozenset((source, target))
            row = self._strict.setdefault(pair, len(self.found))
            if row < len(self.found):
                self.found.of_edges.put(row, data)
                return
        self.found.edge(source, target, defaults | data)

    def _end(self, of_vertices: Data, of_edges: Data, depth: int) -> tuple[list[str], bool]:
        """(vertices of an end, whether it is a subgraph)."""
        if self._is_word("subgraph"):
            if self._next[1] != "{":
                self._name()
            return self._body(of_vertices, of_edges, depth + 1), True
        if self._next[0] == "mark" and self._next[1] == "{":
            return self._body(of_vertices, of_edges, depth + 1), True
        name = self._name()
        while self._next[0] == "mark" and self._next[1] == ":":  # a port
            self._advance()
            self._name()
        return [name], False

    def _attributes(self) -> Data:
        data: Data = {}
        while self._next[0] == "mark" and self._next[1] == "[":
            self._advance()
            while not (self._next[0] == "mark" and self._next[1] == "]"):
                name = self._name()
                self._expect("=")
                kind, value, _ = self._next
                self._name()
                data[name] = as_number(value) if kind == "word" or value == "-inf" else value
                if self._next[0] == "mark" and self._next[1] in ",;":
                    self._advance()
            self._advance()
        return data

    def _name(self) -> str:
        if self._next[0] not in ("word", "text"):
            self._fail("a name or value")
        return self._advance()[1]

    def _is_word(self, word: str, take: bool = True) -> bool:
        found = self._next[0] == "word" and self._next[1].lower() == word
        if found and take:
            self._advance()
        return found

    def _expect(self, mark: str) -> None:
        if self._next[:2] != ("mark", mark):
            self._fail(repr(mark))
        self._advance()

    def _advance(self) -> Token:
        taken, self._next = self._next, next(self._tokens, ("", "", self._next[2]))
        return taken

    def _fail(self, expected: str) -> None:
        kind, text, line = self._next
        problem = f"{text[:40]!r} stands" if kind else "the file ends"
        remedy = "correct it, or let Graphviz write it plainly, by: dot -Tcanon"
        raise FileFormatError(self._path, f"{problem} where {expected} is expected", remedy, line)


def _tokens(path: PathLike, text: str) -> Iterator[Token]:
    """(arrow, mark, word or text; what it says; line) of each token."""
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            kind = "HTML, which" if text[at] == "<" else repr(text[at : at + 20])
            remedy = "write it as a quoted string, or leave it out"
            raise FileFormatError(path, f"{kind} has no meaning for a graph", remedy, line)
        kind = match.lastgroup or ""
        if kind != "blank":
            said = match[kind]
            yield kind, said.replace("\\\n", "").replace('\\"', '"') if kind == "text" else said, line
        line += match[0].count("\n")
        at = match.end()


def write(graph: Graph, path: PathLike) -> None:
    """Write a graph or digraph, with weights and columns of numbers, bools and text as attributes.

    Raises ArgumentError for text that ends with a backslash.

    >>> from pathlib import Path
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0]), "a.dot")
    >>> print(Path("a.dot").read_text())
    digraph {
      "0";
      "1";
      "2";
      "0" -> "1" [weight=0.5];
      "1" -> "2" [weight=2.0];
    }
    """
    rows = rows_of(graph, "DOT", unsafe=_NO_NAME)
    arrow = "->" if rows.directed else "--"
    names = [_quoted(str(name)) for name in rows.names]
    with create_bytes(path) as file:
        file.write(b"digraph {\n" if rows.directed else b"graph {\n")
        for name, data in zip(names, rows.vertex_data(), strict=True):
            file.write(f"  {name}{_spelled(data)};\n".encode())
        for (u, v), data in zip(rows.edges, rows.edge_data(), strict=True):
            file.write(f"  {names[u]} {arrow} {names[v]}{_spelled(data)};\n".encode())
        file.write(b"}\n")


def _spelled(data: Data) -> str:
    def value(each: Any) -> str:
        if isinstance(each, str):
            return _quoted(each)
        if isinstance(each, float):  # numerals have no exponent
            return (
                np.format_float_positional(each, trim="0")
                if math.isfinite(each)
                else f"{each}".replace("-inf", '"-inf"')
            )
        return str(int(each))

    pairs = (
        f"{name if re.fullmatch(r'[a-z_]+', name) else _quoted(name)}={value(each)}" for name, each in data.items()
    )
    return f" [{', '.join(pairs)}]" if data else ""


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'
