"""scipy.sparse.csgraph, and PageRank as matrix times vector, on one thread."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csgraph, csr_array

from bench.arrays import DAMPING, TOLERANCE
from bench.peers import Kernel, Peer, depths_from_tree, integers


class System(Peer):
    name = "scipy"
    forms = ("graph", "weighted", "received")

    @cached_property
    def graph(self) -> csr_array:
        return self.build(np.ones(self.arrays.num_arcs), self.arrays.neighbors, self.arrays.offset)

    @cached_property
    def weighted(self) -> csr_array:
        return self.build(self.arrays.weights.astype(np.float64), self.arrays.neighbors, self.arrays.offset)

    @cached_property
    def received(self) -> csr_array:
        offset, neighbors, _ = self.arrays.reverse()
        return self.build(np.ones(self.arrays.num_arcs, np.float32), neighbors, offset)

    def build(self, values: np.ndarray, neighbors: np.ndarray, offset: np.ndarray) -> csr_array:
        return csr_array((values, neighbors, offset.astype(np.int32)), shape=(self.n, self.n))

    def kernels(self) -> dict[str, Kernel]:
        return {
            "bfs": Kernel(
                lambda s: csgraph.breadth_first_order(self.graph, s), lambda tree: depths_from_tree(*tree, self.n)
            ),
            "sssp": Kernel(lambda s: csgraph.dijkstra(self.weighted, indices=s), integers),
            "wcc": Kernel(lambda _: csgraph.connected_components(self.graph)[1]),
            "pagerank": Kernel(self.pagerank, lambda result: result[0], lambda result: result[1]),
        }

    def pagerank(self, _: None) -> tuple[np.ndarray, int]:
        jump, iterations = np.float32((1 - DAMPING) / self.n), 0
        rank = np.full(self.n, 1 / self.n, dtype=np.float32)
        share = np.float32(DAMPING) / np.maximum(self.arrays.degree, 1).astype(np.float32)
        while True:
            following = self.received @ (rank * share) + jump
            iterations += 1
            if np.abs(following - rank).sum(dtype=np.float64) <= TOLERANCE:
                return following, iterations
            rank = following
