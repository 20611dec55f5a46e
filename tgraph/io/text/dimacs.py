"""DIMACS graphs: shortest-path challenge (.gr, `p sp`), PACE (`p tw`) and colouring (`p edge`) files."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.io.edges import Rules, check_declared, edges_of, integer_weights, numbered_from_one, warn_of_ids, write_rows
from tgraph.io.text.banners import refuse_others
from tgraph.io.text.columns import first_lines, last_line_before_data, read_columns
from tgraph.io.text.exact import show, whole_number
from tgraph.io.text.line_layout import LineLayout


@dataclass(frozen=True)
class Kind:
    """The form of the edge lines of a DIMACS problem type."""

    fields: tuple[str, ...]
    directed: bool
    comments: str = "c"


_ARCS = Kind(("=a", "id", "id", "number"), directed=True)
_MARKED = Kind(("=e", "id", "id"), directed=False, comments="cn")  # `n vertex value`: a Graph has no vertex values
_WEIGHED = Kind(("=e", "id", "id", "number"), directed=False, comments="cn")
_FLOW = Kind(("=a", "id", "id", "number"), directed=True, comments="cn")
_COSTS = Kind(("=a", "id", "id", "skip", "skip", "number"), directed=True, comments="cn")
_BARE = Kind(("id", "id"), directed=False)
_UNDIRECTED = b"c undirected: each edge is two arcs".split()
_KINDS = {"sp": _ARCS, "max": _FLOW, "min": _COSTS, "tw": _BARE, "td": _BARE}
_KINDS |= dict.fromkeys(("edge", "edges", "col"), _MARKED)


def read(
    path: PathLike,
    *,
    directed: bool | None = None,
    weights: bool | None = None,
    multi: Multi = "keep",
    self_loops: SelfLoops = "keep",
    progress: bool = False,
) -> Graph:
    """Read a DIMACS file; arguments are explained in `tgraph.read`.

    `p sp n m` has arcs `a source target weight` and is directed, unless a comment of `write` says otherwise; `p max`
    has such arcs with capacities, `p min` arcs `a source target lower upper cost`, of which the cost is the weight.
    `p tw n m` has bare `source target` lines and `p edge n m` lines `e source target [weight]`, both undirected. Lines
    `n vertex value` are ignored. Vertices have the ids 1..n, or 0..n-1 where there is a 0, as in files of Boost. Raises
    FileFormatError for an invalid line or header.

    >>> with open("roads.gr", "w") as file:
    ...     print("p sp 3 2", file=file)
    ...     print("a 1 2 17", file=file)
    ...     print("a 2 3 4", file=file)
    >>> tg.read("roads.gr").to_pandas()
       source  target  weight
    0       1       2      17
    1       2       3       4
    """
    refuse_others(path, "dimacs")
    line, kind, n, m, undirected = _read_problem(path)
    check_declared(path, n, m, line)
    _, first = first_lines(path, kind.comments, line, count=1)
    if kind is _MARKED and first and len(first[0][1].split()) == 4:
        kind = _WEIGHED
    fields = tuple("skip" if field == "number" and weights is False else field for field in kind.fields)
    skip = last_line_before_data(path, kind.comments, line)
    layout = LineLayout(fields, skip=skip, comments=kind.comments, lowest=0, highest=n)
    arrays = [array for array in read_columns(path, layout, progress) if array is not None]
    src, dst = arrays[0], arrays[1]
    from_zero = len(src) > 0 and min(src.min(), dst.min()) == 0
    if from_zero and max(src.max(), dst.max()) == n:
        read_columns(path, replace(layout, lowest=1))  # raises the error of the first line with a 0
    if len(src) != m:
        problem = f"the header declares {m} edges, the file has {len(src)}"
        raise FileFormatError(path, problem, "the file is truncated or its header wrong", line=line)
    if not from_zero:
        src -= 1
        dst -= 1
    one_way = kind.directed and not undirected if directed is None else directed
    rules = Rules(one_way, multi, self_loops, num_vertices=n)
    graph = rules.build(src, dst, arrays[2] if len(arrays) == 3 else None)
    return graph if from_zero else numbered_from_one(graph)


def _read_problem(path: PathLike) -> tuple[int, Kind, int, int, bool]:
    """(line of the problem, kind, vertices, edges, whether a preceding comment declares edges undirected)"""
    notes, data = first_lines(path, "c", count=1)
    if not data:
        raise FileFormatError(path, "the file is empty: it has no problem line", "begin it with 'p sp vertices edges'")
    number, words = data[0][0], data[0][1].split()
    if words[0] != b"p":
        problem = f"expected the problem line 'p sp vertices edges', found {show(data[0][1])}"
        raise FileFormatError(path, problem, "put it before the first edge", line=number)
    whole = len(words) == 4 or (len(words) == 5 and words[1].startswith(b"edge"))  # with the number of colours
    kind = _KINDS.get(words[1].decode("latin-1")) if whole else None
    n, m = (whole_number(words[i]) if whole else None for i in (2, 3))
    if kind is None or n is None or m is None:
        problem = f"the problem line {show(data[0][1])} is not a graph"
        raise FileFormatError(path, problem, f"expected 'p {'|'.join(_KINDS)} vertices edges'", line=number)
    return number, kind, n, m, any(note.split() == _UNDIRECTED for note in notes)


def write(graph: Graph, path: PathLike) -> None:
    """Write `p sp` with integer weights, an undirected edge as two arcs, with a comment; without weights, as `p tw`.

    Original ids are not written (a warning says so). Raises ArgumentError for fractional weights and for a directed
    graph without weights, without a DIMACS format.

    >>> from pathlib import Path
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [17, 4]), "roads.gr")
    >>> print(Path("roads.gr").read_text())
    p sp 3 2
    a 1 2 17
    a 2 3 4
    """
    warn_of_ids(graph, "DIMACS")
    integer_weights(graph, "DIMACS")
    if graph.weights is None and graph.directed:
        raise ArgumentError("graph: a directed DIMACS file needs weights; write .mtx or .el, or give weights of 1")
    arcs, header = graph, ""
    if graph.weights is not None and not graph.directed:
        arcs, header = Graph(graph.offset, graph.neighbors, graph.weights), f"{b' '.join(_UNDIRECTED).decode()}\n"
    src, dst, weights = edges_of(arcs)
    columns = {"source": src + 1, "target": dst + 1}
    if weights is not None:
        columns = {"mark": np.full(len(src), "a")} | columns | {"weight": weights}
    write_rows(path, f"{header}p {'tw' if weights is None else 'sp'} {graph.num_vertices} {len(src)}\n", columns)
