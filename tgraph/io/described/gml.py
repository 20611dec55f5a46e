"""GML (.gml): nested lists of keys and values."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from tgraph.core.graph import Graph
from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes
from tgraph.io.described.graph import Described, flattened, reader
from tgraph.io.described.rows import rows_of
from tgraph.io.described.source import text_of
from tgraph.io.text.banners import refuse_others

_TOKEN = re.compile(
    r"(?P<blank>\s+|#[^\n]*)|(?P<key>[A-Za-z_][\w.-]*)|(?P<text>\"[^\"]*\")|(?P<list>\[)|(?P<end>\])"
    r"|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]INF)"
)
_WORDS = {"nan": float("nan"), "inf": float("inf")}
_KEY = re.compile(r"[A-Za-z][0-9A-Za-z_]*")


@reader
def read(path: PathLike, encoding: str | None = None) -> Described:
    """Read a GML file; arguments are explained in `tgraph.read`.

    Labels are the ids of the vertices where all have one, each another; else the ids are, and label is a column. Other
    keys become columns, those of nested lists as in graphics_x, and "weight", or numbers "value", the weights.
    Raises FileFormatError for what is not GML, two graphs, and vertices without id.

    >>> import networkx
    >>> networkx.write_gml(networkx.karate_club_graph(), "karate.gml")
    >>> tg.read("karate.gml").vertex_columns["club"][0].as_py()
    'Mr. Hi'
    """
    refuse_others(path, "gml")
    text = text_of(path, encoding)
    graphs = [value for key, value, _ in _lists(path, text) if key.lower() == "graph"]
    if len(graphs) != 1:
        raise FileFormatError(path, f"{len(graphs)} graphs in the file", "it must have one: graph [ ... ]")
    if not isinstance(graphs[0], list):
        raise FileFormatError(path, "graph is followed by a value", "write graph [ ... ]")
    found = Described(path, directed=any(key == "directed" and value == 1 for key, value, _ in graphs[0]))
    for kind, entries, line in graphs[0]:
        if kind not in ("node", "edge"):
            continue
        data = _dict(entries) if isinstance(entries, list) else {}
        for name in ("id",) if kind == "node" else ("source", "target"):
            if not isinstance(data.get(name), (int, str)):
                raise FileFormatError(path, f"a {kind} without {name}", f"give each {kind} a whole number", line=line)
        if kind == "node":
            found.vertex(data.pop("id"), data, line)
        else:
            found.edge(data.pop("source"), data.pop("target"), data)
    found.name_by("label")
    return found


def _dict(entries: list[Any]) -> dict[str, Any]:
    """A list of keys and values as a dict, flat; a repeated key has the list of its values."""
    held: dict[str, Any] = {}
    for key, value, _ in entries:
        value = _dict(value) if isinstance(value, list) else value
        if key in held:
            value = [*(held[key] if isinstance(held[key], list) else [held[key]]), value]
        held[key] = value
    return flattened(held.items())


def _lists(path: PathLike, text: str) -> list[Any]:
    """[(key, value, line), ...], where a value is a number, a text or such a list."""
    top: list[Any] = []
    open_lists, key = [top], None
    begin = 0
    for kind, token, line in _tokens(path, text):
        if key is None and kind == "key":
            key, begin = token, line
        elif kind == "end" and key is None and len(open_lists) > 1:
            open_lists.pop()
        elif key is None or (kind == "key" and token.lower() not in _WORDS) or kind == "end":
            expected = "a key" if key is None else f"a value of {key!r}"
            _fail(path, line, f"{token[:60]!r} stands where {expected} is expected")
        else:
            value = [] if kind == "list" else _value(kind, token)
            open_lists[-1].append((key, value, begin))
            if kind == "list":
                if len(open_lists) > 100:
                    _fail(path, line, "lists are nested more than 100 times")
                open_lists.append(value)
            key = None
    if len(open_lists) > 1 or key is not None:
        _fail(path, begin, f"the list of {key or top[-1][0]!r} is not closed: the file is truncated")
    return top


def _tokens(path: PathLike, text: str) -> Iterator[tuple[str, str, int]]:
    """(kind, text, line) of each token."""
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            _fail(path, line, f"{text[at : at + 40]!r} is no key, number, text or bracket")
        assert match is not None and match.lastgroup is not None
        if match.lastgroup != "blank":
            yield match.lastgroup, match[0], line
        line += match[0].count("\n")
        at = match.end()


def _value(kind: str, token: str) -> Any:
    if kind == "text":
        return html.unescape(token[1:-1])
    if kind == "key":
        return _WORDS[token.lower()]
    return int(token) if token.lstrip("+-").isdigit() and len(token) < 4000 else float(token)


def _fail(path: PathLike, line: int, problem: str) -> None:
    raise FileFormatError(path, problem, "correct the file, or write it anew by networkx.write_gml", line)


def write(graph: Graph, path: PathLike) -> None:
    """Write vertices with the ids 0..n-1 and the original ids as labels, edges, weights, and columns of numbers, bools,
    as 0 and 1, and text; each undirected edge once.

    Raises ArgumentError for names of columns other than letters, digits and underscores.

    >>> import networkx
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0], vertices=["ann", "bob", "eve"]), "a.gml")
    >>> list(networkx.read_gml("a.gml").edges(data="weight"))
    [('ann', 'bob', 0.5), ('bob', 'eve', 2.0)]
    """
    rows = rows_of(graph, "GML", reserved=(("id", "label"), ("source", "target")), names=_KEY)
    with create_bytes(path) as file:
        parallel = "  multigraph 1\n" if len(set(rows.edges)) < len(rows.edges) else ""
        file.write(f"graph [\n  directed {int(rows.directed)}\n{parallel}".encode())
        for i, (name, data) in enumerate(zip(rows.names, rows.vertex_data(), strict=True)):
            file.write(f"  node [\n    id {i}\n    label {_spelled(str(name))}\n{_lines(data)}  ]\n".encode())
        for (u, v), data in zip(rows.edges, rows.edge_data(), strict=True):
            file.write(f"  edge [\n    source {u}\n    target {v}\n{_lines(data)}  ]\n".encode())
        file.write(b"]\n")


def _lines(data: dict[str, Any]) -> str:
    return "".join(f"    {name} {_spelled(value)}\n" for name, value in data.items())


def _spelled(value: Any) -> str:
    if isinstance(value, str):
        return '"' + re.sub(r"[^ -~]|[&\"]", lambda match: f"&#{ord(match[0])};", value) + '"'
    if isinstance(value, float):
        text = repr(value).upper()
        return f"+{text}" if text == "INF" else text.replace("E", ".0E", 1) if "." not in text and "E" in text else text
    return str(int(value))
