"""Label propagation under a limit of size: vertices move to the part where most of their neighbours are.

Rounds of all vertices at once (Ugander, Backstrom, WSDM 2013; Meyerhenke, Sanders, Schulz 2014), those that gain most
first as long as there is room. A round moves only up, to parts of larger number, the next only down, so that two
neighbours do not change places.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import sorting
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows
from tgraph.stream.partition.capacity import select_within_capacity

# Rounds, of which the first few gain most; they end once two have gained less than this share of the cut.
ROUNDS = 16
GAIN = 0.01

# Counters of (vertex, part) that are held at once.
COUNTERS = 2**22


def refine(graph: Graph, label: Tensor, size: Tensor, limit: Tensor, fixed: Tensor) -> Tensor:
    """Better parts [n] than those given, 0..parts - 1: the best of all rounds.

    graph : undirected. size : int64 [n], what a vertex adds to its part. limit : int64 [p], beyond which no part grows,
    though it may be larger from the start. fixed : bool [n], vertices that stay.
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
        rim = torch.zeros_like(fixed)
        rim[src[crossing]] = True
        rows = (rim & ~fixed).nonzero().flatten()
        target, gain = best_part(graph, rows, label, len(limit))
        upwards = target > label[rows] if step % 2 == 0 else target < label[rows]
        wanted = upwards & (gain > 0)
        rows, target, gain = rows[wanted], target[wanted], gain[wanted]
        load = torch.zeros_like(limit).index_add_(0, label, size)
        room = select_within_capacity(target, gain, size[rows], limit - load)
        label = label.clone()
        label[rows[room]] = target[room]
    return best


def best_part(graph: Graph, rows: Tensor, label: Tensor, parts: int) -> tuple[Tensor, Tensor]:
    """For each of the vertices [k] the other part with most of its neighbours, the first of equals, and how many more
    neighbours are there than in its own, int64 [k] both."""
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
