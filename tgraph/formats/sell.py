"""SELL-C-sigma: slices of rows of similar length, padded to the longest row of the slice and stored column-major."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tgraph.core.building import inputs, sorting, validate
from tgraph.core.derived import computed_once
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows, offset_of
from tgraph.core.storage import Stretches
from tgraph.errors import ArgumentError
from tgraph.formats.checks import check_names, check_rows, count_option
from tgraph.formats.uncompressed import Csr, Uncompressed, transposed_csr
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.operators.aggregation.slices import Slices, arcs_of, pull_slices, step_slices
from tgraph.kernels.reductions import Reduction

if TYPE_CHECKING:
    from typing_extensions import Self


class SELL(Uncompressed):
    """Sliced ELLPACK (Kreutzer et al., "A unified sparse matrix data format for efficient general sparse matrix-vector
    multiplication on modern processors with wide SIMD units", 2014): rows are sorted by length within windows of
    `sigma` rows and divided into slices of `C` rows, one row per lane of a vector register.

    slices : the tensors, as `tgraph.kernels.operators.aggregation.slices` describes them; the height is C, and padding
        refers to vertex 0.

    >>> graph = tg.generators.grid2d(4, 4)
    >>> tg.aggregate(graph.to_format("sell", C=4, sigma=16), torch.ones(16)).equal(tg.aggregate(graph, torch.ones(16)))
    True
    """

    slices: Slices
    sigma: int
    weights: Tensor | None
    num_vertices: int
    num_arcs: int

    name = "sell"

    def __init__(self, slices: Slices, sigma: int):
        self.slices, self.weights, self.sigma = slices, slices.weights, sigma
        self.num_vertices, self.num_arcs = len(slices.length), int(slices.length.sum())

    @classmethod
    def from_graph(cls, graph: Graph, *, C: int = 32, sigma: int = 4096, **unknown: Any) -> Self:
        """The arcs of a graph in slices of `C` rows, a multiple of 16 for vector registers and of 32 for GPUs, sorted
        within windows of `sigma` rows: 1 keeps the order of the rows, n gives the least padding. Raises ArgumentError
        for values below 1 and `unknown` options."""
        cls.refuse_options(unknown)
        options = {"C": C, "sigma": sigma}
        return cls(slices_of(graph, count_option(options, "C", 1), count_option(options, "sigma", 1)), sigma)

    @property
    def fill(self) -> float:
        """The fraction of stored entries that are arcs rather than padding; 1 where nothing is stored.

        >>> graph = tg.generators.star(8)
        >>> graph.to_format("sell", C=1).layout.fill, graph.to_format("sell", C=4).layout.fill
        (1.0, 0.4)
        """
        return self.num_arcs / max(len(self.slices.neighbors), 1) if self.num_arcs else 1.0

    def to_csr(self) -> Csr:
        return arcs_of(self.slices, self._place)

    def _rows(self, vertices: Tensor) -> Csr:
        return arcs_of(self.slices, vertices if self._place is None else self._place[vertices])

    @computed_once
    def _place(self) -> Tensor | None:
        """Position of each row in the slices, int64 [n]; None where rows are in order. Cached for later selections."""
        order = self.slices.order
        if order is None:
            return None
        places = torch.arange(self.num_vertices, device=order.device)
        return torch.empty_like(places).index_copy_(0, order.to(torch.int64), places)

    def stretches(self, vertices: Tensor) -> Stretches:
        """See `Layout.stretches`: the arcs of a row are one lane of a slice."""
        place = vertices if self._place is None else self._place[vertices]
        height = self.slices.height
        first = self.slices.offset[place // height] + place % height
        return Stretches(first, self.slices.length[place].to(torch.int64), height, self.slices.neighbors)

    @property
    def device(self) -> torch.device:
        return self.slices.neighbors.device

    def out_degree(self) -> Tensor:
        length, order = self.slices.length.to(torch.int64), self.slices.order
        return length if order is None else torch.empty_like(length).index_copy_(0, order.to(torch.int64), length)

    def tensors(self) -> dict[str, Tensor]:
        named = self.slices._asdict()
        return {name: tensor for name, tensor in named.items() if isinstance(tensor, Tensor)}

    def options(self) -> dict[str, Any]:
        return {"num_vertices": self.num_vertices, "C": self.slices.height, "sigma": self.sigma}

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Self:
        slices = checked_slices(cls.name, tensors, options, count_option(options, "C", 1))
        return cls(slices, count_option(options, "sigma", 1))

    def transposed(self) -> Self:
        """The reversed arcs in a new layout with the same options. Raises ArgumentError where the options do not fit
        them."""
        offset, neighbors, weights = transposed_csr(*self.to_csr())
        options = {name: value for name, value in self.options().items() if name != "num_vertices"}
        return self.from_graph(Graph(offset, neighbors, weights), **options)

    def affine_step(self, step: AffineStep) -> StepResult:
        """See `Layout.affine_step`. float32 is accumulated in float64 without a converted copy."""
        return step_slices(self.slices, step)

    def _pull(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        return pull_slices(self.slices._replace(weights=weights), data, reduction, edge)


def slices_of(graph: Graph, height: int, sigma: int, limit: float | None = None) -> Slices:
    """The rows of a graph in slices of `height` rows, sorted within windows of `sigma` rows. Raises ArgumentError for a
    row of 2^31 arcs or more, and where more than `limit` entries per arc would be stored."""
    degree, n = graph.out_degree, graph.num_vertices
    if n and (longest := int(degree.max())) >= 2**31:
        raise ArgumentError(f"graph: a row of {longest} arcs is longer than a slice can be; use the layout 'csr'")
    order = _by_length(degree, sigma) if sigma > 1 else None
    length = degree if order is None else degree[order]
    padded = torch.nn.functional.pad(length, (0, -n % height)).view(-1, height)
    entries = padded.amax(1) * height
    offset = offset_of(entries)
    stored = int(offset[-1])
    if limit is not None and stored > limit * graph.num_arcs:
        raise ArgumentError(
            f"graph: padding its rows to one length would store {stored} entries for {graph.num_arcs} arcs, "
            f"{stored / graph.num_arcs:.1f} times as many; use the layout 'sell', or allow it with a greater limit="
        )
    index = sorting.index_dtype(n)
    slices = Slices(
        offset,
        torch.zeros(stored, dtype=index, device=graph.device),
        None if graph.weights is None else torch.zeros(stored, dtype=graph.weights.dtype, device=graph.device),
        length.to(torch.int32),
        None if order is None else order.to(index),
        height,
    )
    _fill(slices, graph, order)
    return slices


def _by_length(degree: Tensor, sigma: int) -> Tensor:
    """Row numbers, int64 [n], by descending length within each window of `sigma` rows; stable."""
    longest = int(degree.max()) if len(degree) else 0
    scope = torch.arange(len(degree), device=degree.device) // sigma
    return torch.argsort(scope * (longest + 1) + (longest - degree), stable=True)


def _fill(slices: Slices, graph: Graph, order: Tensor | None) -> None:
    """Store every arc in its entry."""
    n, height = graph.num_vertices, slices.height
    places = torch.arange(n, device=graph.device)
    first = slices.offset[places // height] + places % height
    start, positions = gather_rows(graph.offset, order)
    degree = start.diff()
    arc = torch.arange(len(positions), device=graph.device) - start[:-1].repeat_interleave(degree)
    entries = first.repeat_interleave(degree) + arc * height
    slices.neighbors[entries] = sorting.take(graph.neighbors, positions)
    if slices.weights is not None and graph.weights is not None:
        slices.weights[entries] = sorting.take(graph.weights.detach(), positions)


def checked_slices(name: str, tensors: dict[str, Tensor], options: dict[str, Any], height: int) -> Slices:
    """Slices of stored tensors. Raises ArgumentError where these are inconsistent or have indices out of range."""
    tensors = check_names(name, tensors, ("offset", "neighbors", "length"), ("weights", "order"))
    offset, neighbors, length = tensors["offset"], tensors["neighbors"], tensors["length"]
    n, order = count_option(options, "num_vertices"), tensors.get("order")
    if len(length) != n:
        raise ArgumentError(f"length: expected one for each of {n} vertices, got {len(length)}")
    check_rows(offset, -(-n // height), len(neighbors))
    offset = offset.to(torch.int64)
    width = offset.diff()
    if len(wrong := (width % height != 0).nonzero()):
        raise ArgumentError(f"offset: slice {int(wrong[0])} is no multiple of its height, {height}; check C")
    widest = (width // height)[torch.arange(n, device=offset.device) // height]
    if len(wrong := ((length < 0) | (length > widest)).nonzero()):
        place = int(wrong[0])
        raise ArgumentError(f"length: {int(length[place])} at position {place} does not fit its slice")
    validate.check_range(neighbors, n)
    if order is not None:
        if len(order) != n:
            raise ArgumentError(f"order: expected one for each of {n} vertices, got {len(order)}")
        validate.check_range(order, n, "order")
        if len(lost := (torch.bincount(order, minlength=n) != 1).nonzero()):
            raise ArgumentError(f"order: row {int(lost[0])} comes not exactly once")
    index, weights = sorting.index_dtype(n), tensors.get("weights")
    return Slices(
        offset, neighbors.to(index), inputs.as_weights(weights, len(neighbors)), length.to(torch.int32),
        None if order is None else order.to(index), height,
    )  # fmt: skip
