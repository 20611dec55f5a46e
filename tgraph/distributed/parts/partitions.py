"""Partitions for ranks that cut the rows of a graph: a grid of ranks, and arcs to hubs distributed over all ranks.

A rank owns consecutive vertices. An arc lies at one rank, which reads the value of its source and adds to that of its
target; values of other ranks' vertices are fetched from their owners, sums for such vertices are sent to them. The rank
of an arc is a function of its two ends, so that no table of arcs is needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.core.building import inputs
from tgraph.core.graph import Graph
from tgraph.core.rows import offset_of
from tgraph.errors import ArgumentError
from tgraph.stream.partitioning.parts import equal_shares, round_to_rows

# Arcs that are looked at together while they are counted: 8 bytes for each.
CHUNK = 2**22


@dataclass(frozen=True)
class Placement(ABC):
    """The owner of each vertex, and the rank of each arc, among p ranks.

    bounds : int64 [p + 1], rank r owns the vertices bounds[r]..bounds[r + 1] - 1; equal bounds where it owns none.
    """

    bounds: Tensor

    def __len__(self) -> int:
        """p, the number of ranks, with those without vertices."""
        return len(self.bounds) - 1

    def owner(self, vertices: Tensor) -> Tensor:
        """The rank that owns each of the vertices, int32 [k], from int32 or int64 [k]."""
        return torch.bucketize(vertices, self.bounds[1:], right=True, out_int32=True)

    @abstractmethod
    def rank(self, source: Tensor, target: Tensor) -> Tensor:
        """The rank that holds each of the arcs source[i] -> target[i], int32 [k], from int32 or int64 [k]."""


@dataclass(frozen=True)
class Grid(Placement):
    """Ranks in a grid of p = rows * columns, row after row, as `two_dimensional` makes it."""

    columns: int

    def rank(self, source: Tensor, target: Tensor) -> Tensor:
        owner = self.owner(target)
        return owner - owner % self.columns + self.owner(source) % self.columns


@dataclass(frozen=True)
class HubCut(Placement):
    """Arcs lie at the owner of their target, but arcs to a hub at the owner of their source, see `cut_hubs`.

    hub : bool [n].
    """

    hub: Tensor

    def rank(self, source: Tensor, target: Tensor) -> Tensor:
        return self.owner(torch.where(self.hub[target], source, target))


def two_dimensional(graph: Graph, rows: int, columns: int, bounds: Tensor | None = None) -> Grid:
    """Place the arcs on a grid of ranks (Yoo et al., SC 2005; Buluc, Madduri, SC 2011).

    An arc lies in the row of the rank that owns its target and in the column of the one that owns its source: the value
    of a vertex is needed by the ranks of one column, at most `rows`, and sums for it are made by the ranks of one row,
    at most `columns`, so that a rank exchanges messages with rows + columns - 2 others. Vertices and the arcs at them,
    in and out, are balanced over the owners: sources in a column have at most 1 / columns of all, and `columns` times
    the largest vertex. `bounds`, int64 [p + 1], are the owners' where a partition has chosen them. Keeps O(p).

    Raises ArgumentError for rows < 1 or columns < 1, and for bounds that do not divide the vertices into p ranges.
    """
    rows, columns = _positive(rows, "rows"), _positive(columns, "columns")
    if bounds is not None:
        return Grid(_checked(bounds, rows * columns, graph.num_vertices), columns)
    weight = offset_of(graph.in_degree + graph.out_degree + 1)
    return Grid(_balanced(weight, rows * columns), columns)


def cut_hubs(graph: Graph, parts: int, largest: int | None = None, bounds: Tensor | None = None) -> HubCut:
    """Place arcs at the owner of their target, but arcs to vertices of more than `largest` in-arcs, the hubs, at the
    owner of their source: the hybrid cut of PowerLyra (Chen, Shi, Chen, Chen, EuroSys 2015).

    A hub costs a sum from each rank, and none of the values that its arcs need. `largest` is by default HUB_ARCS for
    each rank, or a quarter of the mean of the arcs of a rank if that is less. Vertices and arcs are balanced: a rank
    holds at most the mean of both together, and the arcs that depend on one vertex, at most `largest` and its arcs to
    hubs. `bounds`, int64 [p + 1], are the owners' where a partition has chosen them: moving them would cut its parts.
    Keeps O(p) and a byte for each vertex.

    Raises ArgumentError for parts < 1, a negative `largest`, and bounds that do not divide the vertices into p ranges.
    """
    parts = _positive(parts, "parts")
    usual = min(HUB_ARCS * parts, graph.num_arcs // (4 * parts))
    largest = usual if largest is None else inputs.as_count(largest, "largest")
    degree = graph.in_degree
    hub = degree > largest
    if bounds is not None:
        return HubCut(_checked(bounds, parts, graph.num_vertices), hub)
    weight = offset_of(degree.masked_fill(hub, 0) + 1) + _counted_before(graph, hub)
    return HubCut(_balanced(weight, parts), hub)


# In-arcs of a vertex for each rank, above which its arcs are cut: a sum from each rank has to cost less than the values
# that these arcs read and no other arc at the owner does.
HUB_ARCS = 2


def _counted_before(graph: Graph, marked: Tensor) -> Tensor:
    """The number of arcs to marked vertices before the first arc of each row, and of all, int64 [n + 1]."""
    offset, neighbors = graph.row_offset(), graph.decoded().neighbors
    found, count = torch.zeros_like(offset), 0
    for begin in range(0, len(neighbors), CHUNK):
        running = marked[neighbors[begin : begin + CHUNK]].cumsum(0).add_(count)
        ends = torch.tensor([begin, begin + len(running)], device=offset.device)
        first, last = torch.searchsorted(offset, ends, right=True).tolist()
        found[first:last] = running[offset[first:last] - begin - 1]
        count = int(running[-1])
    return found


def _balanced(weight: Tensor, parts: int) -> Tensor:
    """Bounds of ranges of vertices of nearly equal weight, int64 [parts + 1], from the strictly ascending weights
    before each vertex, int64 [n + 1]: no range has more than the mean and the largest vertex."""
    share = equal_shares(int(weight[-1]), parts, weight.device)
    return torch.searchsorted(weight, round_to_rows(weight, share, int(weight[-1])))


def _checked(bounds: Tensor, parts: int, num_vertices: int) -> Tensor:
    if bounds.dtype != torch.int64 or bounds.shape != (parts + 1,):
        raise ArgumentError(f"bounds: expected int64 [{parts + 1}], got {bounds.dtype} {list(bounds.shape)}")
    if int(bounds[0]) or int(bounds[-1]) != num_vertices or bool((bounds.diff() < 0).any()):
        raise ArgumentError(f"bounds: they must ascend from 0 to {num_vertices}, the number of vertices")
    return bounds


def _positive(value: int, name: str) -> int:
    count = inputs.as_count(value, name)
    if count < 1:
        raise ArgumentError(f"{name}: expected 1 or more, got 0")
    return count
