"""Biconnected components, articulation points and bridges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import torch
from torch import Tensor

from tgraph import algorithms
from tgraph.networkx.functions._building import listed_edges
from tgraph.networkx.functions._shared import names, number, simple, structure
from tgraph.networkx.functions.groups.components import component_of
from tgraph.networkx.registry import implements


def _components(G: Any) -> tuple[Tensor, Tensor]:
    return G._keep("biconnected components", lambda: algorithms.biconnected_components(simple(G)))


@implements()
def biconnected_components(G):
    offset, vertices = _components(G)
    bounds, members = offset.tolist(), names(G, vertices)
    for begin, end in pairwise(bounds):
        yield set(members[begin:end])


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
    listed = list(zip(names(G, source[order]), names(G, target[order]), strict=True))
    begin = 0
    for end in component.bincount().cumsum(0).tolist():
        yield listed[begin:end]
        begin = end


@implements()
def articulation_points(G):
    yield from names(G, algorithms.articulation_points(simple(G)))


@implements()
def is_biconnected(G):
    offset, vertices = _components(G)
    return len(offset) == 2 and len(vertices) == len(G)


def _bridges(G: Any, root: Any) -> Iterator[tuple[Any, Any]]:
    """The bridges in the order of `G.edges`; with a root those of its component."""
    u, v = algorithms.bridges(structure(G))
    source, target, _ = listed_edges(G)
    first, second = torch.minimum(source, target), torch.maximum(source, target)
    chosen = torch.isin(first * len(G) + second, u * len(G) + v)
    if root is not None:
        label = component_of(G)
        chosen &= label[source] == label[number(G, root)]
    return zip(names(G, source[chosen]), names(G, target[chosen]), strict=True)


def _require_root(G: Any, root: Any) -> None:
    if root is not None and root not in G:
        raise nx.NodeNotFound(f"Root node {root} is not in graph")


@implements()
def bridges(G, root=None):
    _require_root(G, root)
    yield from _bridges(G, root)


@implements()
def has_bridges(G, root=None):
    _require_root(G, root)
    return next(_bridges(G, root), None) is not None
