"""CSR and CSC: compressed sparse rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tgraph.core.building import sorting, validate
from tgraph.core.derived import computed_once
from tgraph.core.graph import Graph
from tgraph.core.rows import Selection, gather_rows
from tgraph.core.storage import Stretches
from tgraph.core.subgraph import Mode, Subgraph
from tgraph.formats.checks import check_names, check_rows, count_option
from tgraph.formats.layout import Layout
from tgraph.formats.row_column import ByColumn, ByRow
from tgraph.formats.uncompressed import Csr, taken
from tgraph.kernels import choose
from tgraph.kernels.call import Call
from tgraph.kernels.reductions import Reduction

if TYPE_CHECKING:
    from typing_extensions import Self


class CSR(ByRow):
    """Compressed sparse rows: the layout of a `Graph`, whose tensors it shares.

    offset : int32 or int64 [n + 1]. neighbors : int32 or int64 [m]. weights : [m] or None.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
    >>> tg.formats.make("csr", graph).offset
    tensor([0, 2, 3, 3])
    """

    offset: Tensor
    neighbors: Tensor
    weights: Tensor | None
    num_vertices: int
    num_arcs: int

    name = "csr"
    stored = ("offset", "neighbors")

    def __init__(self, offset: Tensor, neighbors: Tensor, weights: Tensor | None):
        self.offset, self.neighbors = offset.contiguous(), neighbors.contiguous()
        self.weights = None if weights is None else weights.contiguous()
        self.num_vertices, self.num_arcs = len(offset) - 1, len(neighbors)

    @classmethod
    def from_graph(cls, graph: Graph, *, narrow: bool = False, **unknown: Any) -> Self:
        """The arcs of a graph. `narrow` stores the offsets in int32 where there are fewer than 2^31 arcs, which saves 4
        bytes per vertex and costs a conversion of the offsets in each pull. Raises ArgumentError for `unknown`
        options."""
        cls.refuse_options(unknown)
        graph.ensure_valid()
        offset = graph.offset.to(torch.int32) if narrow and graph.num_arcs < 2**31 else graph.offset
        return cls(offset, graph.neighbors, None if graph.weights is None else graph.weights.detach())

    def to_csr(self) -> Csr:
        """See `Layout.to_csr`: the stored tensors, not copied (int32 offsets are converted)."""
        return self.offset.to(torch.int64), self.neighbors, self.weights

    def _rows(self, vertices: Tensor) -> Csr:
        return taken(*gather_rows(self.offset, vertices), self.neighbors, self.weights)

    def stretches(self, vertices: Tensor) -> Stretches:
        """See `Layout.stretches`."""
        first, end = (self.offset[vertices + ahead].to(torch.int64) for ahead in (0, 1))
        return Stretches(first, end - first, 1, self.neighbors)

    def out_degree(self) -> Tensor:
        return self.offset.diff().to(torch.int64)

    def row_of_arc(self) -> Tensor:
        return sorting.expand_rows(self.offset.to(torch.int64), self.neighbors.dtype)

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Self:
        tensors = check_names(cls.name, tensors, cls.stored, ("weights",))
        offset, neighbors, num_vertices = tensors["offset"], tensors["neighbors"], count_option(options, "num_vertices")
        check_rows(offset, num_vertices, len(neighbors))
        validate.check_range(neighbors, num_vertices)
        return cls(offset, neighbors.to(sorting.index_dtype(num_vertices)), tensors.get("weights"))

    def transposed(self) -> Layout:
        """A CSC with the same tensors."""
        return CSC(self)

    def _pull(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        return self._cross("pull", data, reduction, edge, weights)

    def push(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        return self._cross("push", data, reduction, edge, weights)

    def _cross(self, mode: Mode, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        """A pull or push over all arcs by the backend that the registry chooses."""
        graph = self._graph if self.offset.dtype == torch.int64 else self._as_graph()
        held = Selection(graph.offset, graph.neighbors)
        sub = Subgraph(graph, graph.everything(), mode, None, held, mirrored=False)
        run = choose("auto", Call("aggregate", data, reduction, edge, weights, sub=sub)).run
        return run(sub, data, reduction, edge, weights).values.to(data.dtype)

    def _as_graph(self) -> Graph:
        return Graph(self.offset.to(torch.int64), self.neighbors)

    @computed_once
    def _graph(self) -> Graph:
        """Cached, so that what backends derive from the graph is kept between calls."""
        return self._as_graph()


class CSC(ByColumn):
    """Compressed sparse columns.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
    >>> graph.to_format("csc").layout.name
    'csc'
    """

    name = "csc"
    by_row = CSR
