"""Minimum and maximum spanning trees: those that Kruskal's algorithm finds in networkx's order of the edges.

Edges are ranked by weight, and those of equal weight by their place among `G.edges`: of ranks there is one forest.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

import tgraph as tg
from tgraph.core.building import sorting
from tgraph.io.columns import dicts_of
from tgraph.networkx.caching import cached
from tgraph.networkx.functions._arcs import structure
from tgraph.networkx.functions._building import listed_edges, rebuilt
from tgraph.networkx.functions._nodes import names
from tgraph.networkx.registry import implements

KRUSKAL = {"algorithm": "kruskal"}
GAPS = "weights that are NaN"


def _forest(G: Any, weight: Any, minimum: bool) -> tuple[Tensor, Tensor, Tensor]:
    """(source, target, arc) of the edges of the forest, by rank."""
    if G.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    ranked, edge_of_rank = _ranked(G, weight, minimum)
    weights = ranked.weights
    assert weights is not None
    arcs = tg.primitives.spanning_forest.spanning_forest(ranked, weights)
    chosen = edge_of_rank[weights[arcs].sort().values]
    source, target, arc = listed_edges(G)
    return source[chosen], target[chosen], arc[chosen]


@cached
def _ranked(G: Any, weight: Any, minimum: bool) -> tuple[tg.Graph, Tensor]:
    """(the graph with the rank of each edge as the weight of its arcs, the edge of each rank among `listed_edges`)"""
    _, _, arc = listed_edges(G)
    weights = G.weighted(weight).decoded().weights
    values = torch.zeros(len(arc)) if weights is None else weights[arc]
    if bool((values != values).any()):
        raise NotImplementedError("weights that are NaN")
    order = values.argsort(descending=not minimum, stable=True)
    graph = structure(G).decoded()
    rank = torch.full((graph.num_arcs,), -1)
    rank[arc[order]] = torch.arange(len(order))
    rank = torch.where(rank < 0, rank[graph.transpose_permutation], rank)
    return tg.Graph(graph.offset, graph.neighbors, rank, directed=False), order


def _keys(G: Any, arc: Tensor) -> np.ndarray:
    """The keys of some edges of a multigraph."""
    if (keys := G._tensors.keys) is not None:
        return keys[arc.numpy()]
    graph = structure(G).decoded()
    begin = sorting.merge_parallel(graph.offset, graph.neighbors, torch.arange(graph.num_arcs), "first")[2]
    assert begin is not None
    number = arc - begin[torch.searchsorted(begin, arc, right=True) - 1]
    return number.numpy().astype(object)


def _register(kind: str, minimum: bool) -> None:
    """Register the functions of minimum or maximum trees."""

    def edges(G, algorithm="kruskal", weight="weight", keys=True, data=True, ignore_nan=False):
        source, target, arc = _forest(G, weight, minimum)
        parts: list[Any] = [names(G, source), names(G, target)]
        if G.is_multigraph() and keys:
            parts.append(_keys(G, arc).tolist())
        if data:
            parts.append(dicts_of(G._tensors.edge_columns, len(arc), arc.numpy()))
        yield from zip(*parts, strict=True)

    def tree(G, weight="weight", algorithm="kruskal", ignore_nan=False):
        source, target, arc = _forest(G, weight, minimum)
        keys = _keys(G, arc) if G.is_multigraph() else None
        return rebuilt(G, G._tensors.nodes, source, target, arc, keys=keys)

    implements(name=f"{kind}_spanning_edges", only={**KRUSKAL, "data": (True, False)}, gaps=GAPS)(edges)
    implements(name=f"{kind}_spanning_tree", only=KRUSKAL, gaps=GAPS)(tree)


_register("minimum", True)
_register("maximum", False)
