"""What samplers need of the arcs of one type."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.sampling.neighbors import NO_BOUND, STEP


@dataclass(frozen=True)
class Arcs:
    """Arcs by the vertex that receives along them.

    offset : int64 [n + 1]. neighbors : int32 or int64 [m], the sources. num_sources : how many there may be.
    number : int64 [m], the number of each arc, None where that is its place. weights, sums, bounds, time,
    is_time_of_arcs : as in `Relation` of `tgraph.kernels.operators.sampling.neighbors`.
    """

    offset: Tensor
    neighbors: Tensor
    num_sources: int
    number: Tensor | None
    weights: Tensor | None = None
    sums: Tensor | None = None
    bounds: Tensor | None = None
    time: Tensor | None = None
    is_time_of_arcs: bool = False

    @classmethod
    def of(
        cls,
        arcs: Graph | Csr,
        direction: str,
        weighted: bool,
        node_time: Tensor | None,
        edge_time: Tensor | None,
        name: str,
    ) -> Arcs:
        """The arcs along which vertices receive, direction "in", or send, "out".

        Rows of a Csr are destinations. node_time, edge_time : int64, of the sources [n] or of the arcs [m].
        """
        offset, neighbors, columns, number, weights = _rows(arcs, direction)
        if weighted and weights is None:
            raise ArgumentError(f"{name}: has no weights to sample by; give it weights, or leave weighted=False")
        held = cls(offset, neighbors, columns, number)
        if edge_time is not None:
            _check_time(edge_time, len(neighbors), "edge_time", "arc")
            edge_time = edge_time.cpu()
            edge_time = edge_time if number is None else edge_time[number]
            held, order = held.sorted_by(edge_time)
            weights = weights if order is None or weights is None else weights[order]
            held = held.with_time(edge_time if order is None else edge_time[order], True)
        elif node_time is not None:
            _check_time(node_time, columns, "node_time", "vertex")
            node_time = node_time.cpu()
            held, order = held.sorted_by(node_time[neighbors.long()])
            weights = weights if order is None or weights is None else weights[order]
            held = held.with_time(node_time, False)
        return held.with_weights(weights, name) if weighted and weights is not None else held

    @classmethod
    def with_values(cls, arcs: Graph | Csr, direction: str) -> tuple[Arcs, Tensor | None]:
        """(the arcs, their weights [m] in this order, or None), for samplers that do not draw single arcs by these."""
        offset, neighbors, columns, number, weights = _rows(arcs, direction)
        return cls(offset, neighbors, columns, number), weights

    def sorted_by(self, time: Tensor) -> tuple[Arcs, Tensor | None]:
        """Each row in the order of time, and where its arcs were; None where it is in that order already."""
        inside = torch.ones(len(time), dtype=torch.bool)
        inside[self.offset[:-1][self.offset.diff() > 0]] = False
        if not bool((time.diff()[inside[1:]] < 0).any()):
            return self, None
        order = time.argsort(stable=True)
        row = torch.arange(len(self.offset) - 1).repeat_interleave(self.offset.diff())
        order = order[row[order].argsort(stable=True)]
        number = order if self.number is None else self.number[order]
        return Arcs(self.offset, self.neighbors[order], self.num_sources, number), order

    def between(
        self, sources: Tensor, targets: Tensor, trees: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The arcs from `sources` to `targets`, lists of vertices: (places in one, places in the other, numbers).

        A vertex that is more than once in a list counts where it is first. trees : of both lists, int64; with them,
        the arcs within each tree, and a vertex of another tree is another one.
        """
        column, arc = gather_arcs(self.offset, targets)
        neighbor = self.neighbors[arc].to(torch.int64)
        inside, place = ends_between(column, neighbor, sources, targets, trees, self.num_sources)
        return place, column[inside], arc[inside]

    def with_time(self, time: Tensor, is_of_arcs: bool) -> Arcs:
        """The same with times."""
        fields = {**self.__dict__, "time": time.to(torch.int64).contiguous(), "is_time_of_arcs": is_of_arcs}
        return Arcs(**fields)

    def with_weights(self, weights: Tensor, name: str) -> Arcs:
        """The same with weights, of which sums and bounds are kept."""
        if len(weights) and not bool((weights >= 0).all() & weights.isfinite().all()):
            place = int((~(weights >= 0) | ~weights.isfinite()).nonzero()[0])
            raise ArgumentError(
                f"{name}: arcs are sampled by finite weights that are not negative, weights[{place}] is "
                f"{weights[place].item()}; replace it, or leave weighted=False"
            )
        held, sums, bounds = sums_of(self.offset, weights)
        return Arcs(**{**self.__dict__, "weights": held, "sums": sums, "bounds": bounds})

    @property
    def num_rows(self) -> int:
        return len(self.offset) - 1


