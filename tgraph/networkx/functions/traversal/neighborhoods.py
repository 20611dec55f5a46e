"""Properties of neighbourhoods: degrees, efficiency, redundancy; and the cost of the absence of a node."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

import tgraph as tg
from tgraph.networkx.functions._arcs import degrees, simple, structure
from tgraph.networkx.functions._building import induced, listed_edges, rebuilt
from tgraph.networkx.functions._nodes import bunch, by_node, marked, names, number
from tgraph.networkx.functions._weights import comparable, refuse_rounding
from tgraph.networkx.functions.centrality.centrality import received
from tgraph.networkx.functions.groups.clustering import refuse_loops
from tgraph.networkx.functions.paths import distances
from tgraph.networkx.functions.paths.unweighted_paths import pairs_by_hops
from tgraph.networkx.functions.traversal.mixing import kinds_of_degrees, parallel_weights
from tgraph.networkx.registry import implements
from tgraph.primitives.cohesion.k_truss import truss_numbers


@implements(refuses=parallel_weights, gaps="multigraphs with weights", given={"nodes": "local"})
def average_neighbor_degree(G, source="out", target="out", nodes=None, weight=None):
    wrong = "{name} argument {kind} must be 'in', 'out' or 'in+out'"
    own_kind, kind = kinds_of_degrees(G, source, target, "out", wrong)
    if nodes is not None and nodes in G:
        raise TypeError("a degree is not iterable")  # as networkx does
    reached = degrees(G, None, kind).double()
    refuse_rounding(structure(G, weight), weight, 2 * G.number_of_edges())
    own = degrees(G, weight, own_kind).double()
    arcs = G.weighted(None, multi="first") if weight is None else structure(G, weight)
    total = torch.zeros(len(G), dtype=torch.float64)
    if not G.is_directed() or own_kind != "in":
        total += received(arcs.transpose(), reached)
    if G.is_directed() and own_kind != "out":
        total += received(arcs, reached)
    chosen = bunch(G, nodes)
    return by_node(G, torch.where(own == 0, 0.0, total / own)[chosen], chosen)


def _neighbors(graph: tg.Graph, vertex: int) -> Tensor:
    return graph.neighbors[int(graph.offset[vertex]) : int(graph.offset[vertex + 1])].to(torch.int64)


def _efficiency(graph: tg.Graph) -> float:
    """The mean of 1 / distance over all pairs."""
    n = graph.num_vertices
    if n < 2:
        return 0.0
    counts = pairs_by_hops(graph)[1:]
    return float((counts / torch.arange(1, len(counts) + 1).double()).sum()) / (n * (n - 1))


@implements(cost="superlinear")
def local_efficiency(G):
    graph = simple(G)
    return sum(_efficiency(graph.subgraph(_neighbors(G.structure, v).unique())) for v in range(len(G))) / len(G)


@implements(cost="superlinear")
def closeness_vitality(G, node=None, weight=None, wiener_index=None):
    whole = distances.wiener_index(G, weight=weight) if wiener_index is None else wiener_index

    def without(one: Any) -> float:
        return whole - distances.wiener_index(induced(G, set(G) - {one}), weight=weight)

    return {each: without(each) for each in G} if node is None else without(node)


@implements(cost="superlinear")
def node_redundancy(G, nodes=None):
    import scipy.sparse

    chosen = list(G if nodes is None else nodes)
    vertices = [number(G, node) for node in chosen]
    graph = G.weighted(None, multi="first")
    if any(int(graph.offset[v + 1] - graph.offset[v]) < 2 for v in vertices):
        raise nx.NetworkXError("Cannot compute redundancy coefficient for a node that has fewer than two neighbors.")
    ones = np.ones(graph.num_arcs, dtype=np.int64)
    matrix = scipy.sparse.csr_array((ones, graph.neighbors.numpy(), graph.offset.numpy()), shape=(len(G), len(G)))
    found = {}
    for node, vertex in zip(chosen, vertices, strict=True):
        around = _neighbors(graph, vertex).numpy()
        rows = matrix[around]
        shared = (rows @ rows.T).toarray()
        through = rows[:, [vertex]].toarray()
        overlap = np.triu(shared - through @ through.T > 0, 1).sum()
        count = len(around)
        found[node] = float(2 * overlap / (count * (count - 1)))
    return found


@implements(cost="superlinear")
def k_truss(G, k):
    refuse_loops(G)
    kept = truss_numbers(G.structure) >= comparable(k)
    source, target, listed = listed_edges(G)
    inside = kept[listed]
    ends = source[inside], target[inside]
    left = marked(G, torch.cat(ends))
    number_of = left.cumsum(0) - 1
    vertices = left.nonzero().flatten()
    return rebuilt(G, names(G, vertices), number_of[ends[0]], number_of[ends[1]], listed[inside], vertices)
