"""Well-connected parts, the paper's WCP: rounds of multi-source breadth-first search find connected blocks
(`bfs_grow`), the blocks are put in an order by the arcs between them (`block_order`), and that is cut into parts of
equally many arcs where few arcs cross.

There are two additions to the paper. The given order of the graph is a candidate beside that of the blocks: the order
of a web crawl by URL is hard to beat. And vertices at the boundary of a part may move to another (`label_refine`).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_stretches, offset_of
from tgraph.stream.partitioning.bfs_grow import grow
from tgraph.stream.partitioning.block_order import contract, order_blocks
from tgraph.stream.partitioning.label_refine import refine
from tgraph.stream.partitioning.parts import Parts, both_ways, equal_shares, part_bounds, round_to_rows, unless_identity

# The share of the mean by which a part may exceed it, unless a hub makes it larger.
TOLERANCE = 0.05

# Blocks per part: more of them cut fewer arcs, and take longer to merge.
BLOCKS = 32


def well_connect(graph: Graph, parts: int, seed: int) -> Parts:
    """Partition a graph with arcs into `parts` parts. Each has at most 1 + TOLERANCE times the mean number of arcs if
    no row has more than TOLERANCE times the mean, and in any case at most twice the mean. Within a part the vertices
    keep their order, except for a hub whose row two parts share: it is the last vertex of the first of them.

    O(m log m) for searching, merging and each round of refinement.
    """
    plain, size = both_ways(graph), graph.out_degree
    given = torch.arange(graph.num_vertices, device=graph.device)
    candidates = [cut_order(plain, size, order, parts) for order in (given, order_by_blocks(plain, size, parts, seed))]
    cut = min(candidates, key=lambda cut: arcs_between(plain, cut.label))
    whole = size.masked_fill(cut.split, 0)
    shared = cut.bounds.diff() - part_bounds(cut.label, whole, parts).diff()
    limit = int((1 + TOLERANCE) * graph.num_arcs / parts) - shared
    label = refine(plain, cut.label, whole, limit.masked_fill_(cut.closed, -1), cut.split)
    order = cut.split.to(torch.int8).argsort(stable=True)
    order = order[label[order].argsort(stable=True)]
    bounds = part_bounds(label, whole, parts)
    bounds[1:] += shared.cumsum(0)
    return Parts(unless_identity(order), bounds)


@dataclass(frozen=True)
class Cut:
    """An order of the vertices, cut into p parts.

    label : the part of each vertex, that of its first arc, int64 [n]. bounds : int64 [p + 1]. split : bool [n],
    vertices whose rows contain a bound. closed : bool [p], parts that lie within a single row and can hold no other.
    """

    label: Tensor
    bounds: Tensor
    split: Tensor
    closed: Tensor


def order_by_blocks(plain: Graph, size: Tensor, parts: int, seed: int) -> Tensor:
    """The vertices block by block, int64 [n], within a block by distance from its source, so that if a block is cut, at
    least its first half is connected; isolated vertices come last."""
    linked = plain.out_degree > 0
    if not bool(linked.all()):
        order = order_by_blocks(plain.subgraph(linked), size[linked], parts, seed)
        return torch.cat((linked.nonzero().flatten()[order], (~linked).nonzero().flatten()))
    random = torch.Generator().manual_seed(seed)
    cap = max(int(size.sum()) // (parts * BLOCKS), 1)
    block, level = grow(plain, size, cap, random)
    blocks = contract(plain, block)
    arcs = torch.zeros(blocks.num_vertices, dtype=torch.int64, device=size.device).index_add_(0, block, size)
    position = order_blocks(blocks, arcs, 2 * cap, random)
    order = level.argsort(stable=True)
    return order[position[block[order]].argsort(stable=True)]


def cut_order(plain: Graph, size: Tensor, order: Tensor, parts: int) -> Cut:
    """Cut an order of the vertices where the fewest arcs cross, near the ends of equal shares; as `edge_balanced` does
    where no row ends near enough."""
    offset = offset_of(size[order])
    arcs = int(offset[-1])
    share = equal_shares(arcs, parts, size.device)
    bounds = round_to_rows(offset, share, -(-arcs // parts))
    share, reach = share[1:-1], int(TOLERANCE * arcs / parts / 2)
    first = torch.searchsorted(offset, share - reach)
    count = torch.searchsorted(offset, share + reach, right=True) - first
    best = least_in_each(crossing(plain, order), first, count)
    bounds[1:-1] = torch.where(count > 0, offset[best], bounds[1:-1])
    label = torch.empty_like(order)
    label[order] = torch.searchsorted(bounds[1:], offset[:-1], right=True).clamp_(max=parts - 1)
    return Cut(label, bounds, *rows_split(offset, bounds, order))


def rows_split(offset: Tensor, bounds: Tensor, order: Tensor) -> tuple[Tensor, Tensor]:
    """(split, closed) of a `Cut`."""
    end = torch.searchsorted(offset, bounds)
    inside = offset[end] != bounds
    split = torch.zeros(len(order), dtype=torch.bool, device=order.device)
    split[order[end[inside] - 1]] = True
    return split, inside[:-1] & inside[1:] & (end[:-1] == end[1:])


def crossing(plain: Graph, order: Tensor) -> Tensor:
    """The number of edges that cross each position i of an order, from the first i vertices to the others, int64
    [n + 1]."""
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order), device=order.device)
    src, dst = rank[sorting.expand_rows(plain.offset)], rank[plain.neighbors]
    begins, ends = (torch.bincount(end[src < dst], minlength=len(order)) for end in (src, dst))
    return torch.nn.functional.pad((begins - ends).cumsum(0), (1, 0))


def least_in_each(values: Tensor, first: Tensor, count: Tensor) -> Tensor:
    """The position of the least value of each range values[first:first + count], int64 [k], the first of equals; 0 for
    an empty range."""
    offset, place = gather_stretches(first, count)
    segment, values = sorting.expand_rows(offset), values[place]
    least = torch.zeros_like(first).scatter_reduce_(0, segment, values, "amin", include_self=False)
    place = place.masked_fill(values > least[segment], torch.iinfo(torch.int64).max)
    return torch.zeros_like(first).scatter_reduce_(0, segment, place, "amin", include_self=False)


def arcs_between(plain: Graph, label: Tensor) -> int:
    """The number of arcs between different parts."""
    return int((label[sorting.expand_rows(plain.offset)] != label[plain.neighbors]).sum())
