"""Conversion between columns of edges and graphs, shared by the formats with one line or row per edge."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.building.inputs import Multi, SelfLoops, as_index, as_weights, check_choice
from tgraph.core.columns import NONE, Columns, flat
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import create_bytes

if TYPE_CHECKING:
    import pyarrow

Ids = Literal["auto", "compact", "keep", "text"]


@dataclass(frozen=True)
class Rules:
    """The options of `tgraph.read` for building a graph from edges. `vertices` : original ids of `num_vertices`
    numbers; `listed_once` : whether a file is known to list each undirected edge once."""

    directed: bool = True
    multi: Multi = "keep"
    self_loops: SelfLoops = "keep"
    ids: Ids = "keep"
    num_vertices: int | None = None
    vertices: Any = None
    listed_once: bool = False

    def __post_init__(self) -> None:
        check_choice(self.ids, "ids", ("auto", "compact", "keep", "text"))
        check_choice(self.multi, "multi", ("keep", "first", "sum", "min", "max", "error"))
        check_choice(self.self_loops, "self_loops", ("keep", "drop"))

    def build(self, src: Any, dst: Any, weights: Any = None, columns: Mapping[str, Any] | None = None) -> Graph:
        """The graph of the edges src[i], dst[i]: two integer arrays [m], or two arrow columns of labels [m]; with
        further data of the edges in `columns`, [m]."""
        labels = self.vertices
        if not isinstance(src, (np.ndarray, Tensor)):
            src, dst, labels = number_labels(src, dst)
        src, dst = as_index(src, "src"), as_index(dst, "dst")
        weights = as_weights(weights, len(src))
        edges = NONE.changed(columns, len(src), src.device, "columns")
        compact = labels is None and self.ids != "keep"
        same: dict[str, Any] = {"ids": "compact" if compact else "keep", "vertices": labels}
        if self.num_vertices is not None:
            same["num_vertices"] = self.num_vertices
        if not self.directed and not self.listed_once and _may_be_symmetric(src, dst):
            arcs = Graph.from_edges(src, dst, weights, columns=edges, **same)
            if arcs.is_symmetric:
                if self.multi == "keep" and self.self_loops == "keep":
                    if edges:
                        return arcs.as_undirected()
                    return Graph(arcs.offset, arcs.neighbors, arcs.weights, arcs.vertices, directed=False)
                once = src <= dst
                src, dst, weights = src[once], dst[once], None if weights is None else weights[once]
                edges = edges.take(once.nonzero()[:, 0])
        same |= {"directed": self.directed, "multi": self.multi, "self_loops": self.self_loops}
        return Graph.from_edges(src, dst, weights, columns=edges, **same)


def _may_be_symmetric(src: Tensor, dst: Tensor) -> bool:
    """A cheap necessary condition for a symmetric list: equal sums of ends, equally many arcs up and down."""
    if int(src.sum()) != int(dst.sum()):
        return False
    return int((src < dst).sum()) == int((src > dst).sum())


def number_labels(src: pyarrow.ChunkedArray, dst: pyarrow.ChunkedArray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels numbered 0..n-1 in order of first appearance, sources first: (src, dst, object array of labels [n])."""
    import pyarrow as pa

    coded = pa.chunked_array([*src.chunks, *dst.chunks], type=src.type).dictionary_encode().combine_chunks()
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    numbers = coded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return numbers[: len(src)], numbers[len(src) :], coded.dictionary.to_numpy(zero_copy_only=False)


