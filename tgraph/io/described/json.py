"""JSON (.json): networkx' node-link and adjacency data, Cytoscape, d3, JSON Graph Format, and lists of pairs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tgraph.core.graph import Graph
from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes
from tgraph.io.columns import Column, columns_of
from tgraph.io.described.graph import Described, flattened, reader
from tgraph.io.described.rows import rows_of
from tgraph.io.described.source import text_of
from tgraph.io.text.banners import refuse_others

_ENDS = ("source", "target"), ("from", "to"), ("src", "dst"), ("start", "end"), ("u", "v")
_NAMES = ("id", "key", "name", "label")  # of a vertex
_KNOWN = '{"nodes": [{"id": ...}], "links": [{"source": ..., "target": ...}]}'


@reader
def read(path: PathLike, encoding: str | None = None) -> Described:
    """Read a graph in JSON; arguments are explained in `tgraph.read`.

    Known are objects with "nodes" and "links" or "edges" (networkx.node_link_data, d3, vis.js, JSON Graph Format), with
    "adjacency" (networkx.adjacency_data), elements of Cytoscape, within "elements" or not, an object of lists of
    neighbours, and lists of pairs or of objects with source and target. Ids are of "id", "key", "name" or "label"; in
    d3 ends may be positions of vertices. Other entries become columns, nested ones as in data_x, and "weight", or
    numbers "value", the weights.
    Edges are undirected unless the file says "directed": true, as networkx has it; pairs and neighbours are directed.
    Raises FileFormatError for other JSON.

    >>> import json, networkx
    >>> with open("karate.json", "w") as file:
    ...     json.dump(networkx.node_link_data(networkx.karate_club_graph()), file)
    >>> tg.read("karate.json")
    Graph(34 vertices, 156 arcs, undirected, weights int64, column club, ...B, cpu)
    """
    refuse_others(path, "json")
    try:
        value = json.loads(text_of(path, encoding))
    except json.JSONDecodeError as fault:
        raise FileFormatError(path, f"not JSON ({fault.msg})", "correct the file", line=fault.lineno) from fault
    except (RecursionError, ValueError) as fault:
        raise FileFormatError(path, f"JSON of no graph ({fault})", f"write {_KNOWN}") from fault
    while isinstance(value, dict) and isinstance(value.get("graph"), dict) and "nodes" not in value:
        if "adjacency" in value or "elements" in value or "nodes" not in value["graph"]:
            break
        value = value["graph"]
    found = Described(path, directed=isinstance(value, dict) and value.get("directed") is True)
    if isinstance(value, list):
        _pairs(found, value)
    elif not isinstance(value, dict):
        raise FileFormatError(path, "JSON of no graph", f"write {_KNOWN}")
    elif "elements" in value or _is_cytoscape(value):
        _cytoscape(found, value if "elements" in value else {"elements": value})
    elif "adjacency" in value and isinstance(value.get("nodes"), list):
        _adjacency(found, value)
    elif isinstance(links := value.get("links", value.get("edges")), list):
        _links(found, value.get("nodes"), links)
    elif value and all(isinstance(each, list) for each in value.values()):
        found.directed = found.implied = True
        for source, targets in value.items():
            found.vertex(source, {})
            for target in targets:
                found.edge(source, str(_id(found, target)), {})
    else:
        raise FileFormatError(path, f"JSON of no graph, with {', '.join(list(value)[:5])}", f"write {_KNOWN}")
    return found


def _links(found: Described, nodes: Any, links: list[Any]) -> None:
    names: list[Any] = []
    if isinstance(nodes, dict):
        nodes = [(value if isinstance(value, dict) else {}) | {"id": name} for name, value in nodes.items()]
    found.implied = nodes is None
    kinds = [[key for key in _NAMES if isinstance(node, dict) and key in node][:1] for node in nodes or ()]
    for i, node in enumerate(nodes or ()):
        data = dict(node) if isinstance(node, dict) else {"id": node}
        key = "id" if not isinstance(node, dict) else kinds[i][0] if kinds[i] else None
        names.append(i if key is None else _id(found, data.pop(key)))
        found.vertex(names[-1], flattened(data.items()))
    sources, targets, columns = _taken_alike(links) or _taken_each(found, links)
    ends = {*sources, *targets}
    if names and not ends <= found.vertices.keys() and all(type(end) is int and 0 <= end < len(names) for end in ends):
        sources, targets = [names[end] for end in sources], [names[end] for end in targets]
    rows = found.add_edges(sources, targets)
    found.of_edges.put_columns(rows, {name: (slice(None), each) for name, each in columns.items()})


Taken = tuple[list[Any], list[Any], dict[str, Column]]  # sources, targets, further data of edges


def _taken_each(found: Described, links: list[Any]) -> Taken:
    each = [_taken(found, link) for link in links]
    return (
        [source for source, *_ in each],
        [target for _, target, _ in each],
        columns_of([data for *_, data in each], None),
    )


def _taken_alike(links: list[Any]) -> Taken | None:
    """The same of edges that are plain objects; None for others."""
    if not all(type(link) is dict for link in links):
        return None
    columns = columns_of(links, None)
    ends = next((ends for ends in _ENDS if columns.keys() >= {*ends}), None)
    if ends is None or "directed" in columns:
        return None
    sources, targets = (columns.pop(end).tolist() for end in ends)
    nested = any(dict in map(type, each.values) for each in columns.values() if isinstance(each.values, np.ndarray))
    plain = {type(end) for end in (*sources, *targets)} in ({str}, {int})
    return (sources, targets, columns) if plain and not nested else None


def _taken(found: Described, link: Any) -> tuple[Any, Any, dict[str, Any]]:
    """(source, target, further data) of an edge."""
    if isinstance(link, list) and len(link) in (2, 3):
        rest = link[2] if len(link) == 3 else {}
        data = rest if isinstance(rest, dict) else {"weight": rest}
        return _id(found, link[0]), _id(found, link[1]), flattened(data.items())
    if isinstance(link, dict):
        for source, target in _ENDS:
            if source in link and target in link:
                ends = _id(found, link[source]), _id(found, link[target])
                data = {name: value for name, value in link.items() if name not in (source, target)}
                way = data.pop("directed", None)
                found.directed = found.directed or way is True
                return *ends, flattened(data.items())
    problem = f"{json.dumps(link)[:60]} is no edge"
    raise FileFormatError(found.path, problem, 'write {"source": ..., "target": ...}')


def _id(found: Described, value: Any) -> Any:
    if isinstance(value, dict):  # d3 puts the vertices themselves into links
        value = next((value[key] for key in _NAMES if key in value), None)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise FileFormatError(found.path, f"{json.dumps(value)[:60]} is no id", "ids are whole numbers or text")
    return value


def _pairs(found: Described, pairs: list[Any]) -> None:
    found.directed = found.implied = True
    if any(isinstance(each, dict) and ("group" in each or "data" in each) for each in pairs):
        _cytoscape(found, {"elements": pairs})
        return
    _links(found, None, pairs)


def _is_cytoscape(value: dict[str, Any]) -> bool:
    """Whether these are the elements of Cytoscape: the first edge, or without edges the first vertex, is in "data"."""
    edges, nodes = (held if isinstance(held := value.get(name), list) else [] for name in ("edges", "nodes"))
    name, first = "source" if edges else "id", next(iter(edges or nodes), None)
    data = first.get("data") if isinstance(first, dict) and name not in first else None
    return isinstance(data, dict) and name in data


def _cytoscape(found: Described, value: dict[str, Any]) -> None:
    held = value["elements"]
    if isinstance(held, dict):
        held = [*held.get("nodes", ()), *held.get("edges", ())]
    of_graph = value.get("data")
    found.directed = found.directed or (isinstance(of_graph, dict) and of_graph.get("directed") is True)
    elements = [dict(each["data"]) for each in held if isinstance(each, dict) and isinstance(each.get("data"), dict)]
    if len(elements) < len(held):
        raise FileFormatError(found.path, "an element without data", 'write {"data": {"id": ...}}')
    for data in elements:
        if "source" not in data:
            found.vertex(str(_id(found, data.pop("id", None))), flattened(data.items()))
    for data in elements:
        if "source" in data:
            source, target, rest = _taken(found, data)
            found.edge(str(source), str(target), rest)  # networkx writes text there and integers here


def _adjacency(found: Described, value: dict[str, Any]) -> None:
    names = []
    for node in value["nodes"]:
        data = dict(node)
        names.append(_id(found, data.pop("id", None)))
        found.vertex(names[-1], flattened(data.items()))
    place = {name: i for i, name in enumerate(names)}
    for source, row in zip(names, value["adjacency"], strict=False):
        for each in row:
            data = dict(each)
            target = _id(found, data.pop("id", None))
            if found.directed or place[source] <= place.get(target, -1):  # undirected edges are in both rows
                found.edge(source, target, flattened(data.items()))


def write(graph: Graph, path: PathLike) -> None:
    """Write networkx' node-link data: vertices, edges, weights, and columns of numbers, bools and text.

    >>> import json, networkx
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0], vertices=["ann", "bob", "eve"]), "a.json")
    >>> with open("a.json") as file:
    ...     G = networkx.node_link_graph(json.load(file))
    >>> list(G.edges(data="weight"))
    [('ann', 'bob', 0.5), ('bob', 'eve', 2.0)]
    """
    rows = rows_of(graph, "JSON", reserved=(("id",), ("source", "target", "directed")))
    nodes = [{"id": name} | data for name, data in zip(rows.names, rows.vertex_data(), strict=True)]
    edges = [
        {"source": rows.names[u], "target": rows.names[v]} | data
        for (u, v), data in zip(rows.edges, rows.edge_data(), strict=True)
    ]
    parallel = len(set(rows.edges)) < len(rows.edges)
    head = {"directed": rows.directed, "multigraph": parallel, "graph": {}}
    with create_bytes(path) as file:
        file.write(json.dumps(head | {"nodes": nodes, "edges": edges}, ensure_ascii=False).encode())
        file.write(b"\n")
