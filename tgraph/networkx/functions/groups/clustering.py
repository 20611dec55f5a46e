"""Triangles and clustering, and cores."""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx as nx
import torch
from torch import Tensor

import tgraph as tg
from tgraph import algorithms
from tgraph.networkx.functions._arcs import row_entries, simple, structure
from tgraph.networkx.functions._nodes import answer, bunch, by_node, marked, python_sums
from tgraph.networkx.registry import implements, made_of
from tgraph.primitives.cohesion.triangle_edges import edge_triangles
from tgraph.primitives.cohesion.triangle_edges import squares as squares_at
from tgraph.primitives.row_similarity import common_neighbors

FAR = 1e-33  # between this and its inverse, products of three numbers lose no digits


def _require_simple(G: Any) -> None:
    if G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


def _around(G: Any, nodes: Any, hops: int = 1) -> tuple[tg.Graph, Tensor, Tensor]:
    """A graph with the triangles of some nodes, or with two hops the squares, and their vertices in it and in G: the
    graph induced by their neighbourhoods if that is small."""
    graph, chosen = simple(G), bunch(G, nodes)
    inside, vertices = marked(G, chosen), chosen
    for _ in range(hops):
        if nodes is None or int(graph.out_degree[vertices].sum()) * 8 > graph.num_arcs:
            return graph, chosen, chosen
        inside[graph.neighbors[row_entries(graph.offset, vertices)[1]].to(torch.int64)] = True
        vertices = inside.nonzero().flatten()
    return graph.subgraph(vertices), torch.searchsorted(vertices, chosen), chosen


def _triangles(G: Any, nodes: Any) -> tuple[Tensor, Tensor, Tensor]:
    """(the vertices of some nodes, the triangles and the distinct neighbours of each)"""
    graph, within, chosen = _around(G, nodes)
    return chosen, algorithms.triangle_count(graph, per_vertex=True)[within], simple(G).out_degree[chosen]


@implements(cost="superlinear", given={"nodes": "local"})
def triangles(G, nodes=None):
    if nodes is not None:
        _require_simple(G)
    chosen, count, _ = _triangles(G, nodes)
    return answer(G, nodes, chosen, python_sums(count))


def _clustering(G: Any, nodes: Any, weight: Any) -> tuple[Tensor, Tensor]:
    """The vertices of some nodes, and the clustering of each."""
    _require_simple(G)
    if not G.is_directed() and weight is None:
        chosen, count, degree = _triangles(G, nodes)
        return chosen, torch.where(count == 0, 0.0, 2.0 * count.double() / (degree * (degree - 1)).clamp(min=1))
    chosen, arcs = bunch(G, nodes), structure(G, weight)
    joined = arcs.without_self_loops().decoded()
    if joined.weights is None or not joined.num_arcs:
        return chosen, algorithms.clustering(joined)[chosen]
    largest = arcs.weight_range[1]  # networkx divides by it, be it the weight of a self-loop
    if not largest:
        raise NotImplementedError(f"{weight!r}: the largest is 0")
    roots = (joined.weights.double() / largest).abs() ** (1 / 3)
    if bool(((roots > 0) & ((roots < FAR) | (roots > 1 / FAR))).any()):
        raise NotImplementedError(f"{weight!r}: products of three, in units of the largest, that are 0 or inf")
    return chosen, algorithms.clustering(joined, weighted=True)[chosen] * (joined.weight_range[1] / largest)


@implements(cost="superlinear", given={"nodes": "local"})
def clustering(G, nodes=None, weight=None):
    chosen, found = _clustering(G, nodes, weight)
    return answer(G, nodes, chosen, python_sums(found))


@implements(cost="superlinear")
def transitivity(G):
    _require_simple(G)
    graph = simple(G)
    if not G.is_directed():
        return algorithms.transitivity(graph) or 0
    closed = int(common_neighbors(graph, graph.to_edge_index().T, counterparts=graph.transpose()).sum())
    degree = graph.out_degree
    return 0 if closed == 0 else closed / int((degree * (degree - 1)).sum())


@implements(cost="superlinear", given={"nodes": "local"})
def generalized_degree(G, nodes=None):
    _require_simple(G)
    graph, within, chosen = _around(G, nodes)
    triangle_counts, bounds = edge_triangles(graph).tolist(), graph.offset.tolist()
    found = [Counter(triangle_counts[bounds[v] : bounds[v + 1]]) for v in within.tolist()]
    return answer(G, nodes, chosen, found)


@implements(cost="superlinear", directed=False, given={"nodes": "local"})
def square_clustering(G, nodes=None):
    graph, within, chosen = _around(G, nodes, 2)
    degree, squares = graph.out_degree, squares_at(graph)
    around = tg.aggregate(graph, degree, "sum") - degree
    corners = 2 * algorithms.triangle_count(graph, per_vertex=True)
    possible = ((degree - 1) * around - corners - squares)[within]
    share = zip((squares[within].double() / possible).tolist(), (possible > 0).tolist(), strict=True)
    found = [value if some else 0 for value, some in share]
    return answer(G, nodes, chosen, found)


def refuse_loops(G: Any) -> None:
    """Raises NetworkXNotImplemented for self-loops."""
    if G.structure.num_self_loops:
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; Consider using "
            "G.remove_edges_from(nx.selfloop_edges(G))."
        )


@implements(cost="superlinear")
def core_number(G):
    refuse_loops(G)
    return by_node(G, algorithms.core_number(G.structure))


made_of("triangles", cost="superlinear")("fast_could_be_isomorphic")


made_of("clustering", cost="superlinear", given={"nodes": "local"})("average_clustering")
