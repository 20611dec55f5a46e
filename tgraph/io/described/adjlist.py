"""Adjacency lists (.adjlist), as of networkx: a line holds a vertex and its neighbours."""

from __future__ import annotations

import re

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes
from tgraph.io.described.graph import Described, reader
from tgraph.io.described.rows import rows_of
from tgraph.io.described.source import text_of
from tgraph.io.text.banners import refuse_others

_UNDIRECTED = "# Undirected graph"
_UNSAFE = re.compile(r"[\s#,:]|^$")


@reader
def read(path: PathLike, encoding: str | None = None) -> Described:
    """Read lines `vertex neighbour ...`, where a colon may follow the vertex; # begins a comment. Arguments are
    explained in `tgraph.read`.

    The lists of networkx do not say whether edges are directed, those of `write` do; without, they are.

    >>> import networkx
    >>> networkx.write_adjlist(networkx.path_graph(3), "path.adjlist")
    >>> tg.read("path.adjlist", directed=False)
    Graph(3 vertices, 4 arcs, undirected, ... B, cpu)
    """
    refuse_others(path, "adjlist")
    text = text_of(path, encoding)
    found = Described(path, directed=not text.startswith(_UNDIRECTED), implied=True)
    for line in text.split("\n"):
        words = line.partition("#")[0].replace(",", " ").replace(":", " ", 1).split()
        if words:
            found.vertex(words[0], {})
            for target in words[1:]:
                found.edge(words[0], target, {})
    if not found.vertices and not text.startswith("#"):
        raise FileFormatError(path, "the file is empty", "check that it is the right file")
    return found


def write(graph: Graph, path: PathLike) -> None:
    """Write a line for each vertex, with those that its edges lead to; each undirected edge once.

    Raises ArgumentError for weights, and for labels with blanks, commas, colons or #.

    >>> from pathlib import Path
    >>> tg.write(tg.generators.path(3), "path.adjlist")
    >>> print(Path("path.adjlist").read_text())
    # Undirected graph
    0 1
    1 2
    2
    """
    if graph.weights is not None:
        raise ArgumentError("graph.weights: an adjacency list holds no weights; write .wel, .json or .tg")
    rows = rows_of(graph, "an adjacency list", columns=False, unsafe=_UNSAFE)
    lines = [[str(name)] for name in rows.names]
    for u, v in rows.edges:
        lines[u].append(str(rows.names[v]))
    with create_bytes(path) as file:
        file.write(b"# Directed graph\n" if rows.directed else f"{_UNDIRECTED}\n".encode())
        file.writelines(f"{' '.join(line)}\n".encode() for line in lines)
