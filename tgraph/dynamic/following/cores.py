"""Core numbers that follow the changes of a store.

Core numbers are the largest numbers such that each vertex of number k has k neighbours of number k or more (Lü, Zhou,
Zhang and Stanley, "The H-index of a network node and its relation to degree and coreness", 2016). After a batch the
numbers fall until that holds again, beginning at the ends of its arcs. Then the vertices of one level that are
connected to the end of a new arc, or to a risen vertex, rise by one as far as they support each other, repeatedly until
none does (Sarıyüce, Gedik, Jacques-Silva, Wu and Çatalyürek, "Streaming algorithms for k-core decomposition", 2013, for
many arcs at once). Any other vertex that could rise would be connected to a change, so that none is missed.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.dynamic.following.follower import LEAST, SHARE, Follower, FromNothing, with_room
from tgraph.dynamic.following.graph import FollowedGraph, neighbors_of
from tgraph.dynamic.runs import Run
from tgraph.dynamic.store import Store
from tgraph.dynamic.version import Version
from tgraph.primitives.cohesion.k_core import core_numbers


class FollowedCores(Follower):
    """The core number of each vertex; in a directed graph arcs in both directions count."""

    def __init__(self, store: Store):
        super().__init__(store)
        self._core = torch.empty(0, dtype=torch.int64)
        self._is_raised = torch.empty(0, dtype=torch.bool)  # False between updates
        self._work = self._limit = 0

    def _compute(self, version: Version, graph: Graph) -> None:
        self._arcs = None
        self._core, self._n = core_numbers(graph).clone(), graph.num_vertices
        self._is_raised = torch.zeros(self._n, dtype=torch.bool)
        self._arcs = FollowedGraph(version, self._store.directed, weighted=False)

    def _advance(self, version: Version, runs: Sequence[Run]) -> int:
        arcs, n = self._arcs, version.num_vertices
        assert arcs is not None
        self._core, self._is_raised = with_room(self._core, n), with_room(self._is_raised, n)
        self._n, self._work = n, 0
        self._limit = max(len(version.base.neighbors) // SHARE, LEAST)
        report = arcs.advance(version, runs)
        source, target = report.sources, report.targets
        gone = (report.after == 0) & (report.before > 0) & (source != target)
        come = (report.after > 0) & (report.before == 0) & (source != target)
        fallen = self._fall(torch.unique(torch.cat((source[gone], target[gone]))))
        source, target = source[come], target[come]
        lower, upper = self._core[source] <= self._core[target], self._core[target] <= self._core[source]
        self._rise(torch.unique(torch.cat((fallen, source[lower], target[upper]))))
        return self._work

    def _neighbors(self, vertices: Tensor) -> tuple[Tensor, Tensor]:
        assert self._arcs is not None
        self._work += self._arcs.degree_sum(vertices)
        if self._work > self._limit:
            raise FromNothing("many arcs were looked at")
        return neighbors_of(self._arcs, vertices, each_way=True)

    def _fall(self, vertices: Tensor) -> Tensor:
        """Lower core numbers until all are supported; returns the vertices whose numbers fell."""
        fallen = [vertices[:0]]
        while len(vertices):
            place, neighbor = self._neighbors(vertices)
            before = self._core[vertices]
            after = torch.minimum(before, _h_index(place, self._core[neighbor], len(vertices)))
            self._core[vertices] = after
            falls = after < before
            fallen.append(vertices[falls])
            mine = falls[place] & (self._core[neighbor] > after[place]) & (self._core[neighbor] <= before[place])
            vertices = torch.unique(torch.cat((neighbor[mine], vertices[falls])))
        return torch.unique(torch.cat(fallen))

    def _rise(self, vertices: Tensor) -> None:
        """Raise core numbers while vertices connected to these can rise."""
        while len(vertices):
            candidates, place, neighbor = self._candidates(vertices)
            level, near = self._core[candidates], self._core[neighbor]
            try:
                self._is_raised[candidates] = True
                while True:
                    support = (near > level[place]) | ((near == level[place]) & self._is_raised[neighbor])
                    count = torch.zeros_like(level).index_add_(0, place, support.to(torch.int64))
                    drops = self._is_raised[candidates] & (count <= level)
                    if not bool(drops.any()):
                        break
                    self._is_raised[candidates[drops]] = False
                vertices = candidates[self._is_raised[candidates]]
            finally:
                self._is_raised[candidates] = False
            self._core[vertices] += 1

    def _candidates(self, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Vertices of one level, connected to these, whose neighbours of that level or a higher one outnumber it; and
        their neighbours, as (place, neighbor)."""
        chosen, places, neighbors, total = [], [], [], 0
        found = vertices[:0]
        while len(vertices):
            place, neighbor = self._neighbors(vertices)
            level = self._core[vertices]
            count = torch.zeros_like(level).index_add_(0, place, (self._core[neighbor] >= level[place]).to(torch.int64))
            can = count > level
            number = torch.cumsum(can, 0) - 1 + total
            counted = can[place]
            place, neighbor = place[counted], neighbor[counted]
            chosen.append(vertices[can])
            places.append(number[place])
            neighbors.append(neighbor)
            total += len(chosen[-1])
            found = torch.cat((found, vertices))
            alike = self._core[neighbor] == level[place]
            vertices = torch.unique(neighbor[alike])
            vertices = vertices[~torch.isin(vertices, found)]
        empty = found[:0]
        return torch.cat((*chosen, empty)), torch.cat((*places, empty)), torch.cat((*neighbors, empty))

    def _finished(self) -> Tensor:
        return self._core[: self._n]

    def _nbytes(self) -> int:
        return self._core.nbytes + self._is_raised.nbytes


def _h_index(place: Tensor, values: Tensor, count: int) -> Tensor:
    """For each of `count` groups the largest h such that h of its values are at least h, int64 [count]."""
    order = torch.argsort(values, descending=True)
    order = order[torch.argsort(place[order], stable=True)]
    place, values = place[order], values[order]
    length = torch.bincount(place, minlength=count)
    rank = torch.arange(1, len(place) + 1) - (torch.cumsum(length, 0) - length)[place]
    found = torch.zeros(count, dtype=torch.int64)
    return found.scatter_reduce_(0, place, torch.minimum(values, rank), "amax")
