"""GML (.gml): nested lists of keys and values."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NoReturn

from tgraph.core.graph import Graph
from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes
from tgraph.io.described.graph import Described, Field, flattened, reader
from tgraph.io.described.rows import rows_of
from tgraph.io.described.runs import Runs
from tgraph.io.described.source import text_of
from tgraph.io.text.banners import refuse_others

_BLANK = r"(?:\s|#[^\n]*(?:\n|\Z))*"
_TOKEN = re.compile(
    _BLANK + r"(?:(?P<key>[A-Za-z_][\w.-]*)|(?P<text>\"[^\"]*\")|(?P<list>\[)|(?P<end>\])"
    r"|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+](?i:inf))|(?P<over>\Z))"
)
_REFERENCE = re.compile(r"&(?:#(\d{1,7}|[xX][\da-fA-F]{1,6})|\w+);")
_WORDS = {"nan": float("nan"), "inf": float("inf")}
_KEY = re.compile(r"[A-Za-z][0-9A-Za-z_]*")
_DEEPEST = 100
_ENDS = {"node": ("id",), "edge": ("source", "target")}
_VALUE = r"(\"[^\"&]*\"|[-+.0-9eE]+)"  # most of them


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
    found = _Parser(path, text_of(path, encoding)).graph()
    found.name_by("label")
    return found


class _Parser:
    def __init__(self, path: PathLike, text: str):
        self.found = Described(path, directed=False)
        self._text, self._at = text, 0
        self._runs = {kind: Runs(partial(_spelled_list, kind)) for kind in ("node", "edge")}
        self._odd = 0  # where elements need not be looked for as runs again

    def graph(self) -> Described:
        graphs = 0
        while key := self._key(0):
            graphs += key[0].lower() == "graph"
            if key[0].lower() != "graph":
                self._value(*key, 1)
            elif self._token()[0] != "list":
                raise FileFormatError(self.found.path, "graph is followed by a value", "write graph [ ... ]")
            else:
                while entry := self._key(1):
                    self._entry(*entry)
        if graphs != 1:
            raise FileFormatError(self.found.path, f"{graphs} graphs in the file", "it must have one: graph [ ... ]")
        return self.found

    def _entry(self, key: str, begin: int) -> None:
        if key in self._runs and begin >= self._odd and self._runs[key].are_tried():
            columns, count, self._odd = self._runs[key].find(self._text, begin)
            if count and self._take(key, columns):
                self._at = self._odd
                return
        value = self._value(key, begin, 2)
        if key == "directed":
            self.found.directed |= value == 1
        if key not in self._runs:
            return
        names = _names(value) if isinstance(value, list) else None
        if names and begin >= self._odd:
            self._runs[key].learn(names)
        data = _dict(value) if isinstance(value, list) else {}
        for name in _ENDS[key]:
            if not isinstance(data.get(name), (int, str)):
                self._fail(begin, f"a {key} without {name}", f"give each {key} a whole number")
        if key == "edge":
            self.found.edge(data.pop("source"), data.pop("target"), data)
        else:
            known = data["id"] in self.found.vertices
            self.found.vertex(data.pop("id"), data, self._line(begin) if known else None)

    def _take(self, kind: str, columns: dict[tuple[str, ...], Sequence[str]]) -> bool:
        """Add many vertices or edges, unless something about them is odd."""
        held = {"_".join(names): texts for names, texts in columns.items()}
        try:
            ends = [list(map(int, held.pop(name))) for name in _ENDS[kind]]
        except (ValueError, KeyError):  # an id that is text, or missing
            return False
        return self.found.add([_field(name, texts) for name, texts in held.items()], *ends)

    def _key(self, depth: int) -> tuple[str, int] | None:
        """(the next key of a list at this depth, where it begins), None at the end of the list."""
        kind, token, begin = self._token()
        if kind == "key":
            return token, begin
        if kind != ("end" if depth else "over"):
            if kind == "over":
                self._fail(begin, "a list is not closed: the file is truncated")
            self._fail(begin, f"{token[:60]!r} stands where a key is expected")
        return None

    def _value(self, key: str, begin: int, depth: int) -> Any:
        """A number, a text, or a list of (key, value, where it begins)."""
        kind, token, at = self._token()
        if kind == "list":
            if depth > _DEEPEST:
                self._fail(at, f"lists are nested more than {_DEEPEST} times")
            held = []
            while entry := self._key(depth):
                held.append((*entry, self._value(*entry, depth + 1)))
            return held
        if kind == "over":
            self._fail(begin, f"{key!r} has no value: the file is truncated")
        if kind == "end":
            self._fail(at, f"{token[:60]!r} stands where a value of {key!r} is expected")
        return _value(kind, token)

    def _token(self) -> tuple[str, str, int]:
        """(kind, text, where it begins) of the next token."""
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            at = re.compile(_BLANK).match(self._text, self._at).end()  # type: ignore[union-attr]
            self._fail(at, f"{self._text[at : at + 40]!r} is no key, number, text or bracket")
        kind = str(match.lastgroup)
        self._at = match.end()
        return kind, match[kind], match.start(kind)

    def _line(self, at: int) -> int:
        return self._text.count("\n", 0, at) + 1

    def _fail(
        self, at: int, problem: str, remedy: str = "correct the file, or write it anew by networkx.write_gml"
    ) -> NoReturn:
        raise FileFormatError(self.found.path, problem, remedy, self._line(at))


def _dict(entries: list[Any]) -> dict[str, Any]:
    """A list of keys and values as a dict, flat; a repeated key has the list of its values."""
    held: dict[str, Any] = {}
    for key, _, value in entries:
        value = _dict(value) if isinstance(value, list) else value
        if key in held:
            value = [*(held[key] if isinstance(held[key], list) else [held[key]]), value]
        held[key] = value
    return flattened(held.items())


def _names(entries: list[Any], within: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The keys of the values in a list, each with those of the lists around it."""
    held = [_names(value, (*within, key)) if isinstance(value, list) else [(*within, key)] for key, _, value in entries]
    return list(chain.from_iterable(held))


