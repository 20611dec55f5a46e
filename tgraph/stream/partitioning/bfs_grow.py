"""Clustering of vertices into connected blocks of bounded size, by rounds of multi-source breadth-first search."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import whole
from tgraph.engine.run import run
from tgraph.model.program import Relaxation
from tgraph.primitives import union_find
from tgraph.stream.partitioning.capacity import select_within_capacity

# Each round assigns most of the remaining vertices; the remainder is thinner and thinner shells between the blocks.
ROUNDS = 4

# Sources for each block that the remaining vertices would fill: the regions of random sources differ in size, and the
# fewer of them exceed the cap, the fewer vertices are left to the next round.
SOURCES = 2


class Search(Relaxation):
    """Breadth-first search from k sources at once: level * k + the number of the nearest source, the first of equals,
    int64 [n]; the largest int64 for vertices that no source reaches."""

    sources: Tensor

    reduce, edge = "min", "add"

    def __init__(self, sources: Tensor):
        self.sources, self.weight = sources, len(sources)

    def init(self, graph: Graph) -> tuple[Tensor, Frontier]:
        values = torch.full((graph.num_vertices,), torch.iinfo(torch.int64).max, device=graph.device)
        values[self.sources] = torch.arange(len(self.sources), device=graph.device)
        return values, graph.select(self.sources)


def grow(graph: Graph, size: Tensor, cap: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """(block, level) of each vertex, int64 [n] both: a connected block, and the distance from its source.

    graph : undirected. size : int64 [n]. cap : the largest total size of a block, except for a single larger vertex and
    for the components that remain after all rounds. Blocks are numbered by their smallest vertex.
    """
    block = torch.full_like(size, -1)
    level = torch.zeros_like(size)
    rest = torch.arange(len(size), device=size.device)
    remaining_graph, found = graph, 0
    for _ in range(ROUNDS):
        remaining = size.index_select(0, rest)
        count = min(SOURCES * int(remaining.sum()) // cap + 1, len(rest))
        if not count:
            break
        sources = torch.randperm(len(rest), generator=random, device="cpu")[:count].to(size.device)
        nearest = run(Search(sources), remaining_graph).values
        reached = (nearest != torch.iinfo(torch.int64).max).nonzero().flatten()
        chosen = reached[within_cap(nearest[reached], remaining[reached], count, cap)]
        block[rest[chosen]] = nearest[chosen] % count + found
        level[rest[chosen]] = nearest[chosen] // count
        found += count
        outside = torch.ones(len(rest), dtype=torch.bool, device=size.device)
        outside[chosen] = False
        rest, remaining_graph = rest[outside], remaining_graph.subgraph(outside)
    block[rest] = components(remaining_graph) + found
    return numbered_by_first(block), level


def within_cap(nearest: Tensor, size: Tensor, count: int, cap: int) -> Tensor:
    """The positions of the vertices [k] that stay in their blocks: always the source, and by level and index as many
    others as fit the cap. They are connected, because vertices nearer to the source come first."""
    rest = (nearest >= count).nonzero().flatten()
    source = (nearest < count).nonzero().flatten()
    capacity = torch.full((count,), cap, device=size.device)
    capacity[nearest[source]] -= size[source]
    owner = nearest[rest] % count
    return torch.cat((source, rest[select_within_capacity(owner, -nearest[rest], size[rest], capacity)]))


def components(graph: Graph) -> Tensor:
    """The smallest vertex of each vertex's component, int64 [n]; the graph is undirected."""
    label = torch.arange(graph.num_vertices, device=graph.device)
    return union_find.join(whole(graph, graph.everything(), "push"), label)


def numbered_by_first(label: Tensor) -> Tensor:
    """The classes of `label` renumbered 0, 1, ... in the order of their first vertices, int64 [n]."""
    classes, number = label.unique(return_inverse=True)
    first = torch.full_like(classes, len(label)).scatter_reduce_(
        0, number, torch.arange(len(label), device=label.device), "amin"
    )
    rank = torch.empty_like(first)
    rank[first.argsort()] = torch.arange(len(first), device=label.device)
    return rank[number]
