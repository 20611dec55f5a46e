"""Adjacencies of graphs spread over processes: each process computes for its own vertices."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.layout import spreading
from tgraph.kernels.messages import column
from tgraph.model import operators
from tgraph.nn.adjacency import Adjacency, GraphAdjacency, SortedAdjacency, inverse_root


class SpreadAdjacency(GraphAdjacency):
    """The adjacency of the k vertices that this process owns, for features [k, ...]. `aggregate` exchanges features
    between all processes, which call it in the same order.

    Layers on single arcs use `local`, from own vertices and mirrors, with the features of mirrors by `with_mirrors`.
    Raises ArgumentError under torch.compile.
    """

    num_sources: int
    num_targets: int

    def __init__(self, graph: Graph, reverse: bool):
        if torch.compiler.is_compiling():
            raise ArgumentError("edge_index: torch.compile supports no graph spread over processes; leave it out")
        super().__init__(graph, reverse)
        self.layout = spreading.layout_of(graph if reverse else graph.transpose_detached())  # rows are targets
        self.num_sources = self.num_targets = self.layout.ownership.num_own

    @property
    def degree(self) -> Tensor:
        return self.layout.own_degree

    @property
    def values(self) -> None:  # type: ignore[override]
        """None: no process has the weights of all arcs; see `weighted`."""

    @property
    def weighted(self) -> bool:
        """Whether arcs have weights."""
        return self.graph.weight_dtype is not None

    @property
    def local(self) -> Adjacency:
        """The arcs of this process, from own vertices and then mirrors to own vertices."""

        def cut() -> Adjacency:
            rows = self.layout.local_rows
            return SortedAdjacency(rows.offset, rows.neighbors, rows.num_columns)

        return self.cached("local", cut)

    def with_mirrors(self, *data: Tensor) -> tuple[Tensor, ...]:
        """Each of the `data` [k, ...] of own vertices followed by the data of mirrors, in one exchange."""
        widths = [math.prod(each.shape[1:]) for each in data]
        columns = [each.reshape(len(each), width) for each, width in zip(data, widths, strict=True)]
        joined = columns[0] if len(data) == 1 else torch.cat(columns, 1)
        parts = self.layout.with_mirrors(joined).split(widths, 1)
        return tuple(part.reshape(len(part), *each.shape[1:]) for part, each in zip(parts, data, strict=True))

    def aggregate(self, data: Tensor, reduce: str, weights: SpreadWeights | None) -> Tensor:
        """The reduction of the messages to own vertices, [k, ...]; 0 without sources."""
        graph = self.in_layout
        assert graph is not None
        weights = _PLAIN if weights is None else weights
        received = weights.apply(graph, data, reduce)
        if reduce in ("min", "max") and (unreached := self.unreached) is not None:
            received = received.masked_fill(column(unreached[:, 0], received), 0)
        return received

    def own_weights(self, edge_weight: Tensor | None) -> SpreadWeights | None:
        """The weights of the graph. Raises ArgumentError if `edge_weight` is given."""
        self.require_none(edge_weight=edge_weight)
        return SpreadWeights(None, None, "mul") if self.weighted else None

    @staticmethod
    def require_none(**given: object) -> None:
        """Raise ArgumentError for the first of these arguments that is given."""
        for name, value in given.items():
            if value is not None:
                raise ArgumentError(
                    f"{name}: layers take no edge data on a graph spread over processes; only the weights of the graph "
                    "are used, write it with weights"
                )

    def normalised(self, improved: bool, loops: bool, dtype: torch.dtype) -> SpreadWeights:
        """The weights of `tgraph.nn.normalisation.gcn_norm`, with remaining self-loops if `loops`."""
        key = f"gcn {improved} {loops} {dtype}"
        return self.cached(key, lambda: _normalised(self, improved, loops, dtype))


class SpreadWeights:
    """The weights scale[source] * w * scale[target] of all arcs, w the weight of the arc or 1, and loop[v] * scale[v]^2
    of a further self-loop of each vertex: sent and received data are scaled, and no weight is communicated.

    scale, loop : [k], or None for 1 and for 0. edge : "mul" to use the weights of the graph, or "copy".
    """

    def __init__(self, scale: Tensor | None, loop: Tensor | None, edge: str):
        self.scale: Tensor | None = scale
        self.loop: Tensor | None = loop
        self.edge: str = edge

    @property
    def nbytes(self) -> int:
        """Bytes of the tensors."""
        return sum(each.nbytes for each in (self.scale, self.loop) if each is not None)

    def apply(self, graph: Graph, data: Tensor, reduce: str) -> Tensor:
        """The weighted reduction at own vertices of `data` [k, ...] along the arcs of a `graph`."""
        if reduce != "sum" and (self.scale is not None or self.loop is not None):
            raise ArgumentError(f"aggr: {reduce!r} of normalised messages; on a graph spread over processes use 'sum'")
        sent = data if self.scale is None else data * column(self.scale, data)
        received = operators.aggregate(graph, sent, reduce, edge=self.edge).to(data.dtype)
        if self.loop is not None:
            received = torch.addcmul(received, sent, column(self.loop, data))
        return received if self.scale is None else received * column(self.scale, data)


_PLAIN = SpreadWeights(None, None, "copy")


def _normalised(adjacency: SpreadAdjacency, improved: bool, loops: bool, dtype: torch.dtype) -> SpreadWeights:
    """The weights of `SpreadAdjacency.normalised`: parallel self-loops count once, by the weight of the last arc."""
    layout, weighted = adjacency.layout, adjacency.weighted
    degree = layout.own_weights(dtype) if weighted else layout.own_degree.to(dtype)
    loop = None
    if loops:
        loop = _further_loops(layout.part, 2.0 if improved and weighted else 1.0, dtype)
        degree = degree + loop
    return SpreadWeights(inverse_root(degree), loop, "mul" if weighted else "copy")


def _further_loops(part: Any, fill: float, dtype: torch.dtype) -> Tensor:
    """The difference between the wanted self-loop weight of each vertex (of its last self-loop, or `fill` without one)
    and the sum of the weights of its self-loops, [k]."""
    total = torch.zeros(part.num_own, dtype=dtype, device=part.mirrors.device)
    wanted = torch.full_like(total, fill)
    last = torch.full_like(total, -1, dtype=torch.int64)  # the arc of the weight `wanted`

    def see(first_arc: int, first_row: int, offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> None:
        row = sorting.expand_rows(offset) + first_row
        at = (row == neighbors).nonzero().flatten()
        vertex, arc = row[at], at + first_arc
        weight = total.new_ones(len(at)) if weights is None else weights[at].to(dtype)
        total.index_add_(0, vertex, weight)
        last.scatter_reduce_(0, vertex, arc, "amax")
        latest = last[vertex] == arc
        wanted[vertex[latest]] = weight[latest]

    part.scan_inside(see)
    return wanted - total
