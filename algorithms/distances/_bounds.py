"""Bounds of the eccentricities of all vertices, which each search narrows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.paths.bfs import BFS
from tgraph.algorithms.paths.sssp import SSSP


class Bounds:
    """lower <= eccentricity <= upper, [n] each, of a graph in which every vertex reaches every other."""

    def __init__(self, graph: tg.Graph, weighted: bool, options: dict[str, Any]):
        if not graph.num_vertices:
            raise tg.errors.ArgumentError("graph: has no vertices, and so no distances; give it one")
        self.graph, self.program, self.options = graph, SSSP if weighted else BFS, options
        self.degree = graph.out_degree
        floating = weighted and graph.weight_dtype is not None and graph.weight_dtype.is_floating_point
        dtype = torch.float64 if floating else torch.int64 if weighted else torch.int32
        self.lower = torch.zeros(graph.num_vertices, dtype=dtype, device=graph.device)
        self.upper = torch.full_like(self.lower, torch.inf if floating else torch.iinfo(dtype).max)
        self.slack = 1e-12 if graph.weight_dtype == torch.float64 else 1e-6 if floating else 0
        self.searches = 0

    def narrow(self, left: Callable[[Bounds], Tensor]) -> Bounds:
        """Search from one vertex after the other until none is `left`, a mask of those whose bounds are too wide for
        the question. Vertices that may lie farthest out and nearest to the middle take turns, those of many arcs
        first."""
        self.search(int(self.degree.argmax()))
        while bool((candidates := left(self)).any()):
            outer = self.searches % 2 == 1
            bound, worst = (self.upper, self.upper.min()) if outer else (-self.lower, -self.lower.max())
            best = torch.where(candidates, bound, worst).max()
            chosen = candidates & (bound == best)
            self.search(int(torch.where(chosen, self.degree, -1).argmax()))
        return self

    def search(self, vertex: int) -> None:
        """Take the distances from and to a vertex into account: by the triangle inequality, with e its eccentricity,
        max(distance to it, e - distance from it) <= eccentricity <= distance to it + e."""
        self.searches += 1
        away = self.distances(self.graph, vertex)
        back = self.distances(self.graph.transpose(), vertex) if self.graph.directed else away
        eccentricity = away.max()
        torch.maximum(self.lower, back, out=self.lower)
        torch.maximum(self.lower, eccentricity - away, out=self.lower)
        torch.minimum(self.upper, back + eccentricity, out=self.upper)
        if self.slack:  # of sums in another order
            closed = self.upper - self.lower <= self.slack * self.upper
            self.upper = torch.where(closed, self.lower, self.upper)
        self.lower[vertex] = self.upper[vertex] = eccentricity

    def distances(self, graph: tg.Graph, vertex: int) -> Tensor:
        """Those along the arcs of `graph`, the graph or its transpose, from a vertex that reaches every other."""
        distance = tg.run(self.program(vertex), graph, **self.options).values.to(self.lower.dtype)
        if bool(distance.min() < 0) or bool(distance.max() == torch.inf):
            far = int(((distance < 0) | (distance == torch.inf)).nonzero()[0])
            u, v = (vertex, far) if graph is self.graph else (far, vertex)
            ends = f"from vertex {self.graph.ids(u)!r} to {self.graph.ids(v)!r}"
            raise tg.errors.ArgumentError(
                f"graph: no path leads {ends}, so that distances have no bound; take a component with graph.subgraph"
            )
        return distance
