"""The kernels that are compared: their arguments, the checks of their results, and the graphs that they are for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench import verify
from bench.arrays import Description

BLOCKS = 3  # of a kernel that has no source


@dataclass(frozen=True)
class Spec:
    """check : made from (arrays, folder), called as (system, argument, result), raises verify.WrongResult.
    arguments : one per block."""

    title: str
    check: type
    arguments: Callable[[Description], list[Any]]
    undirected_only: bool = False


def sources(description: Description) -> list[Any]:
    return description.sources


def pivots(description: Description) -> list[Any]:
    return [tuple(description.pivots)] * BLOCKS


def nothing(description: Description) -> list[Any]:
    return [None] * BLOCKS


KERNELS = {
    "bfs": Spec("BFS", verify.Depths, sources),
    "sssp": Spec("SSSP", verify.Distances, sources),
    "wcc": Spec("WCC", verify.Components, nothing),
    "pagerank": Spec("PageRank, Jacobi", verify.Ranks, nothing),
    "pagerank-gs": Spec("PageRank, Gauss-Seidel", verify.Ranks, nothing),
    "betweenness": Spec("betweenness, 4 sources", verify.Scores, pivots),
    "cores": Spec("core numbers", verify.Agreement, nothing, undirected_only=True),
    "labels": Spec("label propagation, 10 rounds", verify.LabelSteps, nothing),
    "triangles": Spec("triangles", verify.Agreement, nothing, undirected_only=True),
}
