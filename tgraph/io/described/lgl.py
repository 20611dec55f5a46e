"""LGL (.lgl), of Large Graph Layout and igraph: `# vertex`, and below it a line for each neighbour, with a weight or
none."""

from __future__ import annotations

import re

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes
from tgraph.io.described.graph import Described, as_number, reader
from tgraph.io.described.rows import rows_of
from tgraph.io.described.source import text_of
from tgraph.io.text.banners import refuse_others

_UNSAFE = re.compile(r"[\s#]|^$")


@reader
def read(path: PathLike, encoding: str | None = None) -> Described:
    """Read an undirected graph; arguments are explained in `tgraph.read`. Edges without a weight have 1, where others
    have one.

    Raises FileFormatError for an invalid line.

    >>> with open("friends.lgl", "w") as file:
    ...     print("# ann\\nbob\\neve 2.5\\n# joe", file=file)
    >>> graph = tg.read("friends.lgl")
    >>> graph.vertices.tolist(), graph.weights.tolist()
    (['ann', 'bob', 'eve', 'joe'], [1.0, 2.5, 1.0, 2.5])
    """
    refuse_others(path, "lgl")
    found = Described(path, directed=False, implied=True)
    source = None
    for number, line in enumerate(text_of(path, encoding).split("\n"), 1):
        words = line.split()
        if not words:
            continue
        if words[0].startswith("#"):
            words = line.replace("#", " ", 1).split()
            if len(words) != 1:
                raise FileFormatError(path, f"{line[:60]!r} is no vertex", "write # and its name", number)
            source = words[0]
            found.vertex(source, {})
            continue
        weight = as_number(words[1]) if len(words) > 1 else 1
        if source is None or len(words) > 2 or isinstance(weight, str):
            problem = f"{line[:60]!r} is no neighbour" + (" of a vertex above it" if source is None else "")
            raise FileFormatError(path, problem, "write its name, and a number or nothing; above them # vertex", number)
        found.edge(source, words[0], {"weight": weight} if len(words) > 1 else {})
    return found


def write(graph: Graph, path: PathLike) -> None:
    """Write `# vertex` for each vertex, and each undirected edge once, with its weight.

    Raises ArgumentError for a directed graph, and for labels with blanks or #.

    >>> from pathlib import Path
    >>> tg.write(tg.Graph.from_edges([0, 0], [1, 2], [3, 7], directed=False), "a.lgl")
    >>> print(Path("a.lgl").read_text())
    # 0
    1 3
    2 7
    # 1
    # 2
    """
    if graph.directed:
        raise ArgumentError("graph: LGL holds undirected graphs; write .ncol or .graphml, or take .as_undirected()")
    rows = rows_of(graph, "LGL", columns=False, unsafe=_UNSAFE)
    weight = rows.of_edges.get("weight")
    lines: list[list[str]] = [[f"# {name}"] for name in rows.names]
    for i, (u, v) in enumerate(rows.edges):
        lines[u].append(str(rows.names[v]) if weight is None else f"{rows.names[v]} {weight.values[i]}")
    with create_bytes(path) as file:
        file.writelines(f"{line}\n".encode() for each in lines for line in each)
