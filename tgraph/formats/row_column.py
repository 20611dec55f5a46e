"""Layouts stored by row, and their counterparts by column: the same tensors, of the transpose."""

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
    """The arcs stored row after row.

    neighbors : int32 or int64 [m], the vertex that each arc leads to.
    """

    neighbors: Tensor

    @abstractmethod
    def row_of_arc(self) -> Tensor:
        """The row that each arc is stored in, [m]."""

    @abstractmethod
    def push(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        """What each vertex receives from the rows that it is a neighbour of, [n, F], in the order of the arcs."""


class ByColumn(Uncompressed):
    """The arcs stored by the vertex that they lead to: a pull is a push from what is stored.

    columns : a layout of the transpose; column u lists the rows that have an arc to u.
    """

    stored: ClassVar[type[ByRow]]

    def __init__(self, columns: ByRow):
        self.columns, self.weights = columns, columns.weights
        self.num_vertices, self.num_arcs = columns.num_vertices, columns.num_arcs

    @classmethod
    def from_graph(cls, graph: Graph, **options: Any) -> Self:
        """The arcs of a graph; `options` are those of the layout by rows. Raises ArgumentError for others."""
        reverse = Graph(*transposed_csr(graph.offset, graph.neighbors, graph.weights))
        return cls(cls.stored.from_graph(reverse, **options))

    def to_csr(self) -> Csr:
        """See `Layout.to_csr`: the columns transposed, which brings parallel arcs back in their order."""
        return transposed_csr(*self.columns.to_csr())

    def _rows(self, vertices: Tensor) -> Csr:
        """Looks at every arc."""
        return select_rows(self.columns.neighbors, self.columns.row_of_arc(), self.weights, vertices)

    def out_degree(self) -> Tensor:
        """See `Layout.out_degree`."""
        return torch.bincount(self.columns.neighbors, minlength=self.num_vertices)

    def tensors(self) -> dict[str, Tensor]:
        """See `Layout.tensors`: those of the columns."""
        return self.columns.tensors()

    def options(self) -> dict[str, Any]:
        """See `Layout.options`."""
        return self.columns.options()

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Self:
        """See `Layout.from_tensors`: what `tensors` and `options` give. Raises ArgumentError where they do not fit."""
        return cls(cls.stored.from_tensors(tensors, options))

    def transposed(self) -> Layout:
        """The columns: the same tensors by rows."""
        return self.columns

    def _pull(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        return self.columns.push(data, reduction, edge, weights)
