"""Biconnected components, articulation points and bridges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import torch
from torch import Tensor

from tgraph import algorithms
from tgraph.networkx.caching import cached
from tgraph.networkx.functions._arcs import row_entries, rows, simple, structure
from tgraph.networkx.functions._building import listed_edges
from tgraph.networkx.functions._nodes import marked, names, node_pairs, number, slices
from tgraph.networkx.functions.groups.components import component_of
from tgraph.networkx.registry import implements, made_of
from tgraph.primitives.paths import search


@cached
def _components(G: Any) -> tuple[Tensor, Tensor, Tensor]:
    """(offset, vertices, top) of the components, in the order in which networkx's depth-first search leaves them; the
    search enters each at its top."""
    offset, vertices = algorithms.biconnected_components(simple(G))
    rank, _ = _search(G)
    size = offset.diff()
    component = torch.arange(len(size)).repeat_interleave(size)
    order = rank[vertices].argsort()
    order = order[component[order].argsort(stable=True)]
    vertices = vertices[order]  # of each component the top last: it is left after all others
    last = rank[vertices[offset[1:] - 2]].argsort()
    _, place = row_entries(offset, last)
    offset = torch.cat((offset[:1], size[last].cumsum(0)))
    return offset, vertices[place], vertices[place][offset[1:] - 1]


def _search(G: Any) -> tuple[Tensor, Tensor]:
    """(postorder rank, parent) of each vertex in a depth-first search, int64 [n]."""
    _, left, finder = search.depth_first(*rows(G), torch.arange(len(G)))
    rank = torch.empty_like(left)
    rank[left] = torch.arange(len(left))
    return rank, finder


@implements()
def biconnected_components(G):
    offset, vertices, _ = _components(G)
    yield from map(set, slices(names(G, vertices), offset[1:].tolist()))


@implements(gaps="self-loops")
def biconnected_component_edges(G):
    if structure(G).num_self_loops:
        raise NotImplementedError("self-loops")
    graph = simple(G)
    source, target = graph.to_edge_index()
    component = algorithms.biconnected_edges(graph)
    once = source < target
    source, target, component = source[once], target[once], component[once]
    order = component.argsort(stable=True)
    listed = list(node_pairs(G, source[order], target[order]))
    yield from slices(listed, component.bincount().cumsum(0).tolist())


@implements()
def articulation_points(G):
    offset, vertices, top = _components(G)
    rank, finder = _search(G)
    seen = torch.where(finder[top] < 0, rank[top], rank[vertices[offset[1:] - 2]])  # a root once all of it is left
    cut = marked(G, algorithms.articulation_points(simple(G)))
    order = top[seen.argsort(stable=True)]
    yield from dict.fromkeys(names(G, order[cut[order]]))


made_of("biconnected_components")("is_biconnected")


def _bridges(G: Any, root: Any) -> Iterator[tuple[Any, Any]]:
    """The bridges in the order of `G.edges`; with a root those of its component."""
    u, v = algorithms.bridges(structure(G))
    source, target, _ = listed_edges(G)
    first, second = torch.minimum(source, target), torch.maximum(source, target)
    chosen = torch.isin(first * len(G) + second, u * len(G) + v)
    if root is not None:
        label = component_of(G)
        chosen &= label[source] == label[number(G, root)]
    return node_pairs(G, source[chosen], target[chosen])


def _require_root(G: Any, root: Any) -> None:
    if root is not None and root not in G:
        raise nx.NodeNotFound(f"Root node {root} is not in graph")


@implements(only={"root": None})
def bridges(G, root=None):
    yield from _bridges(G, root)


@implements()
def has_bridges(G, root=None):
    _require_root(G, root)
    return next(_bridges(G, root), None) is not None
