"""Parts: contiguous blocks of the arcs of a graph, after a renumbering of its vertices."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.graph import Graph
from tgraph.core.rows import offset_of
from tgraph.errors import ArgumentError


@dataclass(frozen=True)
class Parts:
    """A partition of a graph into p parts.

    order : int64 [n], vertex i of the partitioned graph is vertex order[i] of the given one; None for the identity.
    bounds : int64 [p + 1], part i consists of the arcs bounds[i]..bounds[i + 1] - 1 of the partitioned graph in CSR
        order; it may end within a row, such as that of a hub. Equal bounds make an empty part.

    Methods that take a graph expect the partitioned one, the result of `apply`.
    Raises ArgumentError for bounds that do not ascend from 0.
    """

    order: Tensor | None
    bounds: Tensor

    def __post_init__(self) -> None:
        bounds = self.bounds
        if bounds.dim() != 1 or len(bounds) < 2 or bounds.dtype != torch.int64:
            raise ArgumentError(f"bounds: expected int64 [parts + 1], got {bounds.dtype} {list(bounds.shape)}")
        if int(bounds[0]) or bool((bounds.diff() < 0).any()):
            raise ArgumentError("bounds: they must begin with 0 and never decrease")

    def __len__(self) -> int:
        """p, empty parts included."""
        return len(self.bounds) - 1

    @property
    def sizes(self) -> Tensor:
        """The arcs in each part, int64 [p]."""
        return self.bounds.diff()

    @property
    def balance(self) -> float:
        """The size of the largest part divided by the mean: 1 where all are equal, at most p; 1 without arcs."""
        arcs = int(self.bounds[-1])
        return int(self.sizes.max()) * len(self) / arcs if arcs else 1.0

    def apply(self, graph: Graph) -> Graph:
        """The partitioned graph, from the given one. Raises ArgumentError for a graph of another size."""
        self._check_size(graph)
        return graph if self.order is None else graph.permute(self.order)

    def part_of(self, graph: Graph, vertices: Tensor | None = None) -> Tensor:
        """The part of each of the given vertices (None: of all), int64 [k]: that of the first arc of its row, or, for a
        row without arcs, of the position where it would be."""
        self._check_size(graph)
        offset = graph.row_offset()
        first = offset[:-1] if vertices is None else offset.index_select(0, vertices)
        return torch.searchsorted(self.bounds[1:], first, right=True).clamp_(max=len(self) - 1)

    def part_of_arcs(self) -> Tensor:
        """The part that each arc lies in, int64 [m]."""
        return sorting.expand_rows(self.bounds)

    def cut(self, graph: Graph) -> tuple[int, float]:
        """(number of arcs between different parts, their share of all arcs; 0 without arcs)."""
        cut = int((self.part_of(graph).index_select(0, graph.decoded().neighbors) != self.part_of_arcs()).sum())
        return cut, cut / max(graph.num_arcs, 1)

    def arcs_between(self, graph: Graph) -> Tensor:
        """The number of arcs from part i to part j, int64 [p, p]."""
        pair = self.part_of_arcs() * len(self) + self.part_of(graph).index_select(0, graph.decoded().neighbors)
        return torch.bincount(pair, minlength=len(self) ** 2).view(len(self), len(self))

    def _check_size(self, graph: Graph) -> None:
        if graph.num_arcs != int(self.bounds[-1]):
            raise ArgumentError(f"graph: has {graph.num_arcs} arcs, these parts {int(self.bounds[-1])}; it is another")


def equal_shares(arcs: int, parts: int, device: torch.device | str = "cpu") -> Tensor:
    """Bounds of parts of equal size, int64 [parts + 1]: sizes differ by at most 1."""
    return torch.arange(parts + 1, device=device) * arcs // parts


def round_to_rows(offset: Tensor, position: Tensor, largest: int) -> Tensor:
    """Each arc position, int64 [k], rounded to the nearer end of its row, or unchanged where the row has more than
    `largest` arcs. Preserves ascending order."""
    after = torch.searchsorted(offset, position)
    upper, lower = offset[after], offset[(after - 1).clamp_(min=0)]
    nearest = torch.where(position - lower <= upper - position, lower, upper)
    return torch.where((upper == position) | (upper - lower > largest), position, nearest)


def by_label(graph: Graph, label: Tensor, parts: int) -> Parts:
    """Parts of whole rows from the part of each vertex, label [n] in 0..parts - 1. Within a part the vertices keep
    their order."""
    order = label.argsort(stable=True)
    return Parts(unless_identity(order), part_bounds(label, graph.out_degree, parts))


def part_bounds(label: Tensor, size: Tensor, parts: int) -> Tensor:
    """Bounds of parts, int64 [parts + 1], from the part and the number of arcs, `size`, of each vertex [n]."""
    return offset_of(torch.zeros(parts, dtype=torch.int64, device=label.device).index_add_(0, label, size))


def unless_identity(order: Tensor) -> Tensor | None:
    """`order`, or None if it is 0, 1, ... n - 1."""
    return None if torch.equal(order, torch.arange(len(order), device=order.device)) else order


def structure(graph: Graph) -> Graph:
    """The graph without weights and ids, which partitioning ignores. Raises ArgumentError for damaged offsets."""
    graph.ensure_valid()
    arcs = graph.decoded()
    return Graph(arcs.offset, arcs.neighbors, directed=graph.directed)


def both_ways(graph: Graph) -> Graph:
    """The simple undirected graph: in- and out-neighbours of every vertex, each once, without self-loops."""
    return structure(graph).to_undirected("first").without_self_loops()
