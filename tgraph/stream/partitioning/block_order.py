"""A locality-preserving order of blocks: merge well-connected blocks into a hierarchy of groups, and list its leaves.

Merging is the contraction of multilevel partitioning (Karypis, Kumar 1998), in parallel rounds: every group tosses a
coin, and one with tails joins its best neighbour if that has heads. The rating of a pair is w^2 / (s * t) for w arcs
between groups of sizes s and t (Holtgrewe, Sanders, Schulz 2010).
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.graph import Graph
from tgraph.core.system import devices
from tgraph.stream.partitioning.bfs_grow import numbered_by_first
from tgraph.stream.partitioning.capacity import best_of_each, select_within_capacity

# The cap also doubles after a round that leaves more than this share of the groups.
SLOW = 15 / 16


def order_blocks(graph: Graph, size: Tensor, cap: int, random: torch.Generator) -> Tensor:
    """The position of each block in the order, int64 [b].

    graph : the blocks, with the number of arcs between them as weights, in both directions. size : int64 [b]. cap : the
    initial limit of the size of a group; it doubles whenever no two groups fit together.
    """
    merges: list[Tensor] = []
    while graph.num_arcs:
        parent = merge(graph, size, cap, random)
        if parent is None:
            cap *= 2
            continue
        merges.append(parent)
        graph = contract(graph, parent)
        if graph.num_vertices > SLOW * len(parent):
            cap *= 2
        size = torch.zeros(graph.num_vertices, dtype=torch.int64, device=size.device).index_add_(0, parent, size)
    position = torch.arange(len(size), device=size.device)
    for parent in reversed(merges):
        position = position[parent].argsort(stable=True).argsort()
    return position


def merge(graph: Graph, size: Tensor, cap: int, random: torch.Generator) -> Tensor | None:
    """The merged group of each group, int64 [g], numbered by the first in each; None where no two fit the cap."""
    src, dst = sorting.expand_rows(graph.offset), graph.neighbors.to(torch.int64)
    fits = size[src] + size[dst] <= cap
    if not bool(fits.any()):
        return None
    src, dst, arcs = src[fits], dst[fits], cast(Tensor, graph.weights)[fits].to(devices.widest_float(size))
    at_least_one = size.clamp(min=1)
    rating = arcs.square() / at_least_one[src] / at_least_one[dst]
    best = best_of_each(src, rating)
    heads = (torch.rand(graph.num_vertices, generator=random, device="cpu") < 0.5).to(size.device)
    joins = best[~heads[src[best]] & heads[dst[best]]]
    src, dst = src[joins], dst[joins]
    taken = select_within_capacity(dst, rating[joins], size[src], cap - size)
    parent = torch.arange(graph.num_vertices, device=size.device)
    parent[src[taken]] = dst[taken]
    return numbered_by_first(parent)


def contract(graph: Graph, group: Tensor) -> Graph:
    """The quotient graph of the groups 0, 1, ... of the vertices, int64 [n]. The weight of an arc, int64, is the number
    of arcs from one group to the other, or the sum of their weights."""
    src, dst = group[sorting.expand_rows(graph.offset)], group[graph.neighbors]
    apart = src != dst
    weights = torch.ones_like(src) if graph.weights is None else graph.weights
    count = int(group.max()) + 1 if len(group) else 0
    return Graph.from_edges(src[apart], dst[apart], weights[apart], num_vertices=count, multi="sum")
