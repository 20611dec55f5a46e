"""Maximum flow and minimum cut between two nodes.

All algorithms of networkx find flows of one value, and its cut is always the one nearest to the target: `flow_func` is
a choice of speed: the solver here replaces each of networkx's own.
"""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

import tgraph as tg
from tgraph.kernels.operators.dicts import MISSING
from tgraph.networkx.caching import cached
from tgraph.networkx.functions._building import arcs_of
from tgraph.networkx.functions._nodes import names, nodes_in
from tgraph.networkx.registry import implements

SOLVERS = {
    getattr(nx.algorithms.flow, name)
    for name in ("boykov_kolmogorov", "dinitz", "edmonds_karp", "preflow_push", "shortest_augmenting_path")
}


def solver_of_networkx(flow_func: Any) -> bool:
    """True for None and for networkx's own algorithms."""
    return flow_func is None or any(flow_func is solver for solver in SOLVERS)


def _refuses_options(kwargs):
    return f"options of networkx's algorithm: {', '.join(kwargs)}" if kwargs else None


LIMITS: dict[str, Any] = {
    "only": {"flow_func": solver_of_networkx},
    "multigraphs": False,
    "refuses": _refuses_options,
    "gaps": "options of flow_func",
}


@cached
def _capacities(G: Any, capacity: Any) -> tg.Graph:
    """The arcs with their capacities, infinite for an edge without one, and 0 for one not above 0."""
    graph = G.weighted(capacity, math.inf).decoded()
    weights = torch.where(graph.weights > 0, graph.weights, torch.zeros_like(graph.weights))
    return tg.Graph(graph.offset, graph.neighbors, weights, directed=G.is_directed())


def require_nodes(G: Any, *nodes: Any) -> None:
    """Raises NetworkXError for the first that is no node."""
    for node in nodes:
        if node not in G:
            raise nx.NetworkXError(f"node {node} not in graph")


def require_apart(G: Any, s: Any, t: Any) -> tuple[int, int]:
    """The vertices of two nodes. Raises NetworkXError for an object that is no node, and for equal nodes."""
    require_nodes(G, s, t)
    if s == t:
        raise nx.NetworkXError("source and sink are the same node")
    return G.labels.index(s), G.labels.index(t)


def solve(
    G: Any, source: Any, target: Any, capacity: Any, *, flow: bool = False, source_side: bool = False
) -> tuple[Any, Tensor | None, Tensor | None]:
    """(value, flow, source_side), see `tgraph.primitives.flow.max_flow`."""
    ends = require_apart(G, source, target)
    try:
        return tg.primitives.flow.max_flow(_capacities(G, capacity), *ends, flow=flow, source_side=source_side)
    except tg.errors.ArgumentError as fault:
        if "infinite" not in str(fault):
            raise
        raise nx.NetworkXUnbounded("Infinite capacity path, flow unbounded above.") from fault


def whole(G: Any, capacity: Any) -> bool:
    """True where the finite capacities are integers, and so is the flow. Raises NotImplementedError for integers among
    floats."""
    column = G.edge_column(capacity)
    if column is None or isinstance(column.values, Tensor):
        return column is None or not column.values.is_floating_point()
    kinds = {isinstance(value, (int, np.integer)) for value in column.tolist() if value not in (MISSING, math.inf)}
    if len(kinds) > 1:
        raise NotImplementedError(f"the attribute {capacity!r} of the edges: integers among floats")
    return False not in kinds


def number_of(value: float, integer: bool) -> int | float:
    """A flow, an integer if capacities are, or if it is 0."""
    return int(value) if integer or not value else value


@implements(**LIMITS)
@implements(name="minimum_cut_value", **LIMITS)
def maximum_flow_value(flowG, _s, _t, capacity="capacity", flow_func=None, **kwargs):
    value, _, _ = solve(flowG, _s, _t, capacity)
    return number_of(value, whole(flowG, capacity))


@implements(**LIMITS)
def maximum_flow(flowG, _s, _t, capacity="capacity", flow_func=None, **kwargs):
    value, flow, _ = solve(flowG, _s, _t, capacity, flow=True)
    assert flow is not None
    source, target, arc = arcs_of(flowG)
    integer = whole(flowG, capacity)
    found: dict[Any, dict[Any, Any]] = {node: {} for node in flowG}
    for u, v, carried in zip(names(flowG, source), names(flowG, target), flow[arc].tolist(), strict=True):
        found[u][v] = number_of(carried, integer)
    return number_of(value, integer), found


@implements(**LIMITS)
def minimum_cut(flowG, _s, _t, capacity="capacity", flow_func=None, **kwargs):
    value, _, side = solve(flowG, _s, _t, capacity, source_side=True)
    assert side is not None
    partition = set(nodes_in(flowG, side)), set(nodes_in(flowG, ~side))
    return number_of(value, whole(flowG, capacity)), partition
