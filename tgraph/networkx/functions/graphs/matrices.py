"""Matrices of a graph, in scipy's sparse arrays and in numpy's."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from tgraph.networkx.functions._arcs import matrix, matrix_rows
from tgraph.networkx.functions._nodes import number, numbers
from tgraph.networkx.functions._weights import require_one_kind
from tgraph.networkx.graph import Graph
from tgraph.networkx.registry import implements, made_of


def _places(G: Any, nodelist: Any) -> np.ndarray | None:
    """The vertices of a list of nodes, None for all of them in order. Raises NetworkXError where one stands twice."""
    labels = G.labels
    if nodelist is None or (set(map(type, nodelist)) <= {labels.kind} and list(nodelist) == list(labels.names)):
        return None
    places = numbers(G, nodelist).numpy()
    if len(np.unique(places)) < len(places):
        raise nx.NetworkXError("nodelist contains duplicates.")
    return None if len(places) == len(G) and bool((places[1:] > places[:-1]).all()) else places


def _are_bool(G: Any, weight: Any, part: bool) -> bool:
    """True if all weights are bools. Raises NotImplementedError if only those of a part of the graph may be."""
    kinds = G._kinds_of(weight)
    if part and bool in kinds and len(kinds) > 1:
        raise NotImplementedError(f"the attribute {weight!r} of the edges: bools among other numbers")
    return kinds == {bool}


@implements()
def to_scipy_sparse_array(G, nodelist=None, dtype=None, weight="weight", format="csr"):
    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    if nodelist is not None and len(nodelist) == 0:
        raise nx.NetworkXError("nodelist has no nodes")
    places = _places(G, nodelist)
    found = matrix(G, weight, dtype=dtype)
    if places is not None:
        require_one_kind(G, weight)
        found = found[places][:, places]
        if dtype is None and not found.nnz:
            found = found.astype(float)  # as numpy does of an empty list
    has_loops = not G.is_directed() and found.diagonal().any()  # which networkx subtracts, as integers
    if dtype is None and found.nnz and _are_bool(G, weight, places is not None) and not has_loops:
        found = found.astype(bool)
    return _in_format(found, format, "matrix")


def _in_format(found: Any, format: str, what: str) -> Any:
    try:
        return found.asformat(format)
    except ValueError as fault:
        raise nx.NetworkXError(f"Unknown sparse {what} format: {format}") from fault


@implements()
def adjacency_matrix(G, nodelist=None, dtype=None, weight="weight"):
    return nx.to_scipy_sparse_array(G, nodelist=nodelist, dtype=dtype, weight=weight)


@implements()
def laplacian_matrix(G, nodelist=None, weight="weight"):
    import scipy.sparse

    found = to_scipy_sparse_array(G, nodelist, None, weight)
    total = found.sum(axis=1)
    places = total.nonzero()[0].astype(found.indices.dtype)
    offset = np.searchsorted(places, np.arange(len(total) + 1)).astype(found.indptr.dtype)
    return scipy.sparse.csr_array((total[places], places, offset), shape=found.shape) - found


_MERGES = {sum: "sum", min: "min", max: "max"}


def _refuses_dense(G, dtype, multigraph_weight):
    if dtype is not None and np.dtype(dtype).names is not None:
        return "the dtype has fields"
    if G.is_multigraph() and multigraph_weight not in _MERGES:
        return "multigraph_weight is another function than sum, min and max"
    return None


@implements(refuses=_refuses_dense, gaps="dtypes with fields; multigraph_weight other than sum, min, max")
def to_numpy_array(G, nodelist=None, dtype=None, order=None, multigraph_weight=sum, weight="weight", nonedge=0.0):
    size = len(G) if nodelist is None else len(nodelist)
    places = _places(G, nodelist)
    dense = np.full((size, size), nonedge, dtype=dtype, order=order)
    if size == 0 or G.number_of_edges() == 0:
        return dense
    merge = _MERGES.get(multigraph_weight, "sum")
    if places is None:
        offset, column, values = matrix_rows(G, weight, merge)
        dense[np.repeat(np.arange(size), np.diff(offset)), column] = values
        return dense
    entries = matrix(G, weight, merge)[places][:, places].tocoo()
    if G.is_multigraph() and not entries.nnz:
        raise ValueError("not enough values to unpack (expected 2, got 0)")  # as networkx does
    dense[entries.row, entries.col] = entries.data
    return dense


@implements()
def biadjacency_matrix(G, row_order, column_order=None, dtype=None, weight="weight", format="csr"):
    if len(row_order) == 0:
        raise nx.NetworkXError("row_order is empty list")
    column_order = list(set(G) - set(row_order)) if column_order is None else column_order
    for name, order in (("row_order", row_order), ("column_order", column_order)):
        if len(order) != len(set(order)):
            raise nx.NetworkXError(f"Ambiguous ordering: `{name}` contained duplicates.")
    require_one_kind(G, weight)
    if not G.is_directed() and not set(row_order).isdisjoint(column_order):
        raise NotImplementedError("nodes both in row_order and in column_order")
    row, column = ([number(G, node) for node in order] for order in (row_order, column_order))
    found = matrix(G, weight, dtype=dtype)[row][:, column]
    if G.number_of_edges() and not found.nnz:
        raise ValueError("not enough values to unpack (expected 3, got 0)")  # as networkx does
    if dtype is None and found.nnz and _are_bool(G, weight, part=True):
        found = found.astype(bool)
    return _in_format(found, format, "array")


def refuses_weights(G):
    """networkx's code takes the attribute "weight", which its dispatch does not pass on."""
    if isinstance(G, Graph):
        return None
    return "edges have weights" if any("weight" in data for _, _, data in G.edges(data=True)) else None


made_of("to_scipy_sparse_array", refuses=refuses_weights, gaps="edges with the attribute weight")(
    "bethe_hessian_matrix", "bethe_hessian_spectrum"
)
made_of("to_scipy_sparse_array")(
    "normalized_laplacian_matrix",
    "modularity_matrix",
    "directed_modularity_matrix",
    "directed_laplacian_matrix",
    "directed_combinatorial_laplacian_matrix",
    "adjacency_spectrum",
)
made_of("adjacency_matrix")("tournament_matrix")
made_of("laplacian_matrix", "normalized_laplacian_matrix")("laplacian_spectrum", "normalized_laplacian_spectrum")