def edges_of(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """(src, dst, weights) as numpy arrays; each undirected edge once with src <= dst."""
    offset, dst, weights = graph.decoded().storage.to_csr()
    dst = dst.cpu()
    src = sorting.expand_rows(offset.cpu(), dst.dtype)
    weights = None if weights is None else widened(weights.detach().cpu())
    if not graph.directed:
        once = src <= dst
        src, dst, weights = src[once], dst[once], None if weights is None else weights[once]
    return src.numpy(), dst.numpy(), None if weights is None else weights.numpy()


def widened(weights: Tensor) -> Tensor:
    """float16 and bfloat16 converted to float32 without loss, as numpy or arrow lack them."""
    return weights.float() if weights.dtype in (torch.float16, torch.bfloat16) else weights


def columns_of_edges(graph: Graph, taken_by: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of the arcs for a table with those it is `taken_by` (see `tgraph.core.columns.flat`), each undirected
    edge once."""
    return flat(columns_once(graph), taken_by)


def columns_once(graph: Graph) -> Columns:
    """The columns of the arcs, each undirected edge once, in the order of `edges_of`."""
    columns = graph.arc_columns
    if columns and not graph.directed:
        src, dst = graph.to_edge_index()
        columns = columns.take((src <= dst).nonzero()[:, 0])
    return columns


def named_edges(graph: Graph, purpose: str, alone: bool = False) -> dict[str, Any]:
    """The edges with original ids, each undirected one once: numpy arrays "source", "target" and "weight". Warns of
    isolated vertices, unless the edges are asked for `alone`."""
    src, dst, weights = edges_of(graph)
    if not alone:
        warn_of_isolated(graph, purpose)
    vertices = graph.vertices
    if vertices is not None:
        names = vertices.cpu().numpy() if isinstance(vertices, Tensor) else text_labels(vertices)
        src, dst = names[src], names[dst]
    columns = {"source": src, "target": dst}
    return columns if weights is None else columns | {"weight": weights}


def text_labels(vertices: Sequence[Any] | np.ndarray) -> np.ndarray:
    """The labels as an object array of str. Raises ArgumentError for other types, and lone surrogates."""
    for label in vertices:
        if not isinstance(label, str):
            raise ArgumentError(
                f"graph.vertices: a file holds integer ids or text, not the label {label!r}; "
                "build the graph with labels that are all of type str"
            )
        if not label.isascii() and any("\ud800" <= letter <= "\udfff" for letter in label):
            raise ArgumentError(f"graph.vertices: the label {label!r} has half of a surrogate pair; decode it again")
    return np.asarray(vertices, dtype=object)


def printable(columns: dict[str, Any]) -> pyarrow.Table:
    """The columns for arrow's text writer, which prints 2.0 as 2: floating weights without fractions get ".0", so that
    they are not read back as integers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.table(columns)
    if "weight" in columns and columns["weight"].dtype.kind == "f":
        text = table.column("weight").cast(pa.string())
        if pc.all(pc.match_substring_regex(text, r"^-?\d+$")).as_py():
            return table.set_column(2, "weight", pc.binary_join_element_wise(text, ".0", ""))
    return table


def write_rows(path: PathLike, header: str, columns: dict[str, Any]) -> None:
    """Write a text file: the header, and a line for each row of the columns, separated by blanks."""
    from pyarrow import csv

    options = csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    with create_bytes(path) as file:
        file.write(header.encode())
        if len(next(iter(columns.values()))):
            csv.write_csv(printable(columns), file, options)


def warn_of_isolated(graph: Graph, purpose: str) -> None:
    """Warn of isolated vertices, missing in a list of edges."""
    touched = torch.zeros(graph.num_vertices, dtype=torch.bool, device="cpu")
    touched[graph.neighbors.cpu().to(torch.int64)] = True
    isolated = int((~touched & (graph.offset.cpu().diff() == 0)).sum())
    if isolated:
        warnings.warn(
            f"{purpose} holds edges only: {isolated} isolated vertices are left out; .tg, .npz and .mtx keep them",
            stacklevel=4,
        )


def check_declared(path: PathLike, n: int, m: int, line: int | None) -> None:
    """Raise FileFormatError for an implausible number of vertices in a header, before memory is allocated for it."""
    if n > max(2**28, 64 * m):
        problem = f"the header declares {n} vertices for {m} edges"
        raise FileFormatError(path, problem, "correct the header", line=line)


def numbered_from_one(graph: Graph) -> Graph:
    """The graph with the ids 1..n, for formats that number vertices from 1."""
    return Graph(graph.offset, graph.neighbors, graph.weights, _from_one(graph), graph.directed)


def _from_one(graph: Graph, first: int = 1) -> Tensor:
    return torch.arange(first, graph.num_vertices + first, device="cpu")


def warn_of_ids(graph: Graph, purpose: str, first: int = 1) -> None:
    """Warn of original ids other than 1..n, lost in a format that numbers vertices 1..n, or from another `first`."""
    ids = graph.vertices
    if ids is None or (isinstance(ids, Tensor) and torch.equal(ids.cpu(), _from_one(graph, first))):
        return
    warnings.warn(
        f"{purpose} numbers vertices {'1..n' if first else '0..n-1'}: the original ids are left out; .tg keeps them",
        stacklevel=3,
    )


def integer_weights(graph: Graph, purpose: str) -> None:
    """Raise ArgumentError for floating-point weights in a format of integer weights."""
    if graph.weights is not None and graph.weights.is_floating_point():
        raise ArgumentError(
            f"graph.weights: {purpose} takes integer weights, these are {graph.weights.dtype}; "
            "write .tg, .mtx or .wel, or convert the weights"
        )
