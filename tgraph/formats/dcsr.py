"""DCSR and DCSC: CSR of the non-empty rows, CSC of the non-empty columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tgraph.core.building import sorting, validate
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_stretches
from tgraph.core.storage import Stretches
from tgraph.errors import ArgumentError
from tgraph.formats.checks import check_names, check_rows, count_option
from tgraph.formats.layout import Layout
from tgraph.formats.row_column import ByColumn, ByRow
from tgraph.formats.uncompressed import Csr, placed, taken
from tgraph.kernels.operators.aggregation.rows import reduce_arcs, reduce_rows
from tgraph.kernels.reductions import Reduction

if TYPE_CHECKING:
    from typing_extensions import Self


class DCSR(ByRow):
    """Doubly compressed sparse rows (Buluç and Gilbert, "On the representation and multiplication of hypersparse
    matrices", 2008): memory is proportional to the non-empty rows, for graphs with many vertices and few arcs.

    row_ids : int32 or int64 [r], the non-empty rows, ascending. offset : int32 or int64 [r + 1], int32 where there are
    fewer than 2^31 arcs. neighbors : int32 or int64 [m]. weights : [m] or None.

    >>> graph = tg.Graph.from_edges([7, 7, 900], [8, 900, 7], num_vertices=1_000_000)
    >>> sparse = graph.to_format("dcsr")
    >>> sparse.layout.row_ids, sparse.layout.nbytes, graph.nbytes
    (tensor([  7, 900], dtype=torch.int32), 32, 8000020)
    """

    row_ids: Tensor
    offset: Tensor
    num_vertices: int
    num_arcs: int
    neighbors: Tensor
    weights: Tensor | None

    name = "dcsr"
    stored = ("row_ids", "offset", "neighbors")

    def __init__(self, num_vertices: int, row_ids: Tensor, offset: Tensor, neighbors: Tensor, weights: Tensor | None):
        self.num_vertices, self.num_arcs = num_vertices, len(neighbors)
        self.row_ids, self.offset, self.neighbors, self.weights = row_ids, offset, neighbors, weights

    @classmethod
    def from_graph(cls, graph: Graph, **unknown: Any) -> Self:
        """The arcs of a graph. Raises ArgumentError for `unknown` options."""
        cls.refuse_options(unknown)
        row_ids = graph.out_degree.nonzero().squeeze(1)
        offset = torch.cat((graph.offset[row_ids], graph.offset[-1:]))
        weights = None if graph.weights is None else graph.weights.detach()
        return cls._of(graph.num_vertices, row_ids, offset, graph.neighbors, weights)

    @classmethod
    def _of(cls, num_vertices: int, row_ids: Tensor, offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> Self:
        """A layout of these tensors, converted to the narrowest index dtypes."""
        index, counts = sorting.index_dtype(num_vertices), sorting.index_dtype(len(neighbors))
        return cls(num_vertices, row_ids.to(index), offset.to(counts), neighbors.to(index), weights)

    def to_csr(self) -> Csr:
        return self.row_offset(), self.neighbors, self.weights

    def _rows(self, vertices: Tensor) -> Csr:
        first, degree, *_ = self.stretches(vertices)
        return taken(*gather_stretches(first, degree), self.neighbors, self.weights)

    def stretches(self, vertices: Tensor) -> Stretches:
        """See `Layout.stretches`."""
        sought = vertices.to(self.row_ids.dtype)
        first = self.offset[torch.searchsorted(self.row_ids, sought)].to(torch.int64)
        end = self.offset[torch.searchsorted(self.row_ids, sought, right=True)].to(torch.int64)
        return Stretches(first, end - first, 1, self.neighbors)

    def out_degree(self) -> Tensor:
        degree = torch.zeros(self.num_vertices, dtype=torch.int64, device=self.device)
        return degree.index_copy_(0, self.row_ids.to(torch.int64), self.offset.diff().to(torch.int64))

    def row_of_arc(self) -> Tensor:
        return self.row_ids.repeat_interleave(self.offset.diff(), output_size=self.num_arcs)

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Self:
        tensors = check_names(cls.name, tensors, cls.stored, ("weights",))
        row_ids, offset, neighbors = tensors["row_ids"], tensors["offset"], tensors["neighbors"]
        num_vertices = count_option(options, "num_vertices")
        check_rows(offset, len(row_ids), len(neighbors))
        validate.check_range(row_ids, num_vertices, "row_ids")
        validate.check_range(neighbors, num_vertices)
        if len(falls := (row_ids[1:] <= row_ids[:-1]).nonzero()):
            raise ArgumentError(f"row_ids: does not ascend after position {int(falls[0])}; every row comes once")
        return cls._of(num_vertices, row_ids, offset, neighbors, tensors.get("weights"))

    def transposed(self) -> Layout:
        """A DCSC with the same tensors."""
        return DCSC(self)

    def _pull(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        received = reduce_rows(self.offset, self.neighbors, weights, data, reduction, edge)
        return placed(received, self.row_ids, self.num_vertices, reduction)

    def push(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        return reduce_arcs(self.neighbors, self.row_of_arc(), weights, data, reduction, edge)


class DCSC(ByColumn):
    """Doubly compressed sparse columns (Buluç and Gilbert, "On the representation and multiplication of hypersparse
    matrices", 2008): memory is proportional to the non-empty columns.

    >>> graph = tg.Graph.from_edges([7, 7, 900], [8, 900, 7], num_vertices=1_000_000)
    >>> graph.to_format("dcsc").layout.nbytes, graph.nbytes
    (40, 8000020)
    """

    name = "dcsc"
    by_row = DCSR
