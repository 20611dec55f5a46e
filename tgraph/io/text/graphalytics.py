"""LDBC Graphalytics: vertices in name.v, edges in name.e, their direction in name.properties."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import CODECS, create_bytes, lines, open_bytes, stem
from tgraph.io.edges import Rules, edges_of, write_rows
from tgraph.io.text.banners import refuse_others
from tgraph.io.text.columns import first_lines, read_columns
from tgraph.io.text.line_layout import LineLayout

_SUFFIXES = (".v", ".e", ".properties")
_DIRECTED = re.compile(r"(?m)^\s*graph\..*\.directed\s*=\s*(true|false)\s*$")


def read(
    path: PathLike,
    *,
    directed: bool | None = None,
    weights: bool | None = None,
    multi: Multi = "keep",
    self_loops: SelfLoops = "keep",
    progress: bool = False,
) -> Graph:
    """Read the graph of `path`: name.v, name.e, name.properties or their common prefix `name`.

    Arguments are explained in `tgraph.read`.
    The vertices are those of name.v, isolated ones too, in ascending order of their ids. A third column of name.e is
    the weight. Without `directed`, name.properties decides; without that file the graph is directed.
    Raises FileFormatError for an invalid or missing file, and an edge to a vertex missing in name.v.

    >>> tg.write(tg.generators.star(3), "star.e")
    >>> graph = tg.read("star.properties")
    >>> graph.num_edges, graph.directed
    (3, False)
    """
    prefix = _prefix(path)
    vertices = np.sort(_read_vertices(_beside(prefix, ".v")))
    edges = _beside(prefix, ".e")
    src, dst, values = _read_edges(edges, weights is not False, progress)
    if directed is None:
        directed = _directed(prefix)
    plain = len(vertices) == 0 or (vertices[0] == 0 and vertices[-1] == len(vertices) - 1)
    graph = Rules(directed, multi, self_loops, num_vertices=len(vertices)).build(
        *_index(edges, vertices, src, dst), values
    )
    ids = None if plain else torch.from_numpy(vertices)
    return Graph(graph.offset, graph.neighbors, graph.weights, ids, graph.directed)


def _prefix(path: PathLike) -> Path:
    path = stem(path)
    return path.with_suffix("") if path.suffix in _SUFFIXES else path


def _beside(prefix: Path, suffix: str) -> Path:
    candidates = [Path(f"{prefix}{suffix}{codec}") for codec in ("", *CODECS)]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        raise FileFormatError(candidates[0], "there is no such file", "a Graphalytics graph needs name.v and name.e")
    return found


def _read_vertices(path: Path) -> np.ndarray:
    width = _width(path) or 1
    ids = read_columns(path, LineLayout(("id",) + ("skip",) * (width - 1), comments="#"))[0].astype(np.int64)
    ordered, counts = np.unique(ids, return_counts=True)
    if len(ordered) != len(ids):
        twice = ordered[counts > 1][0]
        raise FileFormatError(path, f"the vertex {twice} is listed twice", "list every vertex once")
    return ids


def _read_edges(path: Path, weighted: bool, progress: bool) -> tuple[np.ndarray, np.ndarray, Any]:
    width = max(_width(path), 2)
    fields = ("id", "id", "number" if weighted else "skip")[:width] + ("skip",) * (width - 3)
    src, dst, *values = read_columns(path, LineLayout(fields, comments="#"), progress)
    return src, dst, values[0] if values else None


def _width(path: Path) -> int:
    """The number of fields of the first line, 0 for an empty file."""
    refuse_others(path, "graphalytics")
    _, data = first_lines(path, "#", count=1)
    return len(data[0][1].split()) if data else 0


def _directed(prefix: Path) -> bool:
    properties = Path(f"{prefix}.properties")
    if not properties.is_file():
        return True
    said = _DIRECTED.search(properties.read_text(encoding="utf-8-sig", errors="replace"))
    if said is None:
        problem = "no line 'graph.NAME.directed = true|false'"
        raise FileFormatError(properties, problem, "add it, or pass directed= to the reader")
    return said[1] == "true"


def _index(path: Path, vertices: np.ndarray, src: np.ndarray, dst: np.ndarray) -> tuple[Tensor, Tensor]:
    """The ends as positions in the ascending `vertices`; searches the distinct ids only."""
    used, *ends = sorting.compact(torch.from_numpy(src), torch.from_numpy(dst))
    known = torch.from_numpy(vertices)
    place = torch.searchsorted(known, used)
    unknown = place == len(known)
    unknown[~unknown] = known[place[~unknown]] != used[~unknown]
    if bool(unknown.any()):
        missing = int(used[unknown][0])
        problem = f"an edge names the vertex {missing}, missing in the vertex file"
        raise FileFormatError(path, problem, "list every vertex in the .v file", _line_of(path, missing))
    if len(used) != len(known):
        place = place.to(ends[0].dtype)
        ends = [place.index_select(0, end) for end in ends]
    return ends[0], ends[1]


def _line_of(path: Path, vertex: int) -> int | None:
    """The number of the first line with an end `vertex`."""
    with open_bytes(path) as stream:
        named = str(vertex).encode()
        return next((number for number, line in lines(stream) if named in line.split()[:2]), None)


def write(graph: Graph, path: PathLike) -> None:
    """Write name.v, name.e and name.properties; `path` names any of the three.

    Raises ArgumentError for labels: ids are integers in this format.

    >>> from pathlib import Path
    >>> tg.write(tg.Graph.from_edges([0, 1], [1, 2], [17, 4]), "roads.e")
    >>> print(Path("roads.e").read_text())
    0 1 17
    1 2 4
    """
    if isinstance(graph.vertices, np.ndarray) and len(graph.vertices):
        label = graph.vertices[0]
        raise ArgumentError(f"graph.vertices: Graphalytics ids are integers, not {label!r}; write .tg or .parquet")
    names = graph.vertices.cpu().numpy() if isinstance(graph.vertices, Tensor) else np.arange(graph.num_vertices)
    src, dst, weights = edges_of(graph)
    columns = {"source": names[src], "target": names[dst]} | ({} if weights is None else {"weight": weights})
    prefix, codec = _prefix(path), Path(path).suffix if Path(path).suffix in CODECS else ""
    for suffix, table in ((".v", {"id": names.astype(np.int64)}), (".e", columns)):
        write_rows(f"{prefix}{suffix}{codec}", "", table)
    weighted = "" if weights is None else f"graph.{prefix.name}.edge-properties.names = weight\n"
    with create_bytes(f"{prefix}.properties") as file:
        directed = str(graph.directed).lower()
        text = (
            f"graph.{prefix.name}.vertex-file = {prefix.name}.v{codec}\n"
            f"graph.{prefix.name}.edge-file = {prefix.name}.e{codec}\n"
            f"graph.{prefix.name}.meta.vertices = {graph.num_vertices}\n"
            f"graph.{prefix.name}.meta.edges = {graph.num_edges}\n"
            f"graph.{prefix.name}.directed = {directed}\n{weighted}"
        )
        file.write(text.encode())
