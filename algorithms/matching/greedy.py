"""Matchings by a greedy pass over the edges: each is taken whose ends are both free.

The pass is done by proposals: every vertex proposes to the neighbour of the first edge at which it is not beaten, and
who loses a place proposes again (Suitor: Manne and Halappanavar, IPDPS 2014). By descending weight its weight is at
least half of the largest; in random order it is maximal, with at least half of the most edges. O(m) expected work.
"""

from __future__ import annotations

import torch
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
    if tg.primitives.implicit.is_recorded(weights):  # within a transform of torch.func they are not plain tensors
        plain = arcs.weighted_by(None)
        find = lambda weights: (tg.primitives.matching.heavy(plain, weights),)  # noqa: E731
        return tg.primitives.implicit.without_gradient(find, weights)[0]
    return tg.primitives.matching.heavy(arcs, weights)


def matching_weight(graph: tg.Graph, mate: Tensor) -> Tensor:
    """Weight of a matching, [] in the dtype of the weights, or int64 without: the sum over its edges, of parallel edges
    the heaviest, the first of equals. Gradients by the weights are 1 for those edges.

    `mate`, int64 [n], is that of each vertex, -1 for none, as the matchings above return it. Raises ArgumentError for a
    directed graph, and for a mate to whom no edge leads.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 5, 1], directed=False)
    >>> tg.algorithms.matching_weight(graph, tg.algorithms.heavy_matching(graph))
    tensor(5)
    """
    tg.primitives.simple_graph.refuse_directed(graph)
    arcs = graph.decoded()
    if mate.shape != (arcs.num_vertices,):
        raise tg.errors.ArgumentError(
            f"mate: expected [{arcs.num_vertices}], one for each vertex, got {list(mate.shape)}"
        )
    weights = arcs.neighbors.new_ones(arcs.num_arcs, dtype=torch.int64) if arcs.weights is None else arcs.weights
    find = lambda weights, mate: (_matched(arcs, weights, mate),)  # noqa: E731
    return weights[tg.primitives.implicit.without_gradient(find, weights, mate)[0]].sum()


def _matched(arcs: tg.Graph, weights: Tensor, mate: Tensor) -> Tensor:
    """The arc of each edge of a matching, [k], the heaviest of parallel ones."""
    u, v = arcs.to_edge_index()
    places = ((mate[u] == v) & (u < v)).nonzero().flatten()
    places = places[weights[places].argsort(descending=True, stable=True)]
    places = places[u[places].argsort(stable=True)]
    first = torch.ones_like(places, dtype=torch.bool)
    first[1:] = u[places[1:]] != u[places[:-1]]
    places = places[first]
    alone = (mate >= 0).index_fill(0, torch.cat((u[places], v[places])), False)
    if bool(alone.any()):
        vertex = int(alone.nonzero()[0])
        raise tg.errors.ArgumentError(f"mate: {int(mate[vertex])} at position {vertex}; no edge joins the two")
    return places