def _rows(arcs: Graph | Csr, direction: str) -> tuple[Tensor, Tensor, int, Tensor | None, Tensor | None]:
    """(offset, neighbors, number of columns, numbers of the arcs, weights) of the rows to sample from, on the CPU,
    where samplers draw."""
    arcs = arcs if arcs.device.type == "cpu" else arcs.to("cpu")
    if isinstance(arcs, Csr):
        if direction == "in":
            return arcs.offset, arcs.neighbors, arcs.num_columns, arcs.permutation, arcs.weights
        offset, neighbors, number = arcs.transposed(numbered=True)
        assert number is not None
        weights = None if arcs.weights is None else arcs.weights[number]
        return offset, neighbors, arcs.num_rows, _through(arcs.permutation, number), weights
    graph = arcs.decoded()
    if direction == "out" or not graph.directed:
        return graph.offset, graph.neighbors, graph.num_vertices, None, graph.weights
    reverse = graph.transpose()
    return reverse.offset, reverse.neighbors, graph.num_vertices, graph.transpose_permutation, reverse.weights


def sums_of(offset: Tensor, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(weights as samplers hold them, their sums for every STEP-th arc, bounds of the rows), as in `Relation` of
    `tgraph.kernels.operators.sampling.neighbors`."""
    weights = weights.detach()
    weights = (weights if weights.dtype in (torch.float32, torch.float64) else weights.double()).contiguous()
    whole = len(weights) // STEP * STEP
    sums = weights[:whole].view(-1, STEP).sum(1, dtype=torch.float64).cumsum(0)
    bounds = torch.full((len(sums) + 1,), NO_BOUND, dtype=torch.int8)
    rows = (offset.diff() > STEP).nonzero().squeeze(1)
    if len(rows):
        first, count = offset[rows], offset[rows + 1] - offset[rows]
        most = torch.segment_reduce(weights[gather_arcs(offset, rows)[1]], "max", lengths=count)
        exponent = torch.frexp(most).exponent
        held = (most > 0) & (exponent.abs() < -NO_BOUND)
        bounds[(first + STEP - 1) // STEP] = exponent.where(held, NO_BOUND).to(torch.int8)
    return weights, torch.nn.functional.pad(sums, (1, 0)), bounds


def ends_between(
    column: Tensor,
    neighbor: Tensor,
    sources: Tensor,
    targets: Tensor,
    trees: tuple[Tensor, Tensor] | None,
    num_sources: int,
) -> tuple[Tensor, Tensor]:
    """Which arcs, from a `neighbor` to the target at a place, `column`, come from one of the `sources`, and that one's
    place; `trees` as for `Arcs.between`."""
    if trees is not None:
        sources = sources + trees[0] * num_sources
        neighbor = neighbor + trees[1][column] * num_sources
        targets = targets + trees[1] * (int(targets.max()) + 1 if len(targets) else 1)
    ordered, place = sources.sort(stable=True)
    at = torch.searchsorted(ordered, neighbor).clamp(max=max(len(ordered) - 1, 0))
    inside = ordered[at] == neighbor if len(ordered) else torch.zeros_like(neighbor, dtype=torch.bool)
    inside &= first_of_equals(targets)[column] == column
    return inside, place[at[inside]]


def _through(permutation: Tensor | None, number: Tensor) -> Tensor:
    return number if permutation is None else permutation[number]


def _check_time(time: Tensor, count: int, name: str, of: str) -> None:
    if time.shape != (count,) or time.is_floating_point():
        raise ArgumentError(f"{name}: expected int64 [{count}], one for each {of}, got {time.dtype} {list(time.shape)}")


def gather_arcs(offset: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The arcs of some rows, one after the other: (the place of the row of each, its number)."""
    bounds, arcs = gather_rows(offset, rows)
    return torch.arange(len(rows)).repeat_interleave(bounds.diff()), arcs


def first_of_equals(values: Tensor) -> Tensor:
    """The first place of each value, int64 [k]."""
    _, inverse = values.unique(return_inverse=True)
    place = torch.arange(len(values), device=values.device)
    return torch.full_like(place, len(values)).scatter_reduce_(0, inverse, place, "amin")[inverse]
