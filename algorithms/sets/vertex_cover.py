"""A vertex cover: vertices of which every edge has one.

The ends of a maximal matching are one, of at most twice the least size: every cover has an end of each of its edges
(Gavril; Garey and Johnson 1979). O(m). For bipartite graphs `minimum_vertex_cover` finds the least.
"""

from __future__ import annotations

from torch import Tensor

import tgraph as tg
from tgraph.algorithms.structure._arcs import source


def vertex_cover(graph: tg.Graph, *, seed: int = 0) -> Tensor:
    """Vertex cover of at most twice the minimum size: vertices of which every edge has one, int64 [k] ascending, a
    self-loop's among them; another `seed` gives another.

    Undirected graphs only.

    >>> tg.algorithms.vertex_cover(tg.generators.star(5))
    tensor([0, 4])
    """
    covered = tg.primitives.matching.maximal(graph, seed) >= 0
    if graph.num_self_loops:
        arcs = graph.decoded()
        first = source(arcs)
        covered[first[first == arcs.neighbors]] = True
    return covered.nonzero().squeeze(1)
