"""Matchings by a greedy pass over the edges: each is taken whose ends are both free.

The pass is done by proposals: every vertex proposes to the neighbour of the first edge at which it is not beaten, and
who loses a place proposes again (Suitor: Manne and Halappanavar, IPDPS 2014). By descending weight its weight is at
least half of the largest; in random order it is maximal, with at least half of the most edges. O(m) expected work.
"""

from __future__ import annotations

from torch import Tensor

import tgraph as tg


def maximal_matching(graph: tg.Graph, *, seed: int = 0) -> Tensor:
    """Maximal matching, edges no two of which share a vertex: the mate of each vertex, int64 [n], -1 for those that
    have none; no edge can be added, and another `seed` gives another.

    Undirected graphs only; parallel edges and self-loops do not matter.

    >>> mate = tg.algorithms.maximal_matching(tg.generators.cycle(5))
    >>> int((mate >= 0).sum())
    4
    """
    return tg.primitives.matching.maximal(graph, seed)


def heavy_matching(graph: tg.Graph) -> Tensor:
    """Matching of at least half of the largest weight: the mate of each vertex, int64 [n], -1 for those that have none.
    Edges of weight 0 or less are left out; of equal weights the edge of the smaller ends comes first.

    Undirected graphs only; without weights each edge has 1. Raises ArgumentError for a weight that is NaN.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 5, 1], directed=False)
    >>> tg.algorithms.heavy_matching(graph)
    tensor([-1,  2,  1, -1])
    """
    tg.primitives.simple_graph.refuse_directed(graph)
    arcs = graph.decoded()
    weights = arcs.weights
    if weights is None:
        weights = arcs.neighbors.new_ones(arcs.num_arcs)
    return tg.primitives.matching.heavy(arcs, weights)
