"""Centralities by electric current, by closed walks and by the energy of the Laplacian; percolation; reach."""

from __future__ import annotations

from typing import Any

import networkx as nx
import torch
from torch import Tensor

import tgraph as tg
from tgraph import algorithms
from tgraph.kernels.operators.dicts import MISSING
from tgraph.networkx.functions._shared import bunch, by_node, names, number, refuse_cancelled, refuse_extreme, structure
from tgraph.networkx.functions.centrality.betweenness import arcs_for_paths, by_tensors
from tgraph.networkx.functions.groups.components import count_weak
from tgraph.networkx.functions.paths.unweighted_paths import SEARCHED_AT_ONCE
from tgraph.networkx.graph import Graph
from tgraph.networkx.registry import implements
from tgraph.primitives.centrality.multi_source import level_counts

SOLVERS = {"dtype": (float,), "solver": ("full", "lu", "cg")}


def _require_connected(G: Any) -> None:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if count_weak(G) > 1:
        raise nx.NetworkXError("Graph not connected.")


@implements(cost="superlinear", only=SOLVERS, gaps="weights that are not positive")
def current_flow_closeness_centrality(G, weight=None, dtype=float, solver="lu"):
    _require_connected(G)
    if len(G) < 2:
        raise ZeroDivisionError("division by zero")
    found = by_tensors(algorithms.current_flow_closeness, structure(G, weight), weighted=weight is not None)
    return by_node(G, found)


@implements(
    cost="superlinear",
    only=SOLVERS,
    multigraphs=False,
    gaps="self-loops; weights not above 0",
)
def current_flow_betweenness_centrality(G, normalized=True, weight=None, dtype=float, solver="full"):
    _require_connected(G)
    if len(G) < 3:
        raise NotImplementedError("fewer than three nodes")
    if structure(G).num_self_loops:
        raise NotImplementedError("self-loops")
    options = {"normalized": normalized, "weighted": weight is not None}
    return by_node(G, by_tensors(algorithms.current_flow_betweenness, structure(G, weight), **options))


def _list(nodelist):
    return nodelist is None or isinstance(nodelist, list)


@implements(cost="superlinear", only={"nodelist": _list}, directed=False)
def laplacian_centrality(G, normalized=True, nodelist=None, weight="weight", walk_type=None, alpha=0.95):
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("null graph has no centrality defined")
    size = G.size(weight=weight)
    refuse_cancelled(structure(G, weight), weight, torch.tensor([float(size)]))
    if size == 0:
        if normalized:
            raise ZeroDivisionError("graph with no edges has zero full energy")
        return dict.fromkeys(G, 0)
    chosen = bunch(G, nodelist)
    if nodelist is not None and len(set(chosen.tolist())) != len(nodelist):
        raise nx.NetworkXError("nodelist has duplicate nodes or nodes not in G")
    graph = refuse_extreme(structure(G, weight), weight)
    if G.is_multigraph() and bool in G._kinds_of(weight):
        raise NotImplementedError("bool of parallel edges, which add up to bool")
    if graph.num_self_loops == graph.num_edges:
        raise NotImplementedError("a graph of self-loops")
    found = by_tensors(algorithms.laplacian_centrality, graph, normalized=normalized, weighted=weight is not None)
    return dict(zip(names(G, chosen), found[chosen].tolist(), strict=True))


def _refuses_zeros(G, **options):
    """networkx's code takes an edge of weight 0 for none, and its dispatch does not pass weights on."""
    if isinstance(G, Graph):
        return None
    return "edges of weight 0" if any(w == 0 for *_, w in G.edges(data="weight", default=1)) else None


def _joined(G: Any) -> tg.Graph:
    """The arcs that networkx's matrix has an entry for: those whose weight, where they have any, is not 0."""
    if G.edge_column("weight") is None:
        return structure(G)
    graph = G.weighted("weight").decoded()
    source, target = graph.to_edge_index()[:, graph.weights != 0]
    offset = torch.searchsorted(source, torch.arange(len(G) + 1))
    return tg.Graph(offset, target, directed=G.is_directed())


@implements(cost="superlinear", refuses=_refuses_zeros, gaps="edges of weight 0")
def subgraph_centrality(G, *, normalized=False):
    if normalized and not len(G):
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    return by_node(G, algorithms.subgraph_centrality(_joined(G), normalized=normalized))


@implements(cost="superlinear", refuses=_refuses_zeros, gaps="edges of weight 0")
def estrada_index(G):
    if G.is_directed() or G.is_multigraph():
        kind = "multigraph" if G.is_multigraph() else "directed"
        raise nx.NetworkXNotImplemented(f"not implemented for {kind} type")
    return sum(algorithms.subgraph_centrality(_joined(G)).tolist())


@implements(cost="superlinear", gaps="weights that are not positive; states that leave nothing to others")
def percolation_centrality(G, attribute="percolation", states=None, weight=None):
    if len(G) < 3:
        raise NotImplementedError("fewer than three nodes")
    if states is None:
        column = G.node_column(attribute)
        values = [1] * len(G) if column is None else [1 if v is MISSING else v for v in column.tolist()]
    else:
        if set(states) != set(G):
            raise NotImplementedError("states of other nodes")
        values = [states[node] for node in G]
    try:
        held = torch.tensor(values, dtype=torch.float64)
    except (TypeError, ValueError) as fault:
        raise NotImplementedError("states that are no numbers") from fault
    if bool((held.sum() - held <= 0).any()):
        raise NotImplementedError("states that leave nothing to others")
    graph = arcs_for_paths(G, weight)
    return by_node(G, by_tensors(algorithms.percolation, graph, held, weighted=weight is not None))


def _local_reach(G: Any, vertices: Tensor) -> list[float]:
    """The share of the other nodes that each vertex reaches, of an undirected graph their inverse distances."""
    counts = level_counts(G.structure, vertices)[:, 1:]
    scale = 1 if G.is_directed() else torch.arange(1, counts.shape[1] + 1)
    return ((counts.double() / scale).sum(1) / (len(G) - 1)).tolist()


def _require_pairs(G: Any) -> None:
    if structure(G).num_edges == 0:
        raise nx.NetworkXError("Size of G must be positive")
    if len(G) == 1:
        raise nx.NetworkXError("local_reaching_centrality of a single node with self-loop not well-defined")


@implements(only={"paths": None, "weight": None}, cost="light")
def local_reaching_centrality(G, v, paths=None, weight=None, normalized=True):
    _require_pairs(G)
    return _local_reach(G, torch.tensor([number(G, v)]))[0]


@implements(only={"weight": None}, cost="superlinear")
def global_reaching_centrality(G, weight=None, normalized=True):
    _require_pairs(G)
    local = [each for part in torch.arange(len(G)).split(SEARCHED_AT_ONCE) for each in _local_reach(G, part)]
    largest = max(local)
    return sum(largest - each for each in local) / (len(G) - 1)
