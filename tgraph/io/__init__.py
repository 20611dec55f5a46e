"""Reading and writing graphs: `read` and `write` choose the format by the extension of the file.

| extension | format | module |
|---|---|---|
| .txt .el .wel .edges .edgelist .ncol, KONECT's out.* | edge list | edgelist |
| .csv .tsv | columns by name | csv |
| .parquet .pq | columns by name | parquet |
| .mtx | MatrixMarket | matrixmarket |
| .graph .metis | METIS | metis |
| .gr .dimacs .col | DIMACS | dimacs |
| .e .v .properties | LDBC Graphalytics | graphalytics |
| .npz | numpy, scipy.sparse | npz |
| .tg | memory-mapped container | tg |

Text files may be compressed: .gz, .zst, .bz2 and .xz.
"""

from __future__ import annotations

import inspect
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.files import PathLike
from tgraph.files.byte_stream import CODECS, stem
from tgraph.io.text.names import Columns

# Each format is the module of that name, with `read(path, **options)` and `write(graph, path)`.
FORMATS: dict[str, tuple[str, ...]] = {
    "edgelist": (".txt", ".el", ".wel", ".edges", ".edgelist", ".ncol"),
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet", ".pq"),
    "matrixmarket": (".mtx",),
    "metis": (".graph", ".metis"),
    "dimacs": (".gr", ".dimacs", ".col"),
    "graphalytics": (".e", ".v", ".properties"),
    "npz": (".npz",),
    "tg": (".tg",),
}
BINARY = ("parquet", "npz", "tg")  # the others are in `tgraph.io.text`


def read(path: PathLike, *, format: str | None = None, progress: bool = False, **options: Any) -> Graph:
    """Read a graph from a file.

    `format` names one of `FORMATS`; without it the extension decides. `progress=True` shows a bar over the bytes of a
    text file. Every format takes those of the following options that make sense for it; see the `read` of its module.

    directed : True or False; None lets the file decide, and where it cannot say, the graph is directed. With False
        every line is one undirected edge, unless the file lists all edges in both directions (with equal weights):
        that is recognised, and nothing is doubled. True takes the edges of an undirected file as arcs.
    weights : None reads weights where the file has them (the third column of an edge list, whatever it means; the
        column weight of a table; the values of a matrix), and warns where other columns hold numbers. False leaves them
        out: do so where that column is a time stamp. A number from 3 upwards names another column of an edge list.
        Integers become int64, anything else float64.
    multi : what becomes of parallel edges, "keep", "first", "sum", "min", "max" or "error", as in Graph.from_edges.
    self_loops : "keep" or "drop".
    ids : "auto" takes integers where the first line has them, else text. Integers are relabelled 0..n-1 in ascending
        order and kept in `graph.vertices`; only vertices with an edge count. "keep" takes integers as the vertex
        numbers 0..largest; "compact" demands integers; "text" takes all ids as text.
    source, target, weight : names of columns, for tables; else source, src, from, u and target, dst, to, v and
        weight, w are recognised.
    delimiter : the character between columns, for edge lists and CSV; else the first line tells.
    skip : how many lines on top to ignore, for edge lists and CSV.
    verify : for .tg files, whether each tensor is compared with its checksums when it is first used (one pass over
        it), True; False trusts the disk. See `tgraph.verify`.

    Raises FileFormatError, which names the file, the line at fault and the remedy; ArgumentError for an unknown
    extension or option; OSError where the file cannot be opened.
    """
    module = format_module(path, format)
    known = inspect.signature(module.read).parameters
    for name in options:
        if name not in known or name == "path":
            listed = ", ".join(list(known)[1:])
            short = module.__name__.rpartition(".")[2]
            raise ArgumentError(f"{name}: no option of the format {short}; its options are: {listed}")
    if progress and "progress" in known:
        options["progress"] = True
    graph = module.read(path, **options)
    if options.get("weights") is None and options.get("weight") is None:
        taken = columns_of(path, format=format, **options)
        if taken is not None and taken.numbers:
            warnings.warn(f"{path}: {taken.warning()}", ColumnsLeftOut, stacklevel=2)
    return graph


class ColumnsLeftOut(UserWarning):
    """Numbers in a file that could be weights, were not taken, and about which the caller has not said anything."""


def columns_of(path: PathLike, *, format: str | None = None, progress: bool = False, **options: Any) -> Columns | None:
    """Which columns `read` takes from a file with these options; None where its format has none to choose from."""
    module = format_module(path, format)
    return module.columns(path, **options) if hasattr(module, "columns") else None


def write(graph: Graph, path: PathLike, *, format: str | None = None) -> None:
    """Write a graph to a file, whole or not at all.

    `format` names one of `FORMATS`; without it the extension decides. .tg and .npz keep everything; formats that
    cannot hold isolated vertices, original ids or the direction warn where there is something to lose.
    Raises ArgumentError for an unknown extension, for a binary format under the name of a compressed file, and for a
    graph that the format cannot hold.
    """
    module = format_module(path, format)
    suffix = Path(path).suffix.lower()
    if suffix in CODECS and module.__name__.endswith(BINARY):
        raise ArgumentError(f"path: binary formats are not compressed once more; write {stem(path).name!r} instead")
    module.write(graph, path)


def verify(path: PathLike) -> int:
    """Read a whole .tg file, partitioned or not, and compare it with its checksums; returns its bytes.

    Raises FileFormatError that names the tensor, or block, and its position where a bit differs; ArgumentError for a
    file of another format, and one without checksums, which earlier versions wrote.
    """
    module = format_module(path)
    if not hasattr(module, "verify"):
        raise ArgumentError(f"path: only .tg files have checksums to verify, not {Path(path).name!r}")
    return module.verify(path)


def format_module(path: PathLike, format: str | None = None) -> ModuleType:
    """The module that reads and writes a format: the one named, or that of the file's extension.

    Raises ArgumentError for an unknown extension or format.
    """
    if format is None:
        plain = stem(path)
        extension = plain.suffix.lower()
        format = next((name for name, extensions in FORMATS.items() if extension in extensions), None)
        if format is None and plain.name.startswith("out."):
            format = "edgelist"
        if format is None:
            known = ", ".join(extension for extensions in FORMATS.values() for extension in extensions)
            raise ArgumentError(
                f"path: {Path(path).name!r} has the unknown extension {extension!r}; known are {known}; "
                f"or name the format: format={'|'.join(FORMATS)}"
            )
    elif format not in FORMATS:
        raise ArgumentError(f"format: {format!r} is not one of {', '.join(FORMATS)}")
    return import_module(f"tgraph.io.{format}" if format in BINARY else f"tgraph.io.text.{format}")
