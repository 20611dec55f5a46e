"""TGraph, through the functions that a user calls."""

from __future__ import annotations

import inspect
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tgraph as tg
from bench.arrays import TOLERANCE, Arrays, Description
from bench.peers import Kernel

RANKS = {"tol": TOLERANCE, "dangling": "ignore"}
SWEEP = {"method": "gauss-seidel"}


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
        """What a graph finds out about itself once: GAPBS, too, gets the in-arcs with its file."""
        for made in (self.weighted, self.graph):
            made.out_degree, made.transpose, made.weight_range  # noqa: B018

    def kernels(self) -> dict[str, Kernel]:
        """Those that this version has."""
        algorithms, graph = tg.algorithms, self.graph
        wanted = {
            "bfs": ("bfs", lambda source: algorithms.bfs(graph, source), {}),
            "sssp": ("sssp", lambda source: algorithms.sssp(self.weighted, source), {}),
            "wcc": ("wcc", lambda _: algorithms.wcc(graph), {}),
            "pagerank": ("pagerank", lambda _: algorithms.pagerank(graph, **RANKS), {}),
            "pagerank-gs": ("pagerank", lambda _: algorithms.pagerank(graph, **RANKS, **SWEEP), SWEEP),
            "triangles": ("triangle_count", lambda _: algorithms.triangle_count(graph), {}),
            "betweenness": ("betweenness", self.betweenness, {}),
            "cores": ("core_number", lambda _: algorithms.core_number(graph), {}),
            "labels": ("cdlp", lambda _: algorithms.cdlp(graph), {}),
        }
        found = {}
        for kernel, (function, call, options) in wanted.items():
            if hasattr(algorithms, function) and takes(getattr(algorithms, function), options):
                counted = self.count_iterations(options) if function == "pagerank" else None
                found[kernel] = Kernel(call, self.both_ways if kernel == "betweenness" else np.asarray, counted)
        return found

    def betweenness(self, sources: tuple[int, ...]) -> torch.Tensor:
        return tg.algorithms.betweenness(self.graph, sources=list(sources), normalized=False)

    def both_ways(self, scores: torch.Tensor) -> np.ndarray:
        """A path of an undirected graph counts once; here it counts from both its ends."""
        return scores.numpy() * (1 if self.graph.directed else 2)

    def count_iterations(self, options: dict[str, Any]) -> Any:
        """A function that runs PageRank once more to count."""
        return lambda _: tg.run(tg.algorithms.PageRank(**RANKS, **options), self.graph).iterations

    def label_steps(self, iterations: int) -> Any:
        """The labels after so many rounds of propagation, for `verify.LabelSteps`."""
        return tg.algorithms.cdlp(self.graph, iterations=iterations).numpy()


def takes(function: Any, options: dict[str, Any]) -> bool:
    """Does the function name all these among its parameters?"""
    return options.keys() <= inspect.signature(function).parameters.keys()
