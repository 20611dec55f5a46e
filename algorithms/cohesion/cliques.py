"""Cliques: sets of vertices that are all joined with each other.

The vertices are taken in a degeneracy order, and each with its neighbours that follow in it, of which there are at most
as many as the degeneracy d. Maximal cliques are found by the search of Bron and Kerbosch with a pivot, in
O(d n 3^(d/3)) (Eppstein, Loeffler and Strash, JEA 2013); the largest by branch and bound with
colours (San Segundo et al. 2011); those of k vertices are counted without listing each (Jain and Seshadhri, WSDM 2020).


Undirected graphs only; parallel edges count once, self-loops not at all.
"""

from __future__ import annotations

from torch import Tensor

import tgraph as tg


def maximal_cliques(graph: tg.Graph) -> tuple[Tensor, Tensor]:
    """Maximal cliques, to which no vertex can be added: clique i is members[offset[i]:offset[i + 1]], ascending.

    Returns (offset int64 [c + 1], members int64); a vertex without neighbours is a clique. There may be exponentially
    many: `maximal_clique_sizes` counts them without memory for each.

    >>> offset, members = tg.algorithms.maximal_cliques(tg.generators.lollipop(3, 1))
    >>> [clique.tolist() for clique in members.tensor_split(offset[1:-1])]
    [[0, 1, 2], [2, 3]]
    """
    return tg.primitives.cliques.maximal(tg.primitives.simple_graph.simple(graph))


def maximal_clique_sizes(graph: tg.Graph) -> Tensor:
    """How many maximal cliques of 0, 1, 2, ... vertices there are, int64 [largest + 1].

    >>> tg.algorithms.maximal_clique_sizes(tg.generators.lollipop(4, 2))
    tensor([0, 0, 2, 0, 1])
    """
    found = tg.primitives.cliques.sizes(tg.primitives.simple_graph.simple(graph))
    some = found.nonzero()
    return found[: int(some.max()) + 1 if len(some) else 1]


def max_clique(graph: tg.Graph) -> Tensor:
    """Largest clique: its vertices, int64 [k] ascending.

    >>> tg.algorithms.max_clique(tg.generators.lollipop(4, 2))
    tensor([0, 1, 2, 3])
    """
    return tg.primitives.cliques.largest(tg.primitives.simple_graph.simple(graph))


def k_clique_count(graph: tg.Graph, k: int) -> int:
    """The number of cliques of `k` vertices: vertices for 1, edges for 2, triangles for 3.

    Raises ArgumentError for a `k` below 1, and for more cliques than an int64 holds.

    >>> graph = tg.generators.complete(5)
    >>> [tg.algorithms.k_clique_count(graph, k) for k in (1, 2, 3, 4, 5)]
    [5, 10, 10, 5, 1]
    """
    return tg.primitives.cliques.count(tg.primitives.simple_graph.simple(graph), k)
