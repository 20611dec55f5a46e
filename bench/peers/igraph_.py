"""igraph: C under Python, on one thread. What it returns are Python lists, whose making is part of a call."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import igraph as ig
import numpy as np

from bench.peers import Kernel, Peer, integers


class System(Peer):
    name = "igraph"
    forms = ("weighted",)

    @cached_property
    def graph(self) -> Any:
        source, target, _ = self.arrays.edges()
        edges = zip(source.tolist(), target.tolist(), strict=True)
        return ig.Graph(n=self.n, edges=edges, directed=self.directed)

    @cached_property
    def weighted(self) -> Any:
        """The same graph, whose edges have weights as an attribute."""
        self.graph.es["weight"] = self.arrays.edges()[2].tolist()
        return self.graph

    def kernels(self) -> dict[str, Kernel]:
        graph = self.graph
        found = {
            "bfs": Kernel(lambda s: graph.bfs(s, mode="out"), self.depths),
            "sssp": Kernel(lambda s: graph.distances(s, weights="weight", mode="out"), lambda rows: integers(rows[0])),
            "wcc": Kernel(self.components),
            "pagerank": Kernel(lambda _: graph.pagerank(damping=0.85)),
            "betweenness": Kernel(self.betweenness, lambda scores: np.asarray(scores) * (1 if self.directed else 2)),
        }
        if not self.directed:
            found["triangles"] = Kernel(lambda _: graph.transitivity_undirected(), self.triangles)
            found["cores"] = Kernel(lambda _: graph.coreness())
        return found

    def depths(self, search: tuple[list[int], list[int], list[int]]) -> np.ndarray:
        """From the vertices in the order met, and where in it each level starts."""
        order, starts, _ = search
        depth = np.full(self.n, -1, dtype=np.int64)
        depth[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return depth

    def components(self, _: None) -> list[int]:
        getattr(self.graph, "__invalidate_cache")()  # it remembers that a graph is connected
        return self.graph.connected_components(mode="weak").membership

    def betweenness(self, sources: tuple[int, ...]) -> list[float]:
        return self.graph.betweenness(sources=list(sources), directed=self.directed)

    def triangles(self, transitivity: float) -> np.ndarray:
        """It gives the fraction of paths of two edges that a third closes, three in every triangle."""
        degree = self.arrays.degree
        paths = int((degree * (degree - 1) // 2).sum())
        return np.asarray(round(transitivity * paths / 3) if paths else 0)
