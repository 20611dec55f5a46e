"""rustworkx: Rust under Python, with Python objects for edges and functions of Python for weights."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import rustworkx as rx
from rustworkx.visit import BFSVisitor

from bench.arrays import DAMPING, TOLERANCE
from bench.peers import Kernel, Peer, labels


class Depths(BFSVisitor):
    def __init__(self, source: int, num_vertices: int):
        self.depth = [-1] * num_vertices
        self.depth[source] = 0

    def tree_edge(self, edge: tuple[int, int, Any]) -> None:
        self.depth[edge[1]] = self.depth[edge[0]] + 1


class System(Peer):
    name = "rustworkx"
    forms = ("both_ways",)

    @cached_property
    def graph(self) -> Any:
        graph = rx.PyDiGraph(multigraph=False) if self.directed else rx.PyGraph(multigraph=False)
        graph.add_nodes_from(range(self.n))
        graph.add_edges_from(list(zip(*(column.tolist() for column in self.arrays.edges()), strict=True)))
        return graph

    @cached_property
    def both_ways(self) -> Any:
        return self.graph if self.directed else self.graph.to_directed()

    def kernels(self) -> dict[str, Kernel]:
        found = {
            "bfs": Kernel(self.bfs),
            "sssp": Kernel(self.sssp, self.distances),
            "wcc": Kernel(self.components, lambda found: labels(found, self.n)),
            "pagerank": Kernel(self.pagerank, self.by_vertex),
        }
        if not self.directed:
            found["cores"] = Kernel(lambda _: rx.core_number(self.graph), self.by_vertex)
        return found

    def bfs(self, source: int) -> list[int]:
        visitor = Depths(source, self.n)
        rx.bfs_search(self.graph, [source], visitor)
        return visitor.depth

    def sssp(self, source: int) -> tuple[int, Any]:
        return source, rx.dijkstra_shortest_path_lengths(self.graph, source, float)

    def distances(self, result: tuple[int, Any]) -> np.ndarray:
        source, found = result
        distance = np.full(self.n, -1, dtype=np.int64)
        distance[list(found.keys())] = list(found.values())
        distance[source] = 0
        return distance

    def components(self, _: None) -> list[set[int]]:
        if self.directed:
            return rx.weakly_connected_components(self.graph)
        return rx.connected_components(self.graph)

    def pagerank(self, _: None) -> Any:
        return rx.pagerank(self.both_ways, DAMPING, tol=TOLERANCE / self.n)  # it multiplies tol by n

    def by_vertex(self, values: Any) -> np.ndarray:
        return np.asarray([values[vertex] for vertex in range(self.n)])
