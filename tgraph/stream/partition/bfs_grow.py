"""Blocks: connected sets of vertices of bounded size, by rounds of breadth-first search from many sources at once."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import whole
from tgraph.engine.run import run
from tgraph.model.program import Relaxation
from tgraph.primitives import union_find
from tgraph.stream.partition.capacity import select_within_capacity

# Each round leaves but a part of the vertices without a block, thinner and thinner shells between those that are.
ROUNDS = 4

# Sources per block that the remaining vertices would fill: the regions of random sources differ in size, and the fewer
# grow beyond the cap, the less is given back.
SOURCES = 2


class Search(Relaxation):
    """Breadth-first search from k sources at once: level * k + the number of the source, int64 [n], of the nearest
    source, the first of equals; the largest int64 where none reaches."""

    reduce, edge = "min", "add"

    def __init__(self, sources: Tensor):
        self.sources, self.weight = sources, len(sources)

    def init(self, graph: Graph) -> tuple[Tensor, Frontier]:
        values = torch.full((graph.num_vertices,), torch.iinfo(torch.int64).max, device=graph.device)
        values[self.sources] = torch.arange(len(self.sources), device=graph.device)
        return values, graph.select(self.sources)


def grow(graph: Graph, size: Tensor, cap: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """(block, level) of each vertex, int64 [n] both: a connected block, and how far into it the vertex lies.

    graph : undirected. size : int64 [n]. cap : what the sizes in a block add up to at most, but for a larger vertex
    alone and for components of what all rounds leave over. Blocks are numbered by their smallest vertex.
    """
    block = torch.full_like(size, -1)
    level = torch.zeros_like(size)
    rest = torch.arange(len(size), device=size.device)
    left, found = graph, 0
    for _ in range(ROUNDS):
        remaining = size.index_select(0, rest)
        count = min(SOURCES * int(remaining.sum()) // cap + 1, len(rest))
        if not count:
            break
        sources = torch.randperm(len(rest), generator=random)[:count].to(size.device)
        nearest = run(Search(sources), left).values
        reached = (nearest != torch.iinfo(torch.int64).max).nonzero().flatten()
        chosen = reached[within_cap(nearest[reached], remaining[reached], count, cap)]
        block[rest[chosen]] = nearest[chosen] % count + found
        level[rest[chosen]] = nearest[chosen] // count
        found += count
        outside = torch.ones(len(rest), dtype=torch.bool, device=size.device)
        outside[chosen] = False
        rest, left = rest[outside], left.subgraph(outside)
    block[rest] = components(left) + found
    return numbered_by_first(block), level


def within_cap(nearest: Tensor, size: Tensor, count: int, cap: int) -> Tensor:
    """Which of the vertices [k] their blocks keep: by level and index as many as fit the cap, and the source anyway.
    They are connected: what lies nearer to the source comes first."""
    rest = (nearest >= count).nonzero().flatten()
    source = (nearest < count).nonzero().flatten()
    room = torch.full((count,), cap, device=size.device)
    room[nearest[source]] -= size[source]
    owner = nearest[rest] % count
    return torch.cat((source, rest[select_within_capacity(owner, -nearest[rest], size[rest], room)]))


def components(graph: Graph) -> Tensor:
    """The smallest vertex of each vertex's component, int64 [n]; the graph is undirected."""
    label = torch.arange(graph.num_vertices, device=graph.device)
    return union_find.join(whole(graph, graph.everything(), "push"), label)


def numbered_by_first(label: Tensor) -> Tensor:
    """The same classes as 0, 1, ... by the first vertex of each, int64 [n]."""
    classes, number = label.unique(return_inverse=True)
    first = torch.full_like(classes, len(label)).scatter_reduce_(
        0, number, torch.arange(len(label), device=label.device), "amin"
    )
    rank = torch.empty_like(first)
    rank[first.argsort()] = torch.arange(len(first), device=label.device)
    return rank[number]
