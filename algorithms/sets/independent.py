"""A maximal independent set: vertices of which no two are neighbours, to which none can be added.

Every vertex draws a number, and joins if none of its neighbours that are still open has a smaller one; neighbours of
who joined drop out (Luby, SIAM J. Computing 1986). With the same numbers in every round this is what a greedy pass over
the vertices in random order finds, after O(log^2 n) rounds (Blelloch, Fineman and Shun, SPAA 2012). O(m) work.
"""

from __future__ import annotations

from torch import Tensor

import tgraph as tg


def maximal_independent_set(graph: tg.Graph, *, seed: int = 0) -> Tensor:
    """Maximal independent set, vertices of which no two are neighbours: int64 [k] ascending; another `seed` gives
    another.

    Undirected graphs only; parallel edges and self-loops do not matter.

    >>> tg.algorithms.maximal_independent_set(tg.generators.cycle(6))
    tensor([1, 3, 5])
    """
    return tg.primitives.independent_set.independent_set(graph, seed).nonzero().squeeze(1)
