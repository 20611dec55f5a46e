"""The arcs of one type of edges, prepared for sampling."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.sampling.neighbors import NO_BOUND, STEP


@dataclass(frozen=True)
class Arcs:
    """Arcs in rows by destination.

    offset : int64 [n + 1]. neighbors : int32 or int64 [m], the sources. num_sources : a bound on these.
    number : int64 [m], the number of each arc, None for its position. weights, sums, bounds, time,
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
        """The arcs of a graph, or of a Csr with destinations as rows; by source for direction "out".

        node_time, edge_time : int64, of the sources [n] or of the arcs [m]. Raises ArgumentError for times of another
        shape, and, where `weighted`, weights that are missing, negative or not finite; `name` : of the argument.
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
            edge_time = (edge_time if order is None else edge_time[order]).to(torch.int64).contiguous()
            held = replace(held, time=edge_time, is_time_of_arcs=True)
        elif node_time is not None:
            _check_time(node_time, columns, "node_time", "vertex")
            node_time = node_time.cpu()
            held, order = held.sorted_by(node_time[neighbors.long()])
            weights = weights if order is None or weights is None else weights[order]
            held = replace(held, time=node_time.to(torch.int64).contiguous())
        return held.with_weights(weights, name) if weighted and weights is not None else held

    @classmethod
    def with_values(cls, arcs: Graph | Csr, direction: str) -> tuple[Arcs, Tensor | None]:
        """(the arcs, their weights [m] in this order, or None), for samplers without weighted draws of single arcs."""
        offset, neighbors, columns, number, weights = _rows(arcs, direction)
        return cls(offset, neighbors, columns, number), weights

    def sorted_by(self, time: Tensor) -> tuple[Arcs, Tensor | None]:
        """(the arcs with rows sorted by time, the permutation or None if they were sorted)"""
        inside = torch.ones(len(time), dtype=torch.bool)
        inside[self.offset[:-1][self.offset.diff() > 0]] = False
        if not bool((time.diff()[inside[1:]] < 0).any()):
            return self, None
        order = time.argsort(stable=True)
        row = torch.arange(self.num_rows).repeat_interleave(self.offset.diff())
        order = order[row[order].argsort(stable=True)]
        number = order if self.number is None else self.number[order]
        return Arcs(self.offset, self.neighbors[order], self.num_sources, number), order

    def between(
        self, sources: Tensor, targets: Tensor, trees: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The arcs from `sources` to `targets`, lists of vertices: (positions in `sources`, in `targets`, numbers).

        The first position of a repeated vertex counts. trees : of both lists, int64, to restrict arcs to a tree.
        """
        column, arc = gather_arcs(self.offset, targets)
        neighbor = self.neighbors[arc].to(torch.int64)
        inside, place = ends_between(column, neighbor, sources, targets, trees, self.num_sources)
        return place, column[inside], arc[inside]

    def with_weights(self, weights: Tensor, name: str) -> Arcs:
        """The same with weights, their sums and bounds."""
        if len(weights) and not bool((weights >= 0).all() & weights.isfinite().all()):
            place = int((~(weights >= 0) | ~weights.isfinite()).nonzero()[0])
            raise ArgumentError(
                f"{name}: arcs are sampled by finite weights that are not negative, weights[{place}] is "
                f"{weights[place].item()}; replace it, or leave weighted=False"
            )
        held, sums, bounds = sums_of(self.offset, weights)
        return replace(self, weights=held, sums=sums, bounds=bounds)

    def numbered(self, arc: Tensor) -> Tensor:
        """The numbers in the graph of arcs by position."""
        return arc if self.number is None else self.number[arc]

    @property
    def num_rows(self) -> int:
        return len(self.offset) - 1


def _rows(arcs: Graph | Csr, direction: str) -> tuple[Tensor, Tensor, int, Tensor | None, Tensor | None]:
    """(offset, neighbors, number of columns, numbers of the arcs, weights) of the rows to sample from, on the CPU."""
    arcs = arcs if arcs.device.type == "cpu" else arcs.to("cpu")
    if isinstance(arcs, Csr):
        if direction == "in":
            return arcs.offset, arcs.neighbors, arcs.num_columns, arcs.permutation, arcs.weights
        offset, neighbors, number = arcs.by_column(numbered=True)
        assert number is not None
        weights = None if arcs.weights is None else arcs.weights[number]
        number = number if arcs.permutation is None else arcs.permutation[number]
        return offset, neighbors, arcs.num_rows, number, weights
    graph = arcs.decoded()
    if direction == "out" or not graph.directed:
        return graph.offset, graph.neighbors, graph.num_vertices, None, graph.weights
    reverse = graph.transpose()
    return reverse.offset, reverse.neighbors, graph.num_vertices, graph.transpose_permutation, reverse.weights


def sums_of(offset: Tensor, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(weights as floating data, their sums for every STEP-th arc, bounds of the rows), as in `Relation` of
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
    """(mask of arcs neighbor -> targets[column] from `sources`, positions there); `trees` as in `Arcs.between`."""
    if trees is not None:
        sources = sources + trees[0] * num_sources
        neighbor = neighbor + trees[1][column] * num_sources
        targets = targets + trees[1] * (int(targets.max()) + 1 if len(targets) else 1)
    ordered, place = sources.sort(stable=True)
    at = torch.searchsorted(ordered, neighbor).clamp(max=max(len(ordered) - 1, 0))
    inside = ordered[at] == neighbor if len(ordered) else torch.zeros_like(neighbor, dtype=torch.bool)
    inside &= first_of_equals(targets)[column] == column
    return inside, place[at[inside]]


def _check_time(time: Tensor, count: int, name: str, of: str) -> None:
    if time.shape != (count,) or time.is_floating_point():
        raise ArgumentError(f"{name}: expected int64 [{count}], one for each {of}, got {time.dtype} {list(time.shape)}")


def gather_arcs(offset: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The arcs of some rows, one after the other: (the position of the row of each, its number)."""
    bounds, arcs = gather_rows(offset, rows)
    return torch.arange(len(rows)).repeat_interleave(bounds.diff()), arcs


def first_of_equals(values: Tensor) -> Tensor:
    """The first position of each value, int64 [k]."""
    _, inverse = values.unique(return_inverse=True)
    place = torch.arange(len(values), device=values.device)
    return torch.full_like(place, len(values)).scatter_reduce_(0, inverse, place, "amin")[inverse]
