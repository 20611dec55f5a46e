"""GEXF (.gexf), of Gephi: XML with typed data of vertices and edges; https://gexf.net."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

from tgraph.core.graph import Graph
from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes
from tgraph.io.described.graph import Described, as_number, drop, reader
from tgraph.io.described.rows import Values, rows_of
from tgraph.io.described.source import NOT_XML, TYPES, Refused, typed
from tgraph.io.described.xml import Texts, read_xml
from tgraph.io.text.banners import refuse_others

_TYPES = {"int": "long", "float": "double", "bool": "boolean", "text": "string"}
_OWN = {"node": ("id",), "edge": ("source", "target", "type")}
_WAYS = {"directed": True, "undirected": False, "mutual": False}
_PICTURE = ("color", "position", "size", "thickness", "shape")  # of the namespace viz


@reader
def read(path: PathLike, encoding: str | None = None) -> Described:
    """Read a GEXF file; arguments are explained in `tgraph.read`.

    Attributes become columns of their title, with their defaults, and the weight of edges the weights; so do start and
    end, labels and ids of edges that are not the usual ones, and what viz says, as in position_x. Of values that change
    over time the last is taken. Vertices within others have these as "pid". Values of attributes that are not declared
    are text.
    Raises FileFormatError for values of another type than declared.

    >>> import networkx
    >>> networkx.write_gexf(networkx.DiGraph([("ann", "bob", {"weight": 2.5})]), "friends.gexf")
    >>> graph = tg.read("friends.gexf")
    >>> graph.directed, graph.weights.tolist(), list(graph.vertex_columns)
    (True, [2.5], [])
    """
    refuse_others(path, "gexf")
    parser = _Parser(path)
    read_xml(path, encoding, parser)
    if not parser.graphs:
        raise FileFormatError(path, "GEXF without a graph", "check that it is the right file")
    found = parser.found
    drop(found.vertex_columns, "label", found.vertices)
    drop(found.edge_columns, "id", map(str, range(len(found))))
    return found


class _Parser:
    parents: Mapping[str, str] = {"node": "nodes", "edge": "edges"}
    child = r'<attvalue\s+(?:for|id)="{key}"\s+value={value}"\s*(?:/>|></attvalue>)'
    mark, wrap = '"', "attvalues"

    def __init__(self, path: PathLike):
        self.found = Described(path, directed=False)
        self.graphs = 0
        self._of = ""  # the class of attributes that are being declared
        self._declared: dict[str, dict[str, dict[str, str]]] = {"node": {}, "edge": {}}
        self._attribute: dict[str, str] = {}
        self._open: list[tuple[str, dict[str, str], dict[str, Any]]] = []  # tag, attributes and data of elements

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        if tag == "graph":
            self.graphs += 1
            if self.graphs > 1:
                raise Refused("a second graph in the file", "write each graph to a file of its own")
            self.found.directed = attributes.get("defaultedgetype") == "directed"
        elif tag == "attributes":
            self._of = attributes.get("class", "node")
        elif tag == "attribute":
            self._attribute = attributes
            self._declared.setdefault(self._of, {})[attributes.get("id", "")] = attributes
        elif tag in _OWN:
            within = [own.get("id") for outer, own, _ in self._open if outer == tag == "node"]
            data: dict[str, Any] = {"pid": within[-1]} if within else {}
            data |= {name: _plain(name, value) for name, value in attributes.items() if name not in _OWN[tag]}
            self._open.append((tag, attributes, data))
        elif tag == "attvalue" and self._open:
            kind, _, data = self._open[-1]
            key, value = attributes.get("for", attributes.get("id", "")), attributes.get("value", "")
            declared = self._declared[kind].get(key, {})
            if value != "null" or declared.get("type", "string") not in TYPES:  # so Gephi writes that there is none
                data[declared.get("title", key)] = typed(value, declared.get("type", "string"))
        elif tag in _PICTURE and self._open:
            self._open[-1][2].update({f"{tag}_{name}": as_number(value) for name, value in attributes.items()})

    def end(self, tag: str, text: str, line: int) -> None:
        if tag == "default":
            self._attribute["default"] = text
        if tag not in _OWN or not self._open:
            return
        _, own, data = self._open.pop()
        for name in _OWN[tag][:-1] or _OWN[tag]:
            if name not in own:
                raise Refused(f"a {tag} without {name}", f'write {name}="..." there')
        for key, attribute in self._declared[tag].items():
            if "default" in attribute:
                value = typed(attribute["default"], attribute.get("type", "string"))
                data.setdefault(attribute.get("title", key), value)
        if tag == "node":
            self.found.vertex(own["id"], data, line)
        else:
            self.found.edge(own["source"], own["target"], data, _WAYS.get(own.get("type", "")))

    def many(self, tag: str, own: dict[str, Texts], data: dict[str, Texts]) -> bool:
        ends: list[Any] = [own.pop(name, (None,)) for name in (("id",) if tag == "node" else ("source", "target"))]
        declared = self._declared[tag]
        if self._open or any(None in each for each in ends) or not data.keys() <= declared.keys():
            return False
        ways = [_WAYS.get(way or "") for way in own.pop("type", ())] if tag == "edge" else []
        texts: list[Any] = [(name, held, as_number if name == "weight" else str) for name, held in own.items()]
        for name, attribute in declared.items():
            default = attribute.get("default")
            held = data.get(name, [None] * len(ends[0]))
            held = held if default is None else [default if text is None else text for text in held]
            if name in data or default is not None:
                texts.append((attribute.get("title", name), held, TYPES.get(attribute.get("type", "string"), str)))
        return self.found.add(texts, *ends, ways=ways)


def _plain(name: str, value: str) -> Any:
    return as_number(value) if name == "weight" else value


def write(graph: Graph, path: PathLike) -> None:
    """Write vertices, edges, weights and columns of numbers, bools and text; each undirected edge once.

    Raises ArgumentError for characters that XML cannot hold, and for text labels that are all integers.

    >>> import networkx
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0]), "a.gexf")
    >>> list(networkx.read_gexf("a.gexf").edges(data="weight"))
    [('0', '1', 0.5), ('1', '2', 2.0)]
    """
    rows = rows_of(graph, "GEXF", unsafe=NOT_XML)
    weight, ids = rows.of_edges.pop("weight", None), rows.of_edges.pop("id", None)
    labels = rows.of_vertices.pop("label", None)
    with create_bytes(path) as file:
        file.write(
            b'<?xml version="1.0" encoding="utf-8"?>\n<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">\n'
        )
        file.write(f'  <graph defaultedgetype="{"directed" if rows.directed else "undirected"}">\n'.encode())
        for tag, columns in (("node", rows.of_vertices), ("edge", rows.of_edges)):
            file.write(f'    <attributes class="{tag}">\n'.encode())
            for name, values in columns.items():
                title = quoteattr(name)
                file.write(f'      <attribute id={title} title={title} type="{_TYPES[values.kind]}"/>\n'.encode())
            file.write(b"    </attributes>\n")
        names = [quoteattr(str(name)) for name in rows.names]
        file.write(b"    <nodes>\n")
        for i, name in enumerate(names):
            own = "" if labels is None or labels.values[i] is None else f" label={_text(labels.values[i])}"
            file.write(f"      <node id={name}{own}>{_values(rows.of_vertices, i)}</node>\n".encode())
        file.write(b"    </nodes>\n    <edges>\n")
        for i, (u, v) in enumerate(rows.edges):
            own = f"id={_text(i if ids is None else ids.values[i])} source={names[u]} target={names[v]}"
            if weight is not None:
                own += f' weight="{weight.values[i]}"'
            file.write(f"      <edge {own}>{_values(rows.of_edges, i)}</edge>\n".encode())
        file.write(b"    </edges>\n  </graph>\n</gexf>\n")


def _values(columns: dict[str, Values], i: int) -> str:
    data = "".join(
        f"<attvalue for={quoteattr(name)} value={_text(column.values[i])}/>"
        for name, column in columns.items()
        if column.values[i] is not None
    )
    return f"<attvalues>{data}</attvalues>" if data else ""


def _text(value: Any) -> str:
    return quoteattr(str(value).lower() if isinstance(value, bool) else str(value))
