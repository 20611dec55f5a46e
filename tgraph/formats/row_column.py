"""Base classes of layouts by row, and of layouts by column, which are a layout by row of the transpose."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.formats.layout import Layout
from tgraph.formats.uncompressed import Csr, Uncompressed, select_rows, transposed_csr
from tgraph.kernels.reductions import Reduction

if TYPE_CHECKING:
    from typing_extensions import Self


class ByRow(Uncompressed):
    """A layout that stores the arcs row by row.

    stored : the names of its tensors besides the weights.
    neighbors : int32 or int64 [m], the vertex that each arc leads to.
    """

    stored: ClassVar[tuple[str, ...]]
    neighbors: Tensor

    def tensors(self) -> dict[str, Tensor]:
        named = {name: getattr(self, name) for name in self.stored}
        return named if self.weights is None else {**named, "weights": self.weights}

    def options(self) -> dict[str, Any]:
        return {"num_vertices": self.num_vertices}

    @abstractmethod
    def row_of_arc(self) -> Tensor:
        """The row of each stored arc, [m]."""

    @abstractmethod
    def push(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        """`out[u]` = the `reduction`, over stored arcs v -> u in their order, of `edge(data[v], weights)`, [n, F]."""


class ByColumn(Uncompressed):
    """A layout that stores the arcs by the vertex that they lead to. A pull is a push over the transpose.

    by_row : the layout by row that its transpose is stored in.
    columns : the transpose in that layout; row u of it lists the vertices that have an arc to u.
    """

    by_row: ClassVar[type[ByRow]]
    columns: ByRow
    weights: Tensor | None
    num_vertices: int
    num_arcs: int

    def __init__(self, columns: ByRow):
        self.columns, self.weights = columns, columns.weights
        self.num_vertices, self.num_arcs = columns.num_vertices, columns.num_arcs

    @classmethod
    def from_graph(cls, graph: Graph, **options: Any) -> Self:
        """The arcs of a graph; `options` are those of the layout by row. Raises ArgumentError for others."""
        reverse = Graph(*transposed_csr(graph.offset, graph.neighbors, graph.weights))
        return cls(cls.by_row.from_graph(reverse, **options))

    def to_csr(self) -> Csr:
        """See `Layout.to_csr`: the transpose of the columns, which restores the order of parallel arcs."""
        return transposed_csr(*self.columns.to_csr())

    def _rows(self, vertices: Tensor) -> Csr:
        """Scans all arcs."""
        return select_rows(self.columns.neighbors, self.columns.row_of_arc(), self.weights, vertices)

    def out_degree(self) -> Tensor:
        return torch.bincount(self.columns.neighbors, minlength=self.num_vertices)

    def tensors(self) -> dict[str, Tensor]:
        """See `Layout.tensors`: those of `columns`."""
        return self.columns.tensors()

    def options(self) -> dict[str, Any]:
        return self.columns.options()

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Self:
        return cls(cls.by_row.from_tensors(tensors, options))

    def transposed(self) -> Layout:
        """`columns`: the same tensors, by row."""
        return self.columns

    def _pull(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        return self.columns.push(data, reduction, edge, weights)