def _spelled_list(key: str, fields: dict[tuple[str, ...], bool], depth: int = 0) -> str:
    """The regular expression of a list of such values; of none where it repeats a key."""
    lists = [(name, list(held)) for name, held in groupby(fields, itemgetter(depth))]
    alone = all(len(held) == 1 for _, held in lists if depth + 1 in map(len, held))
    if not alone or len(dict(lists)) < len(lists) or len({"_".join(names) for names in fields}) < len(fields):
        return "(?!)" + "()" * len(fields)
    spelled = ""
    for name, held in lists:
        if len(held[0]) == depth + 1:
            each = rf"{re.escape(name)}\s+{_VALUE}\s+"
        else:
            each = _spelled_list(name, {names: fields[names] for names in held}, depth + 1) + r"\s*"
        spelled += each if any(fields[names] for names in held) else f"(?:{each})?"
    return rf"{key}\s*\[\s*{spelled}\]"


def _field(name: str, texts: Sequence[str]) -> Field:
    """A field of a run, where what is missing is empty."""
    begins = {text[:1] for text in texts}
    held: Sequence[str | None] = [text or None for text in texts] if "" in begins else texts
    if begins == {'"'}:
        return name, held, itemgetter(slice(1, -1))
    whole = '"' not in begins and all(text.lstrip("+-").isdigit() for text in texts if text)
    return name, held, int if whole else lambda text: _value("text" if text[0] == '"' else "number", text)


def _value(kind: str, token: str) -> Any:
    if kind == "text":
        return _REFERENCE.sub(_character, token[1:-1])
    if kind == "key":
        return _WORDS.get(token.lower(), token)  # text without quotes, as Gephi and networkx read it
    return int(token) if token.lstrip("+-").isdigit() and len(token) < 4000 else float(token)


def _character(reference: re.Match[str]) -> str:
    """The character of a reference, control characters too, which html.unescape leaves out."""
    if not reference[1]:
        return html.unescape(reference[0])
    code = int(reference[1]) if reference[1].isdigit() else int(reference[1][1:], 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else reference[0]


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
