"""Rows in Elias-Fano code: a few bits for an arc, and any row is decoded alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tgraph.core.building import inputs, sorting
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows, offset_of
from tgraph.errors import ArgumentError
from tgraph.formats.checks import check_names, check_rows, count_option
from tgraph.formats.layout import STRETCH, Layout
from tgraph.formats.uncompressed import Csr, Uncompressed, transposed_csr
from tgraph.kernels.operators.aggregation.rows import reduce_rows
from tgraph.kernels.operators.csr.elias_fano import PADDING, decode_ascending, encode_ascending
from tgraph.kernels.reductions import Reduction

if TYPE_CHECKING:
    from typing_extensions import Self


class EliasFano(Uncompressed):
    """Ascending rows in Elias-Fano code (Vigna, "Quasi-succinct indices", WSDM 2013): log2(n / d) + 2 bits for each of
    the d arcs of a row, in the place of 32. What reads single rows, such as samplers, decodes these only.

    offset : int32 or int64 [n + 1], of the arcs, int32 where there are fewer than 2^31. start : int32 or int64 [n + 1],
    the byte at which each row begins. bits : uint8, encoded as in `tgraph.kernels.operators.csr.elias_fano`. weights :
    [m] or None.

    >>> graph = tg.generators.complete(100)
    >>> graph.to_format("elias_fano").layout.nbytes, graph.nbytes
    (3316, 40408)
    """

    offset: Tensor
    start: Tensor
    bits: Tensor
    weights: Tensor | None
    num_vertices: int
    num_arcs: int

    name = "elias_fano"

    def __init__(self, offset: Tensor, start: Tensor, bits: Tensor, weights: Tensor | None):
        self.offset, self.start, self.bits, self.weights = offset, start, bits, weights
        self.num_vertices, self.num_arcs = len(offset) - 1, int(offset[-1])

    @classmethod
    def from_graph(cls, graph: Graph, **unknown: Any) -> Self:
        """The arcs of a graph. Raises ArgumentError for `unknown` options, and for rows that do not ascend, as those of
        `Graph.from_edges` do."""
        cls.refuse_options(unknown)
        graph.ensure_valid()
        return cls._of(graph.offset, graph.neighbors, None if graph.weights is None else graph.weights.detach())

    @classmethod
    def _of(cls, offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> Self:
        start, bits = encode_ascending(offset, neighbors, len(offset) - 1)
        return cls(_narrow(offset), _narrow(start), bits, weights)

    def to_csr(self) -> Csr:
        offset = self.row_offset()
        return offset, self._decoded(torch.arange(self.num_vertices, device=offset.device), offset), self.weights

    def _rows(self, vertices: Tensor) -> Csr:
        degree = (self.offset[vertices + 1] - self.offset[vertices]).to(torch.int64)
        offset = offset_of(degree)
        weights = None
        if self.weights is not None:
            _, positions = gather_rows(self.offset, vertices)
            weights = sorting.take(self.weights, positions)
        return offset, self._decoded(vertices, offset), weights

    def _decoded(self, vertices: Tensor, offset: Tensor) -> Tensor:
        return decode_ascending(self.bits, self.start, vertices, offset, self.num_vertices)

    def out_degree(self) -> Tensor:
        return self.offset.diff().to(torch.int64)

    def row_offset(self) -> Tensor:
        return self.offset.to(torch.int64)

    def tensors(self) -> dict[str, Tensor]:
        named = {"offset": self.offset, "start": self.start, "bits": self.bits}
        return named if self.weights is None else {**named, "weights": self.weights}

    def options(self) -> dict[str, Any]:
        return {"num_vertices": self.num_vertices}

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Self:
        """See `Layout.from_tensors`. What the bits say is verified as rows are decoded."""
        tensors = check_names(cls.name, tensors, ("offset", "start", "bits"), ("weights",))
        offset, start, bits, weights = (tensors.get(name) for name in ("offset", "start", "bits", "weights"))
        assert offset is not None and start is not None and bits is not None
        num_vertices = count_option(options, "num_vertices")
        check_rows(offset, num_vertices, int(offset[-1]) if len(offset) else 0)
        if weights is not None:
            inputs.as_weights(weights, int(offset[-1]))
        if len(start) != num_vertices + 1 or bool((start[1:] < start[:-1]).any()) or int(start[0]):
            raise ArgumentError(f"start: expected [{num_vertices + 1}] bytes that ascend from 0")
        if len(bits) != (size := int(start[-1]) + PADDING):
            raise ArgumentError(f"bits: expected [{size}], got {list(bits.shape)}")
        return cls(_narrow(offset), _narrow(start), bits, weights)

    def transposed(self) -> Layout:
        """The reversed arcs in the same layout."""
        return self._of(*transposed_csr(*self.to_csr()))

    def _pull(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        offset, parts, begin = self.row_offset(), [], 0
        while begin < self.num_vertices:
            first = int(offset[begin])
            end = max(begin + 1, int(torch.searchsorted(offset, first + STRETCH, right=True)) - 1)
            end = min(end, self.num_vertices)
            own = offset[begin : end + 1] - first
            neighbors = self._decoded(torch.arange(begin, end, device=own.device), own)
            some = None if weights is None else weights[first : first + len(neighbors)]
            parts.append(reduce_rows(own, neighbors, some, data, reduction, edge))
            begin = end
        return torch.cat(parts)


def _narrow(offset: Tensor) -> Tensor:
    """Offsets in int32 where the last one fits."""
    return offset.to(sorting.index_dtype(int(offset[-1])))
