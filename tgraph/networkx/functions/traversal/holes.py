"""Structural holes: how far the neighbours of a node are joined with each other (Burt 1992).

The weights between a node and all others, in both directions, are a row of a sparse matrix; products of rows are
computed for some nodes at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from tgraph.networkx.functions._arcs import matrix, structure
from tgraph.networkx.functions._nodes import by_node
from tgraph.networkx.functions._weights import of_kind
from tgraph.networkx.registry import implements

ROWS_AT_ONCE = 1024
LEAST = 1e-300  # with a finite inverse


def _mutual(G: Any, weight: Any) -> Any:
    """The sum of the weights of both directions between two nodes."""
    if not len(G):
        raise nx.NetworkXError("Graph has no nodes or edges")
    if weight is not None:
        arcs = of_kind("conductances", structure(G, weight))
        if G._kinds_of(weight) == {bool}:
            raise NotImplementedError(f"the attribute {weight!r} of the edges: bools, whose sums are bools in networkx")
        if arcs.weight_range[0] < LEAST:
            raise NotImplementedError(f"{weight!r}: {arcs.weight_range[0]}, the inverse of which may be inf")
    arcs = matrix(G, weight).astype(np.float64)
    return (arcs + arcs.T).tocsr()


def _scaled(rows: Any, by: np.ndarray) -> Any:
    found = rows.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        found.data = found.data / by.repeat(np.diff(found.indptr))
    return found


def _by_rows(share: Any, value: Callable[[Any], Any]) -> np.ndarray:
    """The value of each row of a matrix, computed for some rows at a time."""
    parts = [value(share[begin : begin + ROWS_AT_ONCE]) for begin in range(0, share.shape[0], ROWS_AT_ONCE)]
    return np.concatenate(parts).astype(float)


@implements(cost="superlinear", only={"nodes": None}, gaps="weights that are not positive")
def constraint(G, nodes=None, weight=None):
    mutual = _mutual(G, weight)
    share = _scaled(mutual, mutual.sum(axis=1))

    def value(rows: Any) -> np.ndarray:
        joined = rows + (rows @ share).multiply(rows > 0)
        return joined.multiply(joined).multiply(rows > 0).sum(axis=1)

    found = _by_rows(share, value)
    found[mutual.sum(axis=1) - 2 * share.diagonal() == 0] = (
        np.nan
    )  # networkx's test for a node without an edge to another
    return by_node(G, found)


# Otherwise networkx divides by the largest weight of the other node, or with nodes by that of the node.
@implements(cost="superlinear", only={"nodes": None, "weight": None}, directed=False, multigraphs=False)
def effective_size(G, nodes=None, weight=None):
    mutual = _mutual(G, weight)
    share = _scaled(mutual, mutual.sum(axis=1))
    largest = _scaled(mutual, mutual.max(axis=1).toarray().ravel()).T.tocsr()
    found = _by_rows(share, lambda rows: (rows > 0).sum(axis=1) - (rows @ largest).multiply(rows > 0).sum(axis=1))
    found[share.sum(axis=1) - share.diagonal() == 0] = np.nan
    return by_node(G, found)
