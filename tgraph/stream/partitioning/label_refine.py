"""Size-constrained label propagation: vertices move to the part where most of their neighbours are.

Synchronous rounds (Ugander, Backstrom, WSDM 2013; Meyerhenke, Sanders, Schulz 2014): the vertices of highest gain move
first, within the capacity of each part. Rounds alternate between moves to parts of larger and of smaller number, so
that two neighbours do not swap parts.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows
from tgraph.stream.partitioning.capacity import select_within_capacity

# The largest number of rounds, and the share of the cut that two of them have to gain for more to follow.
ROUNDS = 16
GAIN = 0.01

# Counters of (vertex, part) in memory at once.
COUNTERS = 2**22


def refine(graph: Graph, label: Tensor, size: Tensor, limit: Tensor, fixed: Tensor) -> Tensor:
    """The part of each vertex [n], 0..parts - 1, after the round with the smallest cut.

    graph : undirected. label : the given parts [n]. size : int64 [n], of the vertices. limit : int64 [p], which no part
    grows beyond, though it may be larger at the start. fixed : bool [n], vertices that do not move.
    """
    src, dst = sorting.expand_rows(graph.offset, graph.neighbors.dtype), graph.neighbors
    best, least, before = label, len(dst) + 1, len(dst) + 1
    for step in range(ROUNDS):
        crossing = label[src] != label[dst]
        cut = int(crossing.sum())
        if cut < least:
            best, least = label, cut
        if step % 2 == 0:
            if cut > (1 - GAIN) * before:
                break
            before = cut
        boundary = torch.zeros_like(fixed)
        boundary[src[crossing]] = True
        rows = (boundary & ~fixed).nonzero().flatten()
        target, gain = best_part(graph, rows, label, len(limit))
        upwards = target > label[rows] if step % 2 == 0 else target < label[rows]
        wanted = upwards & (gain > 0)
        rows, target, gain = rows[wanted], target[wanted], gain[wanted]
        load = torch.zeros_like(limit).index_add_(0, label, size)
        moved = select_within_capacity(target, gain, size[rows], limit - load)
        label = label.clone()
        label[rows[moved]] = target[moved]
    return best


def best_part(graph: Graph, rows: Tensor, label: Tensor, parts: int) -> tuple[Tensor, Tensor]:
    """(part, gain) for each of the vertices [k], int64 both: the other part with most of its neighbours, the first of
    equals, and how many more neighbours it has there than in its own part."""
    step = max(COUNTERS // parts, 1)
    chunks = [_best_part(graph, chunk, label, parts) for chunk in rows.split(step)]
    target, gain = zip(*chunks, strict=True)
    return torch.cat(target), torch.cat(gain)


def _best_part(graph: Graph, rows: Tensor, label: Tensor, parts: int) -> tuple[Tensor, Tensor]:
    offset, arcs = gather_rows(graph.offset, rows)
    counter = sorting.expand_rows(offset) * parts + label[graph.neighbors[arcs]]
    count = torch.bincount(counter, minlength=len(rows) * parts).view(len(rows), parts)
    here = label[rows, None]
    own = count.gather(1, here)
    most, target = count.scatter_(1, here, -1).max(1)
    return target, most - own.squeeze(1)
