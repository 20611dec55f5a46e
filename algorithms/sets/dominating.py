"""A dominating set: vertices so that each is one of them, or is reached by an arc from one.

Greedily, the vertex that would dominate most others that are not dominated yet joins, which is at most ln(D) + 1 times
the least size, with D the largest degree + 1 (Johnson, JCSS 1974). Here all vertices join at once that come before all
others within two steps, which share nothing that they dominate: the result is that of one after the other. Rounds of
O(n + m).
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


def dominating_set(graph: tg.Graph) -> Tensor:
    """Dominating set, vertices with arcs to all others between them: int64 [k] ascending; every other vertex has an arc
    from one of them.

    Of equal vertices the smaller joins first.

    >>> tg.algorithms.dominating_set(tg.generators.star(5))
    tensor([0])
    """
    n, device = graph.num_vertices, graph.device
    reverse = graph.transpose()
    chosen = tg.primitives.values.full(graph, False, torch.bool)
    dominated = chosen.clone()
    last = n - 1 - torch.arange(n, device=device)
    arcs = graph.to_undirected().without_self_loops() if not graph.directed else None
    while not bool(dominated.all()):
        free = (~dominated).to(torch.int64)
        span = free + tg.aggregate(reverse if arcs is None else arcs, free, "sum")
        rank = torch.where(span > 0, span * n + last, -1)
        best = torch.maximum(rank, tg.aggregate(graph if arcs is None else arcs, rank, "max"))  # who would dominate it
        best = torch.where(dominated, -1, best)
        claim = torch.maximum(best, tg.aggregate(reverse if arcs is None else arcs, best, "max"))
        joins = (span > 0) & (claim <= rank)
        chosen |= joins
        joined = joins.to(torch.int64)
        dominated |= (joined + tg.aggregate(graph if arcs is None else arcs, joined, "sum")) > 0
    return chosen.nonzero().squeeze(1)
