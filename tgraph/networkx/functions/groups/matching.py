"""Matchings and independent, dominating sets."""

from __future__ import annotations

import torch

import tgraph as tg
from tgraph import algorithms
from tgraph.networkx.functions._arcs import structure
from tgraph.networkx.functions._building import listed_edges
from tgraph.networkx.functions._nodes import marked, names, node_pairs, numbers
from tgraph.networkx.functions.groups.coloring import sets
from tgraph.networkx.registry import implements

SEEDED = "the choice of another chance than networkx's"


@implements()
def maximal_matching(G):
    source, target, arc = listed_edges(G)
    graph = structure(G).decoded()
    weights = torch.full((graph.num_arcs,), -1)
    weights[arc] = torch.arange(len(arc), 0, -1)  # the first edge of G.edges is the heaviest
    weights = torch.where(weights < 0, weights[graph.transpose_permutation], weights)
    ranked = tg.Graph(graph.offset, graph.neighbors, weights, directed=False)
    mate = tg.primitives.matching.heavy(ranked, weights)
    chosen = (mate[source] == target) & (source != target)
    return set(node_pairs(G, source[chosen], target[chosen]))


@implements(cost="superlinear")
def hopcroft_karp_matching(G, top_nodes=None):
    top, _ = sets(G, top_nodes)
    if G.is_directed() or structure(G).num_self_loops:
        raise NotImplementedError("directed graphs and self-loops")
    mate = algorithms.maximum_bipartite_matching(structure(G), marked(G, numbers(G, top)))
    matched = (mate >= 0).nonzero().flatten()
    return dict(node_pairs(G, matched, mate[matched]))


@implements(only={"nodes": None}, gaps=SEEDED)
def maximal_independent_set(G, nodes=None, seed=None):
    if structure(G).num_self_loops:
        raise NotImplementedError("self-loops")
    if not len(G):
        raise IndexError("Cannot choose from an empty sequence")
    return names(G, algorithms.maximal_independent_set(structure(G), seed=seed.getrandbits(31)))


@implements(only={"start_with": None}, directed=False)
def dominating_set(G, start_with=None):
    if not len(G):
        raise StopIteration  # as networkx does
    return set(names(G, algorithms.dominating_set(structure(G))))
