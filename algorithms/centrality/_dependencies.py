"""Dependencies of sources on vertices of a graph that is spread over ranks, whose data are the rows of columns [n, k]:
the two sums of `betweenness`, each level an aggregate over all arcs. Over weights the sums go on until they stay the
same: as many times as the longest of the shortest paths has arcs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.centrality._distances import refuse_rounded_away
from tgraph.algorithms.paths.bfs import BFS
from tgraph.algorithms.paths.sssp import SSSP

COUNTABLE = 1e300  # beyond so many paths, the inverse of their number loses digits


def in_columns(graph: tg.Graph, sources: Tensor, endpoints: bool, weighted: bool, **options: Any) -> Tensor:
    """How much each of k sources depends on each vertex, float64 [n, k], in hops or over weights. O(m k) for each sum.
    Raises ArgumentError where there are more shortest paths than float64 can count, and where a weight is lost in a
    distance."""
    sums = _over_weights if weighted else _in_hops
    paths, share, onward = sums(graph, sources, **options)
    dependency = (onward - share) * paths
    place = (sources, torch.arange(len(sources), device=graph.device))
    dependency[place] = 0
    if endpoints:
        reached = paths > 0
        reached[place] = False
        dependency += reached
        dependency[place] = reached.sum(0).to(torch.float64)
    return dependency


def _in_hops(graph: tg.Graph, sources: Tensor, **options: Any) -> tuple[Tensor, Tensor, Tensor]:
    """(the number of shortest paths to each vertex, its inverse, and the sum of these onwards)"""
    depth = tg.run(BFS(sources), graph, **options).values
    arcs = tg.primitives.simple_graph.merged(graph)
    levels = range(1, int(depth.max()) + 1)
    paths = (depth == 0).to(torch.float64)
    for level in levels:
        paths += _stepped(arcs, paths, depth, level - 1, level)
    share = _inverse(paths)
    onward = share.clone()
    for level in reversed(levels):
        onward += _stepped(arcs.transpose(), onward, depth, level, level - 1)
    return paths, share, onward


def _over_weights(graph: tg.Graph, sources: Tensor, **options: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The same over weights."""
    distance = tg.run(SSSP(sources), graph, **options).values
    if distance.is_floating_point():
        refuse_rounded_away(graph, distance)
    arcs = tg.primitives.simple_graph.merged(graph, "min")  # of parallel arcs the others are on no shortest path
    length = lambda weight: weight.to(distance.dtype)[:, None]  # noqa: E731
    leads = lambda u, v, w: u["x"].masked_fill(u["distance"] + length(w) != v["distance"], 0)  # noqa: E731
    led = lambda v, u, w: v["x"].masked_fill(u["distance"] + length(w) != v["distance"], 0)  # noqa: E731

    def settled(arcs: tg.Graph, start: Tensor, along: Callable[..., Tensor]) -> Tensor:
        before, x = start, start + tg.aggregate(arcs, {"distance": distance, "x": start}, edge=along)
        while bool((x != before).any()):
            before, x = x, start + tg.aggregate(arcs, {"distance": distance, "x": x}, edge=along)
        return x

    paths = settled(arcs, (distance == 0).to(torch.float64), leads)
    share = _inverse(paths)
    return paths, share, settled(arcs.transpose(), share, led)


def _inverse(paths: Tensor) -> Tensor:
    """One over the number of paths, 0 where there are none."""
    if float(paths.max()) > COUNTABLE:
        raise tg.errors.ArgumentError(
            "graph: it has more shortest paths than float64 can count; in one process, where it is not spread over "
            "ranks, betweenness without weights adds logarithms"
        )
    return paths.reciprocal().masked_fill_(paths == 0, 0)


def _stepped(arcs: tg.Graph, values: Tensor, depth: Tensor, before: int, level: int) -> Tensor:
    """At the vertices of a level, the sum of the values of the in-neighbours in the level before; 0 at others."""
    sums = tg.aggregate(arcs, values.masked_fill(depth != before, 0), "sum")
    return sums.masked_fill_(depth != level, 0)
