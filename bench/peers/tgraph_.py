"""TGraph, through the functions that a user calls."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tgraph as tg
from bench.arrays import TOLERANCE, Arrays, Description
from bench.peers import Kernel

RANKS = {"tol": TOLERANCE, "dangling": "ignore"}


def plain(graph: tg.Graph) -> tg.Graph:
    """The same graph without weights; it shares the memory."""
    return tg.Graph(graph.offset, graph.neighbors, directed=graph.directed)


class System:
    name = "tgraph"

    def __init__(self, folder: Path, arrays: Arrays | None, description: Description, threads: int):
        torch.set_num_threads(threads)
        self.folder = folder

    @cached_property
    def weighted(self) -> tg.Graph:
        return tg.read(self.folder / "graph.tg")

    @cached_property
    def graph(self) -> tg.Graph:
        return plain(self.weighted)

    def prepare(self) -> None:
        """The properties that a graph computes once: GAPBS, too, gets the in-arcs with its file."""
        for made in (self.weighted, self.graph):
            made.out_degree, made.transpose, made.weight_range  # noqa: B018

    def kernels(self) -> dict[str, Kernel]:
        algorithms, graph = tg.algorithms, self.graph
        return {
            "bfs": Kernel(lambda source: algorithms.bfs(graph, source)),
            "sssp": Kernel(lambda source: algorithms.sssp(self.weighted, source)),
            "wcc": Kernel(lambda _: algorithms.wcc(graph)),
            "pagerank": self.pagerank({}),
            "pagerank-gs": self.pagerank({"method": "gauss-seidel"}),
            "triangles": Kernel(lambda _: algorithms.triangle_count(graph)),
            "betweenness": Kernel(self.betweenness, self.both_ways),
            "cores": Kernel(lambda _: algorithms.core_number(graph)),
            "labels": Kernel(lambda _: algorithms.cdlp(graph)),
        }

    def pagerank(self, options: dict[str, Any]) -> Kernel:
        """PageRank, which is run once more to count its iterations."""
        program = tg.algorithms.PageRank(**RANKS, **options)
        return Kernel(
            lambda _: tg.algorithms.pagerank(self.graph, **RANKS, **options),
            iterations=lambda _: tg.run(program, self.graph).iterations,
        )

    def betweenness(self, sources: tuple[int, ...]) -> torch.Tensor:
        return tg.algorithms.betweenness(self.graph, sources=list(sources), normalized=False)

    def both_ways(self, scores: torch.Tensor) -> np.ndarray:
        """A path of an undirected graph counts once; here it counts from both its ends."""
        return scores.numpy() * (1 if self.graph.directed else 2)

    def label_steps(self, iterations: int) -> Any:
        """The labels after so many rounds of propagation, for `verify.LabelSteps`."""
        return tg.algorithms.cdlp(self.graph, iterations=iterations).numpy()
