"""Bounds of the eccentricities of all vertices, which each search narrows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.centrality._distances import with_lengths
from tgraph.algorithms.paths.bfs import BFS
from tgraph.algorithms.paths.sssp import SSSP

TOGETHER = 512  # vertices that `level_counts` searches from at once, in the time of some searches,
ARCS_AS_A_SEARCH = 1 << 14  # one more for so many arcs,
LEVELS = 64  # unless it goes through many levels
MET = 4  # times the slack, up to which two bounds of one eccentricity have met,
TIES = 16  # and up to which two eccentricities are equal


class Bounds:
    """lower <= eccentricity <= upper of the vertices `open`, [k] each, those that the question is still about, in a
    graph in which every vertex reaches every other; `most` and `least` are the largest lower and the smallest upper
    bound of any vertex.

    Floating distances are sums, which round by the order in which they are added: bounds have met, and eccentricities
    are equal, where they differ by no more than that, the `slack`."""

    def __init__(self, graph: tg.Graph, weighted: bool, options: dict[str, Any]):
        if not graph.num_vertices:
            raise tg.errors.ArgumentError("graph: has no vertices, and so no distances; give it one")
        self.graph, self.program, self.options = graph, SSSP if weighted else BFS, options
        self.arcs = with_lengths(graph) if weighted and graph.weight_dtype is not None else graph
        self.open = graph.everything().ids
        floating = weighted and graph.weight_dtype is not None and graph.weight_dtype.is_floating_point
        dtype = torch.float64 if floating else torch.int64 if weighted else torch.int32
        self.lower = tg.primitives.values.full(graph, 0, dtype)
        self.upper = torch.full_like(self.lower, torch.inf if floating else torch.iinfo(dtype).max)
        self.total = torch.zeros_like(self.lower, dtype=torch.float64)  # of the distances to those searched from
        self.most, self.least = self.lower[0], self.upper[0]
        self.closed: list[tuple[Tensor, Tensor, Tensor]] = []
        self.slack = min(1e-12, 2**-49 * graph.num_vertices) if floating else 0.0
        self.searched: dict[int, Tensor] = {}  # the eccentricities of vertices searched from
        self.searches = 0

    def narrow(self, left: Callable[[Bounds], Tensor]) -> Bounds:
        """Search from one vertex after the other until none is `left`, a mask of those whose bounds are too wide for
        the question; a vertex that is not left once never is again. One that may lie farthest out and the one nearest
        to those searched from take turns. Where searches close few vertices, many are searched from together."""
        self.search(int(self.graph.out_degree.argmax()))
        before, slow, price = len(self.open), 0, 8 + self.graph.num_arcs // ARCS_AS_A_SEARCH
        while count := int((candidates := left(self)).count_nonzero()):
            if 2 * count <= len(self.open):
                candidates = self.close(~candidates)
            slow += (before - count) * price < TOGETHER
            before = count
            if slow >= price and self.program is BFS and int(self.most) <= LEVELS:
                self.count_levels(candidates.nonzero().flatten()[:TOGETHER])
            elif self.searches % 2:
                best = torch.where(candidates, self.upper, self.least).max()
                farthest = torch.where(candidates & (self.upper == best), self.total, -1)
                self.search(int(farthest.argmax()))
            else:
                self.search(int(torch.where(candidates, self.total, torch.inf).argmin()))
        return self

    def count_levels(self, places: Tensor) -> None:
        """Find the eccentricities of open vertices by searches that share their work."""
        sources, backend = self.open[places], self.options.get("backend", "auto")
        levels = tg.primitives.multi_source.level_counts(self.graph, sources, backend=backend)
        self.lower[places] = self.upper[places] = (levels > 0).sum(1, dtype=self.lower.dtype) - 1
        self.most = torch.maximum(self.most, self.lower.max())
        self.least = torch.minimum(self.least, self.upper.min())

    def close(self, done: Tensor) -> Tensor:
        """Put the vertices of a mask aside. Returns the mask of those left."""
        self.closed.append((self.open[done], self.lower[done], self.upper[done]))
        rest = (~done).nonzero().flatten()
        self.open, self.total, self.lower, self.upper = (
            values.index_select(0, rest) for values in (self.open, self.total, self.lower, self.upper)
        )
        return torch.ones_like(rest, dtype=torch.bool)

    def are_open(self) -> Tensor:
        """Which of the vertices `open` have bounds that have not met."""
        return self.upper > self.raised(self.lower, MET)

    def raised(self, values: Tensor, times: int) -> Tensor:
        """Values, and so many times the slack of them."""
        return values * (1 + times * self.slack) if self.slack else values

    def may_be_central(self) -> Tensor:
        """Which of the vertices `open` may have the least eccentricity."""
        return self.lower <= self.raised(self.least, TIES)

    def may_be_peripheral(self) -> Tensor:
        """Which of the vertices `open` may have the largest eccentricity."""
        return self.raised(self.upper, TIES) >= self.most

    def of_all(self) -> tuple[Tensor, Tensor]:
        """The bounds of all vertices, [n] each."""
        lower = tg.primitives.values.full(self.graph, 0, self.lower.dtype)
        upper = torch.empty_like(lower)
        for vertices, low, high in (*self.closed, (self.open, self.lower, self.upper)):
            lower[vertices], upper[vertices] = low, high
        return lower, upper

    def central(self) -> Tensor:
        """The vertices of least eccentricity, once the bounds of all that may be have met."""
        lower, upper = self.of_all()
        met = upper <= self.raised(lower, MET)
        return (met & (lower <= self.raised(self.least, TIES))).nonzero().flatten()

    def peripheral(self) -> Tensor:
        """The vertices of the largest eccentricity, once the bounds of all that may be have met."""
        lower, upper = self.of_all()
        met = upper <= self.raised(lower, MET)
        return (met & (self.raised(upper, TIES) >= self.most)).nonzero().flatten()

    def eccentricity_of(self, vertex: int) -> Tensor:
        """The largest distance from a vertex, as a search from there adds it up."""
        if vertex not in self.searched:
            self.searched[vertex] = self.distances(self.arcs, vertex)[1]
        return self.searched[vertex]

    def search(self, place: int) -> None:
        """Take the distances from and to an open vertex into account: by the triangle inequality, with e its
        eccentricity, max(distance to it, e - distance from it) <= eccentricity <= distance to it + e."""
        self.searches += 1
        vertex = int(self.open[place])
        away, eccentricity = self.distances(self.arcs, vertex)
        self.searched[vertex] = eccentricity
        back = self.distances(self.arcs.transpose(), vertex)[0] if self.graph.directed else away
        self.total += back
        self.lower = torch.maximum(self.lower, back)
        beyond = eccentricity - away
        self.lower = torch.maximum(self.lower, beyond - self.slack * eccentricity if self.slack else beyond)
        within = back + eccentricity
        if not within.is_floating_point():  # both are 0 or more: a sum that wraps is negative, and no bound
            within.masked_fill_(within < 0, torch.iinfo(within.dtype).max)
        self.upper = torch.minimum(self.upper, within)
        self.lower[place] = self.upper[place] = eccentricity
        self.most = torch.maximum(self.most, self.lower.max())
        self.least = torch.minimum(self.least, self.upper.min())

    def distances(self, graph: tg.Graph, vertex: int) -> tuple[Tensor, Tensor]:
        """Distances along the arcs of `graph`, `arcs` or its transpose, from a vertex that reaches every other to the
        open vertices, and the largest to any."""
        distance = tg.run(self.program(vertex), graph, **self.options).values
        smallest, largest = torch.aminmax(distance)
        if bool(smallest < 0) or bool(largest == torch.inf):
            far = int(((distance < 0) | (distance == torch.inf)).nonzero()[0])
            u, v = (vertex, far) if graph is self.arcs else (far, vertex)
            ends = f"from vertex {self.graph.ids(u)!r} to {self.graph.ids(v)!r}"
            raise tg.errors.ArgumentError(
                f"graph: no path leads {ends}, so that distances have no bound; take a component with graph.subgraph"
            )
        some = distance if len(self.open) == len(distance) else distance.index_select(0, self.open)
        return some.to(self.lower.dtype), largest.to(self.lower.dtype)
