"""Dependencies of sources on vertices of a graph that is spread over ranks, whose data are the rows of columns [n, k]:
the two sums of `betweenness`, each level an aggregate over all arcs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.paths.bfs import BFS

COUNTABLE = 1e300  # beyond so many paths, the inverse of their number loses digits


def in_columns(graph: tg.Graph, sources: Tensor, endpoints: bool, **options: Any) -> Tensor:
    """How much each of k sources depends on each vertex in hops, float64 [n, k]. O(m k) for each level. Raises
    ArgumentError where there are more shortest paths than float64 can count."""
    depth = tg.run(BFS(sources), graph, **options).values
    arcs = tg.primitives.simple_graph.merged(graph)
    levels = range(1, int(depth.max()) + 1)
    paths = (depth == 0).to(torch.float64)
    for level in levels:
        paths += _stepped(arcs, paths, depth, level - 1, level)
    if float(paths.max()) > COUNTABLE:
        raise tg.errors.ArgumentError(
            "graph: it has more shortest paths than float64 can count; in one process, where it is not spread over "
            "ranks, betweenness adds logarithms"
        )
    share = paths.reciprocal().masked_fill_(paths == 0, 0)
    onward = share.clone()
    for level in reversed(levels):
        onward += _stepped(arcs.transpose(), onward, depth, level, level - 1)
    dependency = (onward - share) * paths
    place = (sources, torch.arange(len(sources), device=graph.device))
    dependency[place] = 0
    if endpoints:
        reached = depth > 0
        dependency += reached
        dependency[place] = reached.sum(0).to(torch.float64)
    return dependency


def _stepped(arcs: tg.Graph, values: Tensor, depth: Tensor, before: int, level: int) -> Tensor:
    """At the vertices of a level, the sum of the values of the in-neighbours in the level before; 0 at others."""
    sums = tg.aggregate(arcs, values.masked_fill(depth != before, 0), "sum")
    return sums.masked_fill_(depth != level, 0)
