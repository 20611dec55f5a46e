"""networkx: pure Python."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np

from bench.arrays import DAMPING, TOLERANCE
from bench.peers import Kernel, Peer, labels


class System(Peer):
    name = "networkx"

    @cached_property
    def graph(self) -> Any:
        graph = nx.DiGraph() if self.directed else nx.Graph()
        graph.add_nodes_from(range(self.n))
        graph.add_weighted_edges_from(zip(*(column.tolist() for column in self.arrays.edges()), strict=True))
        return graph

    def kernels(self) -> dict[str, Kernel]:
        graph = self.graph
        found = {
            "bfs": Kernel(lambda s: nx.single_source_shortest_path_length(graph, s), self.by_vertex),
            "sssp": Kernel(lambda s: nx.single_source_dijkstra_path_length(graph, s), self.by_vertex),
            "wcc": Kernel(self.components, lambda found: labels(found, self.n)),
            "pagerank": Kernel(self.pagerank, self.by_vertex),
            "betweenness": Kernel(self.betweenness, self.by_vertex),
        }
        if not self.directed:
            found["triangles"] = Kernel(
                lambda _: nx.triangles(graph), lambda found: np.asarray(sum(found.values()) // 3)
            )
            found["cores"] = Kernel(lambda _: nx.core_number(graph), self.by_vertex)
        return found

    def by_vertex(self, values: dict[int, Any]) -> np.ndarray:
        return np.asarray([values.get(vertex, -1) for vertex in range(self.n)])

    def components(self, _: None) -> list[set[int]]:
        find = nx.weakly_connected_components if self.directed else nx.connected_components
        return list(find(self.graph))

    def pagerank(self, _: None) -> dict[int, float]:
        return nx.pagerank(self.graph, DAMPING, tol=TOLERANCE / self.n, weight=None)  # it multiplies tol by n

    def betweenness(self, sources: tuple[int, ...]) -> dict[int, float]:
        scores = nx.betweenness_centrality_subset(self.graph, list(sources), list(self.graph))
        return scores if self.directed else {vertex: 2 * score for vertex, score in scores.items()}
