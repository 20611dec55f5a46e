"""The minimum cut of a whole graph: the least weight of edges whose removal leaves it in two parts.

No source and target are given, and none are tried: vertices are scanned by how much joins them to those scanned before,
which tells the least cut between the last two (Stoer and Wagner, "A simple min-cut algorithm", J. ACM 1997), and all
edges that are in no better cut than the best one known are contracted after each scan (Nagamochi, Ono and Ibaraki,
1994). O(n m + n^2 log n) at worst, O(m log n) for each of the few scans that most graphs need.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

import tgraph as tg


def stoer_wagner(graph: tg.Graph, *, weighted: bool = True) -> tuple[Any, Tensor]:
    """Minimum cut of the whole graph: (value, side), the weight of the edges between the sides, an int unless weights
    are floating, a tensor [] where they require gradients, and a mask of the vertices of the one that is not larger,
    bool [n]; 0 and a part of the graph where it is not connected.

    For undirected graphs. `weighted`, by graph.weights; otherwise, and without weights, each edge counts 1. Parallel
    edges add, self-loops do not count. Raises ArgumentError for a directed graph, fewer than two vertices, a weight
    that is negative, not finite or rounded away in the sum of all, and integer weights whose sum might not fit int64.

    >>> tg.algorithms.stoer_wagner(tg.generators.lollipop(4, 1))
    (1, tensor([False, False, False, False,  True]))
    """
    return tg.primitives.flow.global_cut(graph, weighted=weighted)
