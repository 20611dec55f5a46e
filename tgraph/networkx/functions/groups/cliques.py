"""Cliques and triangles, the rich club, the census of triads."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import torch
from torch import Tensor

import tgraph as tg
from tgraph import algorithms
from tgraph.networkx.functions._arcs import simple, structure
from tgraph.networkx.functions._nodes import by_node, names, slices
from tgraph.networkx.functions.groups.link_prediction import common
from tgraph.networkx.registry import implements

WEDGES_AT_ONCE = 1 << 22


@implements(cost="superlinear", only={"nodes": None})
def find_cliques(G, nodes=None):
    if not len(G):
        return
    offset, members = algorithms.maximal_cliques(simple(G))
    yield from slices(names(G, members), offset[1:].tolist())


@implements(cost="superlinear", only={"nodes": None})
def find_cliques_recursive(G, nodes=None):
    return find_cliques(G) if len(G) else iter([])


@implements(cost="superlinear", only={"nodes": None, "cliques": None, "separate_nodes": False})
def node_clique_number(G, nodes=None, cliques=None, separate_nodes=False):
    if G.is_directed():
        raise NotImplementedError("directed graphs")
    offset, members = algorithms.maximal_cliques(simple(G))
    largest = torch.zeros(len(G), dtype=torch.int64)
    size = offset.diff()
    largest.scatter_reduce_(0, members, size.repeat_interleave(size), "amax")
    return by_node(G, largest)


@implements(cost="superlinear", only={"weight": None})
def max_weight_clique(G, weight="weight"):
    found = names(G, algorithms.max_clique(simple(G)))
    return found, len(found)


def _triangles(graph: tg.Graph) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """(u, v, w) of the triangles u < v < w of an undirected simple graph, in batches: arcs u -> v with the arcs that
    lead on."""
    source, target = graph.to_edge_index()
    u, v = source[source < target], target[source < target]
    work = torch.minimum(graph.out_degree[u], graph.out_degree[v]).cumsum(0)
    begin = 0
    while begin < len(u):
        before = int(work[begin - 1]) if begin else 0
        end = max(int(torch.searchsorted(work, before + WEDGES_AT_ONCE, right=True)), begin + 1)
        first, second = u[begin:end], v[begin:end]
        pair, w = common(graph, first, second)
        last = w > second[pair]
        yield first[pair[last]], second[pair[last]], w[last]
        begin = end


@implements(cost="superlinear", only={"nbunch": None})
def all_triangles(G, nbunch=None):
    for triangles in _triangles(simple(G)):
        yield from zip(*(names(G, corner) for corner in triangles), strict=True)


@implements(cost="superlinear", only={"normalized": False})
def rich_club_coefficient(G, normalized=True, Q=100, seed=None):
    if structure(G).num_self_loops:
        raise Exception("rich_club_coefficient is not implemented for graphs with self loops.")
    return dict(enumerate(algorithms.rich_club_coefficient(structure(G)).tolist()))


@implements(cost="superlinear", only={"nodelist": None})
def triadic_census(G, nodelist=None):
    return algorithms.triadic_census(structure(G))


@implements()
def onion_layers(G):
    if structure(G).num_self_loops:
        raise nx.NetworkXNotImplemented(
            "Input graph contains self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    graph = structure(G)
    layer = algorithms.onion_layers(graph)
    source, target = graph.to_edge_index()
    left = source[layer[target] >= layer[source]].bincount(minlength=len(G))  # the degree when the layer is taken away
    order = left.argsort(stable=True)
    order = order[layer[order].argsort(stable=True)]
    return by_node(G, layer[order], order)
