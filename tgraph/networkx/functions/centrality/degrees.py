"""Properties by degrees: isolated vertices, regular graphs, tournaments, reciprocity."""

from __future__ import annotations

from typing import Any

import networkx as nx
import torch
from torch import Tensor

import tgraph as tg
from tgraph.networkx.functions._arcs import degrees, edges, loops, structure
from tgraph.networkx.functions._nodes import bunch, by_node, names, number
from tgraph.networkx.functions._weights import comparable
from tgraph.networkx.registry import implements


def _isolated(G: Any) -> Tensor:
    return degrees(G) == 0


@implements(cost="light")
def isolates(G):
    return (node for node in names(G, _isolated(G).nonzero().flatten()))


@implements(cost="light")
def number_of_isolates(G):
    return int(_isolated(G).sum())


@implements(cost="local")
def is_isolate(G, n):
    return int(degrees(G)[number(G, n)]) == 0


@implements(cost="light")
def number_of_selfloops(G):
    return structure(G).num_self_loops


def _all_equal(values: Tensor) -> bool:
    return bool((values == values[0]).all())


@implements(cost="light")
def is_regular(G):
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    if not G.is_directed():
        return _all_equal(degrees(G))
    return _all_equal(degrees(G, kind="in")) and _all_equal(degrees(G, kind="out"))


@implements(cost="light")
def is_k_regular(G, k):
    return bool((degrees(G) == comparable(k)).all())


@implements(cost="light")
def is_tournament(G):
    n, graph = len(G), structure(G)
    if graph.num_self_loops or graph.num_arcs != n * (n - 1) // 2:
        return False
    source, target, _ = edges(G)
    pairs = torch.minimum(source, target) * n + torch.maximum(source, target)
    return len(pairs.unique()) == len(pairs)


@implements(cost="light")
def score_sequence(G):
    return sorted(degrees(G, kind="out").tolist())


@implements(cost="light")
def s_metric(G):
    source, target, _ = edges(G)
    degree = degrees(G)
    return float((degree[source] * degree[target]).sum())


@implements(cost="linear", multigraphs=False)
def overall_reciprocity(G):
    arcs = G.number_of_edges()
    if arcs == 0:
        raise nx.NetworkXError("Not defined for empty graphs")
    both_ways = arcs - structure(G).to_undirected().num_edges  # networkx takes an undirected edge for one direction
    return both_ways * 2 / arcs


@implements(cost="linear", given={"nodes": "local"}, multigraphs=False)
def reciprocity(G, nodes=None):
    if nodes is None:
        return overall_reciprocity(G)
    single = nodes in G
    chosen = bunch(G, nodes)
    if not G.is_directed() and len(chosen):
        raise AttributeError("'Graph' object has no attribute 'predecessors'")  # as networkx does
    total = degrees(G)[chosen].tolist()
    both = (tg.primitives.mutual.counts(structure(G))[0] + loops(structure(G)))[chosen].tolist()
    found = [None if all_of == 0 else 2 * mutual / all_of for mutual, all_of in zip(both, total, strict=True)]
    if not single:
        return dict(zip(names(G, chosen), found, strict=True))
    if found[0] is None:
        raise nx.NetworkXError("Not defined for isolated nodes.")
    return found[0]


@implements(cost="light")
def faster_could_be_isomorphic(G1, G2):
    return len(G1) == len(G2) and torch.equal(degrees(G1).sort().values, degrees(G2).sort().values)


@implements(name="bipartite_degree_centrality", cost="light")
def degree_centrality(G, nodes):
    top = set(nodes)
    bottom = set(G) - top
    degree = by_node(G, degrees(G).to(torch.float64))
    scale = 1.0 / len(bottom)
    found = {node: degree[node] * scale for node in top if node in degree}
    return found | {node: degree[node] * (1.0 / len(top)) for node in bottom}
