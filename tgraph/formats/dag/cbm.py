"""Rows as signed differences to similar rows: the Compressed Binary Matrix.

Alves et al., "Accelerating Graph Neural Networks Using a Novel Computation-Friendly Matrix Compression Format", IPDPS
2025. A row is stored as a parent, which is another row of the matrix, the columns to add to it, and the columns to
remove from it. The product A X adds rows of X to the result of the parent and subtracts others. A row for which this
takes more entries than it has ones is stored explicitly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from tgraph.core.building import inputs, sorting
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.formats.dag import branches
from tgraph.formats.dag.compressed import Compressed
from tgraph.kernels.dag import Dag
from tgraph.kernels.operators.compressed.cbm import Matrix, count_deltas, find_parents, list_deltas, offset_dtype

if TYPE_CHECKING:
    from typing_extensions import Self

# One of the ones saved pays for the entry of the parent.
LEAST_SAVING = 2


class CBM(Compressed):
    """The arcs of a graph without weights or parallel arcs, rows compressed against each other; supports sums only.

    dag : the rows in an order of evaluation with parents before children. num_arcs : the number of arcs of the graph.

    The transpose is A^T = Delta^T (I - T^T)^-1 where A = (I - T)^-1 Delta: the same differences transposed, in a DAG
    with virtual vertices. It is not compressed anew.

    >>> graph = tg.generators.complete_bipartite(50, 50)
    >>> graph.to_format("cbm").layout.nbytes, graph.nbytes
    (1212, 20808)
    """

    name: ClassVar[str] = "cbm"
    OPTIONAL: ClassVar[tuple[str, ...]] = ("order", "tasks")

    @classmethod
    def from_graph(
        cls, graph: Graph, *, alpha: int = LEAST_SAVING, max_depth: int | None = None, **unknown: Any
    ) -> Self:
        """Compress the rows of a graph, with parents from a minimum spanning forest over candidate pairs.

        alpha : a row gets a parent only if that saves at least `alpha` of its ones, 1 or more. 2 gives the least
            memory, as the parent takes an entry itself; larger values give more and shorter chains of dependent rows,
            which run in parallel. max_depth : the most parents between a row and an explicit one, None for no bound.

        Candidates are found by counting the columns that rows share, in memory and time linear in the arcs; the result
        does not depend on the number of threads. The transpose of a directed graph is computed and freed again.

        Raises ArgumentError for parallel arcs, weights, unsorted rows, and options that are out of range or `unknown`.
        """
        cls.refuse_options(unknown)
        alpha, depth = _check_options(alpha, max_depth)
        _check_binary(graph)
        rows = Matrix(graph.offset.cpu().contiguous(), graph.neighbors.cpu().contiguous())
        built = _compressed(rows, _columns(graph, rows), min(alpha, graph.num_vertices) - 1, depth)
        return cls(built.to(graph.device), graph.num_arcs)

    def refuses(self, reduce: str, edge: str, dtype: torch.dtype) -> str | None:
        """Why `pull` does not support such a call, None where it does: differences require the sum."""
        if reduce != "sum":
            return f"a CBM subtracts what a row lacks of its parent, which {reduce!r} cannot; it serves 'sum' alone"
        if edge != "copy":
            return f"a CBM has no weights for {edge!r}; it serves edge='copy' alone"
        return None


class _Forest(NamedTuple):
    """Rows by parent, int64 [n], -1 for none: the number of columns that each adds to its parent (`more`) and removes
    (`less`)."""

    parent: Tensor
    more: Tensor
    less: Tensor

    @classmethod
    def by(cls, rows: Matrix, parent: Tensor, max_depth: int | None) -> _Forest:
        parent = parent.long() if max_depth is None else branches.bound_depth(parent.long(), max_depth)
        return cls(parent, *count_deltas(rows, parent.to(rows.columns.dtype)))

    @property
    def work(self) -> Tensor:
        """Stored entries of each row, int64 [n]."""
        return self.more.long() + self.less + (self.parent >= 0)

    def in_parts(self, rows: Matrix) -> _Forest:
        """The same rows with some parents removed, so that chains are short enough to balance the threads."""
        ones = rows.offset.diff()
        parent = branches.bound_work(self.parent, self.work, ones)
        plain = parent < 0
        return _Forest(parent, torch.where(plain, ones.to(self.more.dtype), self.more), self.less.masked_fill(plain, 0))

    def listed(self, rows: Matrix) -> tuple[Tensor, Tensor]:
        """(offset, children) of a DAG."""
        return list_deltas(rows, self.parent.to(rows.columns.dtype), self.more, self.less)


def _compressed(rows: Matrix, columns: Matrix, price: int, max_depth: int | None) -> Dag:
    """The smallest of three: rows with arbitrary parents, which need an order, with earlier rows as parents, or
    explicit."""
    n, num_arcs = len(rows.offset) - 1, len(rows.columns)
    bounds = branches.blocks(rows.offset)
    parent, earlier = find_parents(rows, columns, price, bounds)
    forest = _Forest.by(rows, parent, max_depth).in_parts(rows)
    in_order = _Forest.by(rows, earlier, max_depth)
    size, size_in_order = int(forest.work.sum()) + n, int(in_order.work.sum())
    if min(size, size_in_order) >= num_arcs:
        return Dag(n, rows.offset.to(offset_dtype(num_arcs)), rows.columns, None, None, (0, n), None)
    if size_in_order <= size:
        return Dag(n, *in_order.listed(rows), None, None, (0, n), bounds)
    order, phases, tasks = branches.schedule(forest.parent, forest.work)
    return Dag(n, *forest.listed(rows), None, None if order is None else order.to(parent.dtype), phases, tasks)


def _check_options(alpha: int, max_depth: int | None) -> tuple[int, int | None]:
    alpha = inputs.as_count(alpha, "alpha")
    if alpha < 1:
        raise ArgumentError("alpha: 0 would let rows refer to others for nothing; give 1 or more")
    return alpha, None if max_depth is None else inputs.as_count(max_depth, "max_depth")


def _check_binary(graph: Graph) -> None:
    """Raise ArgumentError unless the graph is a binary matrix with ascending rows."""
    if graph.weights is not None:
        raise ArgumentError(
            "graph: it has weights, and a CBM holds a binary matrix; drop the weights, or use the layout 'virtual'"
        )
    _ = graph.out_degree  # validates the entries, which kernels use as indices
    neighbors, offset = graph.neighbors, graph.offset
    stays = neighbors[1:] <= neighbors[:-1]
    boundary = offset[1:-1]
    stays[boundary[(boundary > 0) & (boundary < len(neighbors))] - 1] = False  # a row boundary
    if not bool(stays.any()):
        return
    position = int(stays.nonzero()[0]) + 1
    u = int(torch.searchsorted(offset, position, right=True)) - 1
    v = int(neighbors[position])
    if v < int(neighbors[position - 1]):
        raise ArgumentError(f"graph: row {u} descends at position {position}; build the graph by Graph.from_csr")
    raise ArgumentError(
        f"graph: the arc ({u}, {v}) occurs more than once, and a CBM holds a binary matrix; build the graph with "
        "multi='first'"
    )


def _columns(graph: Graph, rows: Matrix) -> Matrix:
    """The transpose of the rows; not cached in the graph unless it was already."""
    if not graph.directed:
        return rows
    if "transpose" in graph.caches:
        kept = graph.transpose()
        return Matrix(kept.offset.cpu().contiguous(), kept.neighbors.cpu().contiguous())
    offset, neighbors, _ = sorting.transpose(*rows)
    return Matrix(offset, neighbors)
