"""Similarity of nodes by that of their neighbours (SimRank: Jeh and Widom 2002)."""

from __future__ import annotations

import networkx as nx

import tgraph as tg
from tgraph.networkx.functions._arcs import structure
from tgraph.networkx.functions._nodes import by_node, numbers
from tgraph.networkx.functions.graphs.matrices import refuses_weights
from tgraph.networkx.registry import implements


@implements(cost="superlinear", refuses=refuses_weights, gaps="edges with the attribute weight")
def simrank_similarity(G, source=None, target=None, importance_factor=0.9, max_iterations=1000, tolerance=0.0001):
    numbers(G, (node for node in (source, target) if node is not None))
    weight = None if G.edge_column("weight") is None else "weight"
    if max_iterations == 1:
        raise nx.ExceededMaxIterations("simrank did not converge after 1 iterations.")
    options = {"importance_factor": importance_factor, "max_iterations": max_iterations - 1, "tol": tolerance}
    try:
        found = tg.algorithms.simrank(structure(G, weight), weighted=weight is not None, **options)
    except tg.errors.NotConvergedError as fault:
        raise nx.ExceededMaxIterations(f"simrank did not converge after {max_iterations} iterations.") from fault
    if source is None:
        return {node: by_node(G, row) for node, row in zip(G, found, strict=True)}
    row = found[G.labels.index(source)]
    return by_node(G, row) if target is None else row[G.labels.index(target)].item()
