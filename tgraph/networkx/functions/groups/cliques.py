"""Cliques and triangles, the rich club, the census of triads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import torch
from torch import Tensor

import tgraph as tg
from tgraph import algorithms
from tgraph.networkx.functions._shared import by_node, names, simple, structure
from tgraph.networkx.registry import implements

WEDGES_AT_ONCE = 1 << 22


def _cliques(G: Any) -> Iterator[list[Any]]:
    if not len(G):
        return
    offset, members = algorithms.maximal_cliques(simple(G))
    listed = names(G, members)
    for begin, end in pairwise(offset.tolist()):
        yield listed[begin:end]


@implements(cost="superlinear", only={"nodes": None})
def find_cliques(G, nodes=None):
    yield from _cliques(G)


@implements(cost="superlinear", only={"nodes": None})
def find_cliques_recursive(G, nodes=None):
    return _cliques(G) if len(G) else iter([])


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
    """(u, v, w) of the triangles u < v < w of an undirected simple graph, in batches: arcs u -> v with the arcs of
    v."""
    n, offset, neighbors = graph.num_vertices, graph.offset, graph.neighbors.to(torch.int64)
    source, _ = graph.to_edge_index()
    up = (source < neighbors).nonzero().flatten()
    key, work = source * n + neighbors, offset.diff()[neighbors[up]].cumsum(0)
    begin = 0
    while begin < len(up):
        before = int(work[begin - 1]) if begin else 0
        end = max(int(torch.searchsorted(work, before + WEDGES_AT_ONCE, right=True)), begin + 1)
        u, v = source[up[begin:end]], neighbors[up[begin:end]]
        sizes = offset[v + 1] - offset[v]
        arc = torch.arange(int(sizes.sum())) + (offset[v] - (sizes.cumsum(0) - sizes)).repeat_interleave(sizes)
        u, v, w = u.repeat_interleave(sizes), v.repeat_interleave(sizes), neighbors[arc]
        wanted = u * n + w
        met = (w > v) & (key[torch.searchsorted(key, wanted).clamp(max=len(key) - 1)] == wanted)
        yield u[met], v[met], w[met]
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
