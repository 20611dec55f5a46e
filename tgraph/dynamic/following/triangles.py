"""Triangles that follow the changes of a store: the triangles at a changed pair are listed before and after the batch,
by intersection of rows."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.dynamic.following.declared import Triangles
from tgraph.dynamic.following.follower import LEAST, SHARE, Follower, FromNothing, with_room
from tgraph.dynamic.following.graph import FollowedGraph, neighbors_of
from tgraph.dynamic.runs import Run
from tgraph.dynamic.store import Store
from tgraph.dynamic.version import Version
from tgraph.kernels.operators.changes import columns_of, rows_of
from tgraph.primitives.cohesion.intersect import triangles


class FollowedTriangles(Follower):
    """The number of triangles at each vertex; the sum counts each triangle three times."""

    def __init__(self, declared: Triangles, store: Store):
        super().__init__(store)
        self._declared = declared
        self._count = torch.empty(0, dtype=torch.int64)

    def _compute(self, version: Version, graph: Graph) -> None:
        self._arcs = None
        self._count, self._n = triangles(graph, per_vertex=True).clone(), graph.num_vertices
        self._arcs = FollowedGraph(version, self._store.directed, weighted=False)

    def _advance(self, version: Version, runs: Sequence[Run]) -> int:
        arcs, n = self._arcs, version.num_vertices
        assert arcs is not None
        self._count, self._n = with_room(self._count, n), n
        changes = torch.cat([run.changes for run in runs])
        ends = torch.stack((rows_of(changes), columns_of(changes)))
        low, high = ends.amin(0), ends.amax(0)
        pairs = torch.unique((low << 32 | high)[low != high])
        limit = max(len(version.base.neighbors) // SHARE, LEAST)
        gone = _through(arcs, pairs, limit)
        arcs.advance(version, runs)
        come = _through(arcs, pairs, limit)
        one = torch.ones((), dtype=torch.int64)
        self._count.index_add_(0, gone, -one.expand(len(gone)))
        self._count.index_add_(0, come, one.expand(len(come)))
        return len(gone) + len(come)

    def _finished(self) -> Tensor | int:
        count = self._count[: self._n]
        return count if self._declared.per_vertex else int(count.sum()) // 3

    def _nbytes(self) -> int:
        return self._count.nbytes


def _through(arcs: FollowedGraph, pairs: Tensor, limit: int) -> Tensor:
    """The vertices, int64 [3 t], of the t triangles with an edge among the pairs, int64 [p] of low << 32 | high."""
    ends, place = torch.unique(torch.stack((pairs >> 32, pairs & 0xFFFFFFFF)), return_inverse=True)
    if arcs.degree_sum(ends) > limit:
        raise FromNothing("the rows of the changed arcs are long")
    row, neighbor = neighbors_of(arcs, ends)
    entry = row << 32 | neighbor  # ascending
    low, high = place
    edge = _contains(entry, low << 32 | ends[high])
    low, high = low[edge], high[edge]
    first = torch.searchsorted(row, torch.arange(len(ends) + 1))
    length = first.diff()
    swap = length[low] > length[high]
    low, high = torch.where(swap, high, low), torch.where(swap, low, high)
    pair = torch.repeat_interleave(torch.arange(len(low)), length[low])
    begin = torch.cumsum(length[low], 0) - length[low]
    third = neighbor[torch.arange(len(pair)) - begin[pair] + first[low][pair]]
    closed = _contains(entry, high[pair] << 32 | third)
    pair, third = pair[closed], third[closed]
    corners = torch.stack((ends[low[pair]], ends[high[pair]], third), 1).sort(1).values
    return torch.unique(corners, dim=0).view(-1) if len(corners) else corners.view(-1)


def _contains(ascending: Tensor, wanted: Tensor) -> Tensor:
    if not len(ascending):
        return torch.zeros_like(wanted, dtype=torch.bool)
    place = torch.searchsorted(ascending, wanted).clamp_(max=len(ascending) - 1)
    return ascending[place] == wanted
