"""Reading and writing graphs: `read` and `write` choose the format by the extension of the file.

| extension | format | module |
|---|---|---|
| .txt .el .wel .edges .edgelist .ncol .dat, KONECT's out.* | edge list | edgelist |
| .csv .tsv | columns by name | csv |
| .parquet .pq | columns by name | parquet |
| .mtx | MatrixMarket | matrixmarket |
| .graph .metis | METIS | metis |
| .gr .dimacs .col | DIMACS | dimacs |
| .e .v .properties | LDBC Graphalytics | graphalytics |
| .graphml .xml | GraphML | graphml |
| .gml | GML | gml |
| .net | Pajek | pajek |
| .gexf | GEXF, of Gephi | gexf |
| .json | JSON of networkx, Cytoscape, d3 | json |
| .adjlist | adjacency lists of networkx | adjlist |
| .g6 .s6 .d6 | graph6, sparse6, digraph6 | graph6 |
| .lgl | LGL | lgl |
| .dot .gv | DOT, of Graphviz | dot |
| .dl | DL, of UCINET | dl |
| .feather .arrow .ipc | columns by name | feather |
| .sg .wsg | GAPBS | gapbs |
| .npz | numpy, scipy.sparse | npz |
| .tg | memory-mapped container | tg |

Text files may be compressed: .gz, .zst, .bz2 and .xz, or be the one file in a .zip or .tar. A file of another extension
is of the format of its first bytes, where these tell.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from tgraph.core.columns import warn_of_columns
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.files import PathLike
from tgraph.files.archives import is_archive, member
from tgraph.files.byte_stream import CODECS, stem
from tgraph.files.folders import check_no_folder
from tgraph.io.text.banners import recognised
from tgraph.io.text.names import Columns
from tgraph.progress import busy

# Each format is the module of that name, with `read(path, **options)` and `write(graph, path)`.
FORMATS: dict[str, tuple[str, ...]] = {
    "edgelist": (".txt", ".el", ".wel", ".edges", ".edgelist", ".ncol", ".dat"),
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet", ".pq"),
    "matrixmarket": (".mtx",),
    "metis": (".graph", ".metis"),
    "dimacs": (".gr", ".dimacs", ".col"),
    "graphalytics": (".e", ".v", ".properties"),
    "graphml": (".graphml", ".xml"),
    "gml": (".gml",),
    "pajek": (".net",),
    "gexf": (".gexf",),
    "json": (".json",),
    "adjlist": (".adjlist",),
    "graph6": (".g6", ".s6", ".d6"),
    "lgl": (".lgl",),
    "dot": (".dot", ".gv"),
    "dl": (".dl",),
    "feather": (".feather", ".arrow", ".ipc"),
    "gapbs": (".sg", ".wsg"),
    "npz": (".npz",),
    "tg": (".tg",),
}
BINARY = ("parquet", "feather", "gapbs", "npz", "tg")
DESCRIBED = ("graphml", "gml", "pajek", "gexf", "json", "adjlist", "graph6", "lgl", "dot", "dl")
_ALL_COLUMNS = ("tg", "graphml", "gml", "pajek", "gexf", "json", "dot")  # they warn of those that they cannot hold
_TABLES = ("parquet", "feather", "csv")
_ARC_COLUMNS = (*_TABLES, *_ALL_COLUMNS)


def read(
    path: PathLike,
    *,
    format: str | None = None,
    vertices: PathLike | None = None,
    progress: bool = False,
    **options: Any,
) -> Graph:
    """Read a graph from a file.

    `format` names one of `FORMATS`; without it the extension decides. `progress=True` shows a bar over the bytes of a
    text file. A format accepts those of the following `options` that apply to it; see the `read` of its module.

    directed : True or False; None follows the file, and is directed by default. With False every line is one undirected
        edge; a file with all edges in both directions (with equal weights) is detected, so that no edge is duplicated.
        True reads the edges of an undirected file as arcs.
    weights : None reads weights where the file has them (the third column of an edge list, whatever its meaning; the
        column weight of a table; the values of a matrix), and warns where other columns hold numbers. False ignores
        them, as for a column of time stamps. An integer from 3 up names another column of an edge list. Integers
        become int64, other numbers float64.
    multi : how parallel edges are handled, "keep", "first", "sum", "min", "max" or "error", as in Graph.from_edges.
    self_loops : "keep" or "drop".
    ids : "auto" reads integers where the first line has them, else text. Integers are relabelled 0..n-1 in ascending
        order, with the ids in `graph.vertices`; only vertices with an edge count. "keep" takes integers as the vertex
        numbers 0..largest; "compact" requires integers; "text" reads all ids as text, with 007 different from 7.
    source, target, weight : names of columns, for tables; by default source, src, from, u and target, dst, to, v and
        weight, w are recognised. For edge lists, and tables without a header, source and target are numbers from 1.
    columns : further columns of a table, or of an edge list by their numbers from 3 up, that become
        `graph.arc_columns`; True for all. For formats that describe vertices and edges, such as GraphML, also those of
        `graph.vertex_columns`, by default all. In text a column is of numbers where its first line has one. Where a
        file has both arcs of each undirected edge, those are kept that lead to the greater vertex.
    delimiter : the character between columns, for edge lists and CSV; by default detected from the first line.
    encoding : that of edge lists, CSV, GraphML and other formats that describe vertices, where it is neither UTF-8 nor
        UTF-16 with a byte order mark.
    comments : the characters that begin comments of edge lists and CSV, by default # and % at the start of a line;
        others, as in "#" or "/", may follow a blank within a line too. None: there are no comments.
    vertices : beside a table of edges, a file with one row per vertex, .parquet, .csv, .tsv or .feather: its column
        vertex, id or node, or else the first one, has ids, the others become `graph.vertex_columns`. Its vertices come
        first, in its order, isolated ones too. It is what `write` makes, and `graph.frame`.
    skip : the number of leading lines to ignore, for edge lists and CSV.
    strict : for METIS files, whether their lists must agree with each other and with the header. With False an edge in
        the line of one vertex counts, and of two weights of an edge the first is taken, with a warning.
    verify : for .tg files, whether each tensor is verified at first use, in one pass. See `tgraph.verify`.

    Raises FileFormatError with the file, the invalid line and the remedy; ArgumentError for an unknown extension or
    option; OSError where the file cannot be opened. Files of other formats, and web pages or pointers in place of a
    file, are recognised by their first bytes, unless `skip` is given.

    >>> with open("trust.wel", "w") as file:
    ...     print("100 7 0.5", file=file)
    ...     print("7 300 1.5", file=file)
    >>> graph = tg.read("trust.wel")
    >>> graph.vertices, graph.weights
    (tensor([  7, 100, 300]), tensor([1.5000, 0.5000], dtype=torch.float64))
    """
    module = _module_to_read(path, format)
    _check_vertices(vertices, module)
    parts = (getattr(module, "plan", module.read), module.read)
    known = [name for part in parts for name in _parameters(part) if name not in ("path", "options")]
    for name in options:
        if name not in known:
            listed = ", ".join(dict.fromkeys(known))
            short = module.__name__.rpartition(".")[2]
            raise ArgumentError(f"{name}: no option of the format {short}; its options are: {listed}")
    if progress and "progress" in known:
        options["progress"] = True
    with busy(f"read {Path(path).name}"):
        graph = module.read(path, **options)
        if vertices is not None:
            from tgraph.io import vertex_table

            ids = options.get("ids", "auto")
            graph = vertex_table.joined(graph, vertex_table.read(vertices, ids), ids, vertices)
    if all(options.get(name) is None for name in ("weights", "weight", "columns")):
        taken = columns_of(path, format=format, **options)
        if taken is not None and taken.numbers:
            warnings.warn(f"{path}: {taken.warning()}", ColumnsLeftOut, stacklevel=2)
    return graph


def _check_vertices(vertices: PathLike | None, module: ModuleType) -> None:
    if vertices is not None and (short := module.__name__.rpartition(".")[2]) not in _TABLES:
        tables = ", ".join(_TABLES)
        raise ArgumentError(f"vertices: a table of vertices stands beside one of edges, {tables}, not beside {short}")


@functools.cache
def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


class ColumnsLeftOut(UserWarning):
    """Numeric columns that could be weights were ignored, without an explicit option of the caller.

    >>> import warnings
    >>> with open("votes.el", "w") as file:
    ...     print("0 1 1 1082", file=file)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", tg.io.ColumnsLeftOut)
    ...     tg.read("votes.el")
    Traceback (most recent call last):
        ...
    tgraph.io.ColumnsLeftOut: votes.el: column 4 left out: weights come from column 3; weights=4 takes others
    """


def columns_of(
    path: PathLike,
    *,
    format: str | None = None,
    vertices: PathLike | None = None,
    progress: bool = False,
    **options: Any,
) -> Columns | None:
    """The columns that `read` takes from a file; None for formats without named or numbered columns. The arguments are
    those of `read`.

    >>> tg.write(tg.Graph.from_edges([0], [1], [0.5]), "trust.csv")
    >>> tg.io.columns_of("trust.csv")
    Columns(source='source', target='target', weight='weight', numbers=(), others=())
    """
    module = _module_to_read(path, format)
    return module.columns(path, **options) if hasattr(module, "columns") else None


def write(graph: Graph, path: PathLike, *, format: str | None = None, vertices: PathLike | None = None) -> None:
    """Write a graph to a file, atomically.

    `format` names one of `FORMATS`; without it the extension decides. .tg is lossless, .npz but for columns. Those
    that cannot represent isolated vertices, original ids, the direction or columns warn where these are lost; tables
    (.parquet, .csv, .feather) have the columns of arcs, GraphML, GEXF, GML, Pajek, JSON and DOT those of vertices too.
    vertices : beside a table, a second file, .parquet, .csv, .tsv or .feather, with the column vertex of ids and those
    of vertices, a row for each, isolated ones too.
    Raises ArgumentError for an unknown extension, for a binary format with the extension of a compressed file, and for
    a graph that the format cannot represent, or labels that would be misread.

    >>> from pathlib import Path
    >>> graph = tg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0], vertices=["ann", "bob", "eve"])
    >>> tg.write(graph, "people.csv")
    >>> print(Path("people.csv").read_text())
    "source","target","weight"
    "ann","bob",0.5
    "bob","eve",2
    """
    module = format_module(path, format)
    suffix = Path(path).suffix.lower()
    if suffix in CODECS and module.__name__.endswith(BINARY):
        raise ArgumentError(f"path: binary formats are not compressed again; write {stem(path).name!r} instead")
    _check_vertices(vertices, module)
    short = module.__name__.rpartition(".")[2]
    of_vertices, arcs = [graph.vertex_columns] * (short not in _ALL_COLUMNS), [graph.arc_columns]
    warn_of_columns(str(path), *of_vertices * (vertices is None), *arcs * (short not in _ARC_COLUMNS))
    with busy(f"write {Path(path).name}"):
        graph = graph if short == "tg" else graph.to_csr()  # .tg holds layouts
        if vertices is None:
            module.write(graph, path)
            return
        from tgraph.io import vertex_table

        vertex_table.write(graph, vertices)
        module.write(graph, path, alone=True)


def verify(path: PathLike) -> int:
    """Read a whole .tg file, partitioned or not, and compare it with its checksums; returns the number of bytes.

    Raises FileFormatError with the tensor, or block, and the position of a difference; ArgumentError for a file of
    another format, and for a file without checksums, of earlier versions.

    >>> from pathlib import Path
    >>> tg.write(tg.generators.cycle(1000), "cycle.tg")
    >>> tg.verify("cycle.tg") == Path("cycle.tg").stat().st_size
    True
    """
    module = format_module(path)
    if not hasattr(module, "verify"):
        raise ArgumentError(f"path: only .tg files have checksums to verify, not {Path(path).name!r}")
    with busy(f"verify {Path(path).name}"):
        return module.verify(path)


def _module_to_read(path: PathLike, format: str | None) -> ModuleType:
    name = member(path) if format is None and is_archive(path) and Path(path).is_file() else path
    if format is None and stem(name).suffix.lower() == ".dat" and Path(path).is_file() and (found := recognised(path)):
        return format_module(path, found)  # data of any kind
    try:
        return format_module(name, format)
    except ArgumentError:
        if format is None and Path(path).is_file() and (found := recognised(path)):
            return format_module(path, found)
        raise


def format_module(path: PathLike, format: str | None = None) -> ModuleType:
    """The module that reads and writes a format: `format`, or that of the extension of `path`.

    Raises ArgumentError for an unknown extension or format, and for a folder.

    >>> tg.io.format_module("web.el.gz").__name__
    'tgraph.io.text.edgelist'
    """
    check_no_folder(path)
    if format is None:
        plain = stem(path)
        extension = plain.suffix.lower()
        format = next((name for name, extensions in FORMATS.items() if extension in extensions), None)
        if format is None and plain.name.startswith("out."):
            format = "edgelist"
        if format is None:
            known, name = ", ".join(extensions[0] for extensions in FORMATS.values()), Path(path).name or str(path)
            raise ArgumentError(
                f"path: {name!r} has the unknown extension {extension!r}; known are {known} and more; "
                f"or name the format: format={'|'.join(FORMATS)}"
            )
    elif format not in FORMATS:
        raise ArgumentError(f"format: {format!r} is not one of {', '.join(FORMATS)}")
    room = "" if format in BINARY else "described." if format in DESCRIBED else "text."
    return import_module(f"tgraph.io.{room}{format}")
