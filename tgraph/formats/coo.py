"""COO: coordinate format, both ends of every arc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tgraph.core.building import sorting, validate
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_stretches, offset_of
from tgraph.core.storage import Stretches
from tgraph.errors import ArgumentError
from tgraph.formats.checks import check_names, count_option
from tgraph.formats.layout import Layout
from tgraph.formats.uncompressed import Csr, Uncompressed, placed, select_rows, taken, transposed_csr
from tgraph.kernels.operators.aggregation.rows import reduce_arcs, reduce_rows
from tgraph.kernels.reductions import Reduction

if TYPE_CHECKING:
    from typing_extensions import Self


class COO(Uncompressed):
    """Coordinate format: both ends of every arc. Memory does not depend on the number of vertices.

    row_of_arc, neighbors : int32 or int64 [m], the source row and the neighbour of each arc. weights : [m] or None.
    sorted : whether the arcs are sorted by row. A pull then reduces row by row, else it accumulates in arc order.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2]).to_format("coo")
    >>> graph.layout.row_of_arc, graph.layout.neighbors
    (tensor([0, 0, 1], dtype=torch.int32), tensor([1, 2, 2], dtype=torch.int32))
    """

    sorted: bool
    row_of_arc: Tensor
    neighbors: Tensor
    num_vertices: int
    num_arcs: int
    weights: Tensor | None

    name = "coo"

    def __init__(
        self, num_vertices: int, row_of_arc: Tensor, neighbors: Tensor, weights: Tensor | None, *, sorted: bool
    ):
        self.num_vertices, self.num_arcs, self.sorted = num_vertices, len(neighbors), sorted
        self.row_of_arc, self.neighbors = row_of_arc.contiguous(), neighbors.contiguous()
        self.weights = None if weights is None else weights.contiguous()

    @classmethod
    def from_graph(cls, graph: Graph, *, sorted: bool = True, **unknown: Any) -> Self:
        """The arcs of a graph, sorted by row, or with sorted=False by neighbour, so that the arcs of a row are
        scattered as in an unordered edge list. Raises ArgumentError for `unknown` options."""
        cls.refuse_options(unknown)
        graph.ensure_valid()
        offset, ends, weights = graph.offset, graph.neighbors, graph.weights
        weights = None if weights is None else weights.detach()
        if sorted:
            return cls(graph.num_vertices, sorting.expand_rows(offset, ends.dtype), ends, weights, sorted=True)
        offset, rows, weights = transposed_csr(offset, ends, weights)
        return cls(graph.num_vertices, rows, sorting.expand_rows(offset, rows.dtype), weights, sorted=False)

    def to_csr(self) -> Csr:
        """See `Layout.to_csr`; parallel arcs keep the order in which they are stored."""
        has_weights = self.weights is not None
        offset, neighbors, order = sorting.sort_edges(
            self.row_of_arc, self.neighbors, self.num_vertices, permutation=has_weights
        )
        return offset, neighbors, None if self.weights is None or order is None else sorting.take(self.weights, order)

    def _rows(self, vertices: Tensor) -> Csr:
        """Binary search of the rows where the arcs are sorted, else a scan over all arcs."""
        if not self.sorted:
            return select_rows(self.row_of_arc, self.neighbors, self.weights, vertices)
        first, degree = self._stretches(vertices)
        return taken(*gather_stretches(first, degree), self.neighbors, self.weights)

    def stretches(self, vertices: Tensor) -> Stretches | None:
        """See `Layout.stretches`: where the arcs are sorted."""
        if not self.sorted:
            return None
        return Stretches(*self._stretches(vertices), 1, self.neighbors)

    def _stretches(self, vertices: Tensor) -> tuple[Tensor, Tensor]:
        sought = vertices.to(self.row_of_arc.dtype)
        first = torch.searchsorted(self.row_of_arc, sought)
        return first, torch.searchsorted(self.row_of_arc, sought, right=True) - first

    def out_degree(self) -> Tensor:
        return torch.bincount(self.row_of_arc, minlength=self.num_vertices)

    def tensors(self) -> dict[str, Tensor]:
        stored = {"row_of_arc": self.row_of_arc, "neighbors": self.neighbors}
        return stored if self.weights is None else {**stored, "weights": self.weights}

    def options(self) -> dict[str, Any]:
        return {"num_vertices": self.num_vertices, "sorted": self.sorted}

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Self:
        tensors = check_names(cls.name, tensors, ("row_of_arc", "neighbors"), ("weights",))
        row_of_arc, neighbors = tensors["row_of_arc"], tensors["neighbors"]
        num_vertices, is_sorted = count_option(options, "num_vertices"), bool(options.get("sorted", False))
        if len(row_of_arc) != len(neighbors):
            raise ArgumentError(f"row_of_arc: expected [{len(neighbors)}], as many as neighbors, got {len(row_of_arc)}")
        validate.check_range(row_of_arc, num_vertices, "row_of_arc")
        validate.check_range(neighbors, num_vertices)
        if is_sorted and not _ascends(row_of_arc):
            raise ArgumentError("row_of_arc: not ascending although the layout is said to be sorted; say sorted=False")
        index = sorting.index_dtype(num_vertices)
        return cls(num_vertices, row_of_arc.to(index), neighbors.to(index), tensors.get("weights"), sorted=is_sorted)

    def transposed(self) -> Layout:
        """The same tensors with the two ends exchanged."""
        ascends = _ascends(self.neighbors)
        return COO(self.num_vertices, self.neighbors, self.row_of_arc, self.weights, sorted=ascends)

    def _pull(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        if not self.sorted:
            return reduce_arcs(self.row_of_arc, self.neighbors, weights, data, reduction, edge)
        rows, degree = self.row_of_arc.unique_consecutive(return_counts=True)
        offset = offset_of(degree)
        received = reduce_rows(offset, self.neighbors, weights, data, reduction, edge)
        return placed(received, rows, self.num_vertices, reduction)


def _ascends(values: Tensor) -> bool:
    return not bool((values[1:] < values[:-1]).any())
