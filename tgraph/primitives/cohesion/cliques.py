"""Cliques of an undirected simple graph, found in a degeneracy order (Eppstein, Loeffler and Strash, JEA 2013).

Each function takes a graph without parallel edges and self-loops, as `simple_graph.simple` returns it. What follows a
vertex in a degeneracy order are at most d of its neighbours, with degeneracy d, so that every clique lies in one of n
graphs of d vertices.
"""

from __future__ import annotations

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system import devices
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.cohesion import cliques as operators
from tgraph.primitives.cohesion.k_core import onion_layers


def sizes(graph: Graph) -> Tensor:
    """How many maximal cliques of each size there are, int64 [n + 1]. O(d n 3^(d/3)).

    >>> tg.primitives.cliques.sizes(tg.generators.lollipop(4, 2))
    tensor([0, 0, 2, 0, 1, 0, 0])
    """
    return operators.clique_sizes(graph.offset, graph.neighbors, degeneracy_order(graph))


def maximal(graph: Graph) -> tuple[Tensor, Tensor]:
    """The maximal cliques: clique i is members[offset[i]:offset[i + 1]], ascending; (offset, members), int64.

    >>> tg.primitives.cliques.maximal(tg.generators.lollipop(3, 1))
    (tensor([0, 3, 5]), tensor([0, 1, 2, 2, 3]))
    """
    return operators.maximal_cliques(graph.offset, graph.neighbors, degeneracy_order(graph))


def largest(graph: Graph) -> Tensor:
    """The vertices of a largest clique, int64 [k] ascending.

    >>> tg.primitives.cliques.largest(tg.generators.lollipop(4, 2))
    tensor([0, 1, 2, 3])
    """
    return operators.largest_clique(graph.offset, graph.neighbors, degeneracy_order(graph))


def count(graph: Graph, k: int) -> int:
    """The number of cliques of `k` vertices. Raises ArgumentError where 64 bits do not hold it.

    >>> tg.primitives.cliques.count(tg.generators.complete(5), 3)
    10
    """
    if k < 1:
        raise ArgumentError(f"k: expected 1 or more vertices, got {k}")
    if k > graph.num_vertices:
        return 0
    found = operators.count_cliques(graph.offset, graph.neighbors, degeneracy_order(graph), k)
    if found < 0:
        raise ArgumentError(f"k: there are more than 2**63 cliques of {k} vertices, which no int64 holds")
    return found


def degeneracy_order(graph: Graph) -> Tensor:
    """The vertices by onion layer, the innermost first, int64 [n]: at most as many neighbours of a vertex come before
    it as the degeneracy of the graph.

    >>> tg.primitives.cliques.degeneracy_order(tg.generators.lollipop(3, 2))
    tensor([0, 1, 2, 3, 4])
    """
    return devices.sort(-onion_layers(graph)[1])[1]
