"""Trusses: subgraphs in which every edge is in many triangles (Cohen, National Security Agency 2008).

The edges in the fewest triangles are removed one after the other, and with each its triangles; the truss number of an
edge is 2 more than the largest number of triangles at which one had been removed by then. O(m^1.5) (Wang and Cheng,
PVLDB 2012), all edges of a level at once (Kabir and Madduri, HPEC 2017).
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.structure._arcs import source


def truss_number(graph: tg.Graph) -> Tensor:
    """Truss number of every edge: for each arc, int64 [m], the largest k so that its edge is in a subgraph every edge
    of which is in k - 2 of the subgraph's triangles, 2 where there is none, and 0 for a self-loop.

    The numbers are in the order of the arcs of `graph.decoded()`. Undirected graphs only; parallel edges count once.

    >>> graph = tg.generators.lollipop(3, 1)
    >>> tg.algorithms.truss_number(graph)
    tensor([3, 3, 3, 3, 3, 3, 2, 2])
    >>> graph.to_edge_index()
    tensor([[0, 0, 1, 1, 2, 2, 2, 3],
            [1, 2, 0, 2, 0, 1, 3, 2]])
    """
    simple = tg.primitives.simple_graph.simple(graph)
    found, arcs = tg.primitives.k_truss.truss_numbers(simple), graph.decoded()
    if simple.num_arcs == arcs.num_arcs:
        return found
    key, wanted = _keys(simple), _keys(arcs)
    place = torch.searchsorted(key, wanted).clamp(max=max(len(key) - 1, 0))
    loop = wanted // max(graph.num_vertices, 1) == arcs.neighbors
    if not len(key):
        return torch.zeros_like(wanted)
    return found.index_select(0, place).masked_fill(loop, 0)


def k_truss(graph: tg.Graph, k: int) -> tg.Graph:
    """The largest subgraph every edge of which is in `k` - 2 triangles, as networkx.k_truss, without isolated
    vertices; the others keep their ids. Parallel edges become one, self-loops go.

    Raises ArgumentError for a directed graph.

    >>> graph = tg.generators.lollipop(4, 2)
    >>> tg.algorithms.k_truss(graph, 4).num_edges
    6
    """
    simple = tg.primitives.simple_graph.simple(graph)
    k = max(0, min(k, simple.num_vertices + 2))  # no truss number lies outside
    kept = tg.primitives.k_truss.truss_numbers(simple) >= k
    weights = None if simple.weights is None else simple.weights[kept]
    degree = torch.bincount(source(simple)[kept], minlength=simple.num_vertices)
    offset = torch.cat((degree.new_zeros(1), degree.cumsum(0)))
    held = tg.Graph(offset, simple.neighbors[kept], weights, vertices=graph.vertices, directed=False)
    return held.with_columns_of(simple, kept.nonzero()[:, 0]).subgraph(degree > 0)


def _keys(graph: tg.Graph) -> Tensor:
    """A number for the two ends of each arc, which ascends in stored order."""
    return source(graph) * graph.num_vertices + graph.neighbors
