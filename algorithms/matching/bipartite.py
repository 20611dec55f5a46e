"""Maximum matching and minimum vertex cover of a bipartite graph.

Phases search all shortest augmenting paths and take as many disjoint ones as they can: O(m sqrt(n)) (Hopcroft and Karp,
SIAM J. Computing 1973). What alternating paths from the vertices of the left that stay alone reach on the right, and
the rest of the left, is a cover of as many vertices as the matching has edges, and so a least one (Koenig 1931).
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


def maximum_bipartite_matching(graph: tg.Graph, left: Tensor | None = None) -> Tensor:
    """Maximum matching of a bipartite graph: the mate of each vertex, int64 [n], -1 for those that have none.

    `left`, bool [n], marks one of the sides; without it the sides are found, where the graph has two.

    Raises ArgumentError for a directed graph, one that is not bipartite, and for a `left` with an edge within a side.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [2, 3, 2], directed=False)
    >>> tg.algorithms.maximum_bipartite_matching(graph)
    tensor([3, 2, 1, 0])
    """
    return _solve(graph, left)[1]


def minimum_vertex_cover(graph: tg.Graph, left: Tensor | None = None) -> Tensor:
    """Minimum vertex cover of a bipartite graph: the fewest vertices of which every edge has one, int64 [k] ascending;
    `left` as above.

    >>> tg.algorithms.minimum_vertex_cover(tg.generators.complete_bipartite(2, 5))
    tensor([0, 1])
    """
    left, mate, reached = _solve(graph, left)
    return ((mate >= 0) & (left != reached)).nonzero().squeeze(1)


def _solve(graph: tg.Graph, left: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """(left, mate, reached)"""
    tg.primitives.simple_graph.refuse_directed(graph)
    left = _two_sides(graph) if left is None else torch.as_tensor(left, device=graph.device)
    return left, *tg.primitives.matching.maximum_bipartite(graph, left)


def _two_sides(graph: tg.Graph) -> Tensor:
    """Every second vertex by hops from the smallest one of its component, which is a side if the graph has two."""
    depth, conflict = tg.primitives.coloring.color_by_depth(graph)
    if conflict >= 0:
        raise tg.errors.ArgumentError("graph: it is not bipartite; some edges close a cycle of odd length")
    return depth % 2 == 0
