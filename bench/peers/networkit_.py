"""networkit: C++ with OpenMP under Python. Only run() is timed, not the lists that results come as."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import networkit as nk
import numpy as np

from bench.arrays import TOLERANCE, Arrays, Description
from bench.peers import Kernel, Peer, integers


class System(Peer):
    name = "networkit"

    def __init__(self, folder: Path, arrays: Arrays, description: Description, threads: int):
        nk.setNumberOfThreads(threads)
        super().__init__(folder, arrays, description, threads)
        self.forms = ("weighted", "graph" if self.directed else "indexed")

    @cached_property
    def graph(self) -> Any:
        return self.build(weighted=False)

    @cached_property
    def weighted(self) -> Any:
        return self.build(weighted=True)

    def build(self, weighted: bool) -> Any:
        source, target, weight = self.arrays.edges()
        triplets = weight.astype(np.float64), (source.astype(np.uint64), target.astype(np.uint64))
        return nk.GraphFromCoo(triplets, n=self.n, weighted=weighted, directed=self.directed)

    @cached_property
    def indexed(self) -> Any:
        """The graph with numbered edges, which triangles are counted for."""
        self.graph.indexEdges()
        return self.graph

    def kernels(self) -> dict[str, Kernel]:
        found = {
            "bfs": Kernel(lambda s: nk.distance.BFS(self.graph, s, False).run(), distances),
            "sssp": Kernel(lambda s: nk.distance.Dijkstra(self.weighted, s, False).run(), distances),
            "wcc": Kernel(self.components, lambda run: np.asarray(run.getPartition().getVector())),
            "pagerank": Kernel(self.pagerank, scores, lambda run: run.numberOfIterations()),
        }
        if not self.directed:
            found["triangles"] = Kernel(
                lambda _: nk.sparsification.TriangleEdgeScore(self.indexed).run(),
                lambda run: np.asarray(round(sum(run.scores()) / 3)),
            )
            found["cores"] = Kernel(lambda _: nk.centrality.CoreDecomposition(self.graph).run(), scores)
            found["labels"] = Kernel(self.labels, lambda run: np.asarray(run.getPartition().getVector()))
        if self.description.pivot_seed is not None:
            found["betweenness"] = Kernel(self.betweenness, lambda run: scores(run) / (2 * self.n / 3))
        return found

    def components(self, _: None) -> Any:
        if self.directed:
            return nk.components.WeaklyConnectedComponents(self.graph).run()
        return nk.components.ParallelConnectedComponents(self.graph).run()

    def pagerank(self, _: None) -> Any:
        run = nk.centrality.PageRank(self.graph, damp=0.85, tol=TOLERANCE)
        run.norm = nk.centrality.Norm.L1_NORM
        return run.run()

    def betweenness(self, sources: tuple[int, ...]) -> Any:
        """Asked for three samples it draws four and scales by n / 3."""
        nk.setSeed(self.description.pivot_seed, False)
        return nk.centrality.EstimateBetweenness(self.graph, len(sources) - 1, False, self.threads > 1).run()

    def labels(self, _: None) -> Any:
        return nk.community.PLP(self.graph, maxIterations=10).run()


def distances(run: Any) -> np.ndarray:
    return integers(run.getDistances())


def scores(run: Any) -> np.ndarray:
    return np.asarray(run.scores())
