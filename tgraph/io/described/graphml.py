"""GraphML (.graphml): XML with typed data of vertices and edges; http://graphml.graphdrawing.org."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from tgraph.core.graph import Graph
from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes
from tgraph.io.described.graph import Described, reader
from tgraph.io.described.rows import Values, rows_of
from tgraph.io.described.source import NOT_XML, TYPES, Refused, typed
from tgraph.io.described.xml import Texts, read_xml
from tgraph.io.text.banners import refuse_others

_TYPES = {"int": "long", "float": "double", "bool": "boolean", "text": "string"}
_LABELS = ("NodeLabel", "EdgeLabel")  # of yEd, within data


@reader
def read(path: PathLike, encoding: str | None = None) -> Described:
    """Read a GraphML file; arguments are explained in `tgraph.read`.

    Data become columns of their attr.name, with the defaults of their keys, and "weight" the weights; an edge's own
    attributes, such as its id, become columns too. Labels of yEd are the column "label".
    Raises FileFormatError for hyperedges, graphs within vertices, several graphs, data without a key, values of another
    type than declared, and XML with entities of its own.

    >>> import networkx
    >>> G = networkx.Graph([("ann", "bob", {"weight": 2, "since": 1999})])
    >>> networkx.write_graphml(G, "friends.graphml")
    >>> graph = tg.read("friends.graphml")
    >>> graph.vertices.tolist(), graph.weights.tolist(), graph.arc_columns["since"].tolist()
    (['ann', 'bob'], [2, 2], [1999, 1999])
    """
    refuse_others(path, "graphml")
    parser = _Parser(path)
    read_xml(path, encoding, parser)
    if not parser.graphs:
        raise FileFormatError(path, "GraphML without a graph", "check that it is the right file")
    return parser.found


class _Parser:
    parents: Mapping[str, str] = {"node": "graph", "edge": "graph"}
    child = r'<data\s+key="{key}"\s*{value}</data>'
    mark, wrap = ">", ""

    def __init__(self, path: PathLike):
        self.found = Described(path, directed=True)
        self.graphs = 0
        self._keys: dict[str, dict[str, str]] = {}
        self._key: dict[str, str] = {}  # that is being declared
        self._element: tuple[str, dict[str, str]] | None = None  # the vertex or edge that is open, and its attributes
        self._data: dict[str, Any] = {}
        self._of: str | None = None  # the key of the data that are open

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        if tag == "key":
            self._key = self._keys[attributes.get("id", "")] = attributes
        elif tag == "graph":
            if self._element is not None:
                raise Refused(f"the {_called(self._element)} holds a graph of its own", "write that to another file")
            self.graphs += 1
            if self.graphs > 1:
                raise Refused("a second graph in the file", "write each graph to a file of its own")
            self.found.directed = attributes.get("edgedefault") != "undirected"
        elif tag == "hyperedge":
            raise Refused("a hyperedge: an edge here has two ends", "write it as a vertex that is joined to its ends")
        elif tag in ("node", "edge"):
            self._element, self._data = (tag, attributes), {}
        elif tag == "data":
            self._of = attributes.get("key")
            if self._element is not None and self._of not in self._keys:
                raise Refused(f"data of the {_called(self._element)} have the key {self._of!r}", "declare it by <key>")

    def end(self, tag: str, text: str, line: int) -> None:
        if tag == "default":
            self._key["default"] = text
        elif tag == "data":
            key, self._of = self._keys.get(self._of or "", {}), None
            if self._element is not None and "attr.name" in key:
                self._data[key["attr.name"]] = typed(text, key.get("attr.type", "string"))
        elif tag in _LABELS and self._of is not None:
            self._data.setdefault("label", text.strip())
        elif tag == "node":
            _, attributes = self._closed(tag)
            self.found.vertex(_needed(attributes, "id", tag), self._data, line)
        elif tag == "edge":
            _, own = self._closed(tag)
            source, target, way = _needed(own, "source", tag), _needed(own, "target", tag), own.get("directed")
            others = {name: value for name, value in own.items() if name not in ("source", "target", "directed")}
            self.found.edge(source, target, others | self._data, None if way is None else way == "true")

    def many(self, tag: str, own: dict[str, Texts], data: dict[str, Texts]) -> bool:
        ends: list[Any] = [own.pop(name, (None,)) for name in (("id",) if tag == "node" else ("source", "target"))]
        if any(None in each for each in ends) or not data.keys() <= self._keys.keys():
            return False
        ways = [None if way is None else way == "true" for way in own.pop("directed", ())]
        texts: list[Any] = [] if tag == "node" else [(name, held, str) for name, held in own.items()]
        for name, key in self._keys.items():
            default = key.get("default") if key.get("for", "all") in (tag, "all") else None
            held = data.get(name, [None] * len(ends[0]))
            held = held if default is None else [default if text is None else text for text in held]
            if "attr.name" in key and (name in data or default is not None):
                texts.append((key["attr.name"], held, TYPES.get(key.get("attr.type", "string"), str)))
        return self.found.add(texts, *ends, ways=ways)

    def _closed(self, tag: str) -> tuple[str, dict[str, str]]:
        element, self._element = self._element, None
        if element is None:
            raise Refused(f"a {tag} within another", "write one after the other")
        for key in self._keys.values():
            if "default" in key and key.get("for", "all") in (tag, "all") and "attr.name" in key:
                self._data.setdefault(key["attr.name"], typed(key["default"], key.get("attr.type", "string")))
        return element


def _called(element: tuple[str, dict[str, str]]) -> str:
    tag, attributes = element
    named = "source", "target"
    return f"{tag} {attributes['id']!r}" if "id" in attributes else f"{tag} {[attributes.get(end) for end in named]}"


def _needed(attributes: dict[str, str], name: str, tag: str) -> str:
    if name not in attributes:
        raise Refused(f"a {tag} without {name}", f'write {name}="..." there')
    return attributes[name]


def write(graph: Graph, path: PathLike) -> None:
    """Write vertices, edges, weights and columns of numbers, bools and text; each undirected edge once.

    Raises ArgumentError for characters that XML cannot hold, and for text labels that are all integers.

    >>> import networkx
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0]), "a.graphml")
    >>> list(networkx.read_graphml("a.graphml").edges(data="weight"))
    [('0', '1', 0.5), ('1', '2', 2.0)]
    """
    rows = rows_of(graph, "GraphML", unsafe=NOT_XML)
    with create_bytes(path) as file:
        file.write(b'<?xml version="1.0" encoding="utf-8"?>\n')
        file.write(b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for tag, columns in (("node", rows.of_vertices), ("edge", rows.of_edges)):
            for number, (name, values) in enumerate(columns.items()):
                kind = f'for="{tag}" attr.name={quoteattr(name)} attr.type="{_TYPES[values.kind]}"'
                file.write(f'  <key id="{tag}{number}" {kind}/>\n'.encode())
        file.write(f'  <graph edgedefault="{"directed" if rows.directed else "undirected"}">\n'.encode())
        names = [quoteattr(str(name)) for name in rows.names]
        for i, name in enumerate(names):
            file.write(f"    <node id={name}>{_data('node', rows.of_vertices, i)}</node>\n".encode())
        for i, (u, v) in enumerate(rows.edges):
            data = _data("edge", rows.of_edges, i)
            file.write(f"    <edge source={names[u]} target={names[v]}>{data}</edge>\n".encode())
        file.write(b"  </graph>\n</graphml>\n")


def _data(tag: str, columns: dict[str, Values], i: int) -> str:
    data = ""
    for number, column in enumerate(columns.values()):
        value = column.values[i]
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else escape(str(value), {"\r": "&#13;"})
            data += f'<data key="{tag}{number}">{text}</data>'
    return data
