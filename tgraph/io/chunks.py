"""The edges of a file chunk by chunk, for use without all of them in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from torch import Tensor

from tgraph import io
from tgraph.core.graph import Graph
from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.io import parquet
from tgraph.io.edges import edges_of
from tgraph.io.text.columns import fold_columns

T = TypeVar("T")
Chunk = tuple[Any, Any, Any]  # sources and targets [k], arrays of integers or lists of text; weights [k] or None
_ROWS = 1 << 18


class Fold(Protocol):
    """Reads a file, and returns the result of a function of its chunks."""

    def __call__(self, function: Callable[[Iterator[Chunk]], T], progress: bool = False) -> T: ...


@dataclass(frozen=True)
class EdgeFile:
    """A file of edges.

    directed : by the file, or the caller. has_weights : whether chunks have weights. fold : reads it; where a later
    chunk has numbers of another type, the function is called again, from the first chunk on.
    """

    directed: bool
    has_weights: bool
    fold: Fold


def open_edges(path: PathLike, *, format: str | None = None, **options: Any) -> EdgeFile:
    """The edges of a file, with the original ids of vertices.

    format, options : as of `tgraph.read`, except `multi`, `self_loops` and `ids`. Edge lists, CSV and Parquet are read
    chunk by chunk; files of other formats are one chunk. Raises as `tgraph.read`.
    """
    module = io.format_module(path, format)
    if hasattr(module, "plan"):
        return _of_text(path, module.plan(path, **options))
    if module is parquet:
        return _of_parquet(path, **options)
    graph = io.read(path, format=format, **options)
    return EdgeFile(graph.directed, graph.weights is not None, lambda function, progress=False: function(_whole(graph)))


def _of_text(path: PathLike, plan: Any) -> EdgeFile:
    def fold(function: Callable[[Iterator[Chunk]], T], progress: bool = False) -> T:
        def chunks(pieces: Iterator[list[Any]]) -> T:
            return function((_plain(src), _plain(dst), weights) for src, dst, weights in map(plan.columns, pieces))

        return chunks(iter(())) if plan.layout is None else fold_columns(path, plan.layout, chunks, progress)

    return EdgeFile(plan.rules.directed, plan.weight is not None, fold)


def _of_parquet(path: PathLike, **options: Any) -> EdgeFile:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    directed = options.pop("directed", None)
    found = parquet.columns(path, **options)
    wanted = (str(found.source), str(found.target), None if found.weight is None else str(found.weight))
    names = [name for name in wanted if name is not None]

    def fold(function: Callable[[Iterator[Chunk]], T], progress: bool = False) -> T:
        def chunks() -> Iterator[Chunk]:
            with ParquetFile(path, memory_map=True, page_checksum_verification=True) as file:
                for batch in file.iter_batches(_ROWS, columns=names):
                    table = pa.Table.from_batches([batch])
                    src, dst, weights = parquet.edge_columns(path, table, wanted, "auto")
                    yield _plain(src), _plain(dst), weights

        try:
            return function(chunks())
        except pa.ArrowException as fault:
            raise FileFormatError(path, f"not a whole Parquet file ({fault})", "write or fetch it again") from fault

    if directed is None:
        directed = parquet.is_directed(path)
    return EdgeFile(directed, found.weight is not None, fold)


def _whole(graph: Graph) -> Iterator[Chunk]:
    src, dst, weights = edges_of(graph)
    if graph.vertices is not None:
        ids = graph.vertices.cpu().numpy() if isinstance(graph.vertices, Tensor) else np.asarray(graph.vertices)
        src, dst = ids[src], ids[dst]
    yield _plain(src), _plain(dst), weights


def _plain(ids: Any) -> Any:
    """Ids as an array of integers, or a list of text."""
    if hasattr(ids, "to_pylist"):
        return ids.to_pylist()
    return ids if ids.dtype != object else ids.tolist()
