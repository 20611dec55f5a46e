"""The arcs of a graph: in rows in networkx's order, with weights, as a matrix, and the degrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

import tgraph as tg
from tgraph.core import sums
from tgraph.core.building import sorting
from tgraph.networkx.caching import cached
from tgraph.networkx.functions._weights import of_kind, refuse_beyond, summable

Lists = list[list[int]]


def structure(G: Any, weight: Any = None, default: Any = 1, multi: str = "keep") -> tg.Graph:
    """The arcs, with an attribute as weights if one is named. Raises ArgumentError unless these are finite: results of
    others depend on networkx's order of operations."""
    if weight is None:
        return G.structure
    return summable(of_kind("numbers", G.weighted(weight, default, multi)), weight)


def simple(G: Any) -> tg.Graph:
    """The arcs, parallel ones once, without self-loops."""
    if not G.is_multigraph() and not G.structure.num_self_loops:
        return G.structure
    return _simple(G)


@cached
def _simple(G: Any) -> tg.Graph:
    return G.weighted(None, multi="first").without_self_loops()


def row_of_arcs(offset: Tensor) -> Tensor:
    """The row of each arc, int64 [m]."""
    return torch.arange(len(offset) - 1).repeat_interleave(offset.diff())


def rows(G: Any, *, reverse: bool = False) -> tuple[Tensor, Tensor]:
    """(offset, neighbors) with the neighbours, or the predecessors, of each node in networkx's order."""
    return _rows(G, reverse and G.is_directed())


@cached
def _rows(G: Any, reverse: bool) -> tuple[Tensor, Tensor]:
    arcs = G.structure.decoded()
    arcs, order = (arcs.transpose(), G._tensors.back_order) if reverse else (arcs, G._tensors.order)
    return arcs.offset, arcs.neighbors if order is None else arcs.neighbors[order]


@cached
def lists(G: Any, reverse: bool = False) -> Lists:
    """The neighbours, or the predecessors, of each vertex."""
    if reverse and not G.is_directed():
        return lists(G)
    offset, neighbors = rows(G, reverse=reverse)
    return [row.tolist() for row in neighbors.tensor_split(offset[1:-1])] if len(G) else []


def row_entries(offset: Tensor, vertices: Tensor) -> tuple[Tensor, Tensor]:
    """(i, arc) for each arc of the rows of some vertices, one row after the other: that of vertices[i]."""
    begin = offset[vertices]
    degree = offset[vertices + 1] - begin
    i = torch.arange(len(vertices)).repeat_interleave(degree)
    before = degree.cumsum(0) - degree
    return i, torch.arange(len(i)) + (begin - before)[i]


def ends_of_rows(G: Any, vertices: Tensor) -> tuple[Tensor, Tensor]:
    """(source, target) of the arcs of the rows of some vertices, in networkx's order."""
    offset, neighbors = rows(G)
    i, arc = row_entries(offset, vertices)
    return vertices[i], neighbors[arc].to(torch.int64)


def weighted_rows(
    G: Any, weight: Any, default: Any = 1, *, multi: sorting.Merge = "min", reverse: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """(offset, neighbors, weights) in networkx's order, parallel arcs merged by "min", "max" or "sum"; weights are
    int64 or float64. Raises NotImplementedError for weights that are NaN or -inf, and for integers beyond int64."""
    return _weighted_rows(G, weight, default, multi, reverse and G.is_directed())


@cached
def _weighted_rows(
    G: Any, weight: Any, default: Any, multi: sorting.Merge, reverse: bool
) -> tuple[Tensor, Tensor, Any]:
    offset, neighbors = rows(G, reverse=reverse)
    weights = None
    if weight is not None:
        weights = of_kind("signed lengths", G.weighted(weight, default)).decoded().weights
    if weights is None:
        weights = torch.full((len(neighbors),), default)
    weights = weights.to(torch.float64 if weights.is_floating_point() else torch.int64)
    arcs = G.structure.decoded()
    if reverse:
        weights = weights[arcs.transpose_permutation]
    order = G._tensors.back_order if reverse else G._tensors.order
    weights = weights if order is None else weights[order]
    if not weights.is_floating_point():  # a path has fewer arcs than there are nodes, but parallel ones add up
        refuse_beyond(sums.largest(weights) * (len(weights) if multi == "sum" else len(offset)), 2**62, weight)
    elif len(weights) and float(weights.nan_to_num(0, 0, 0).abs().max()) * len(weights) == torch.inf:
        raise NotImplementedError(f"{weight!r}: sums of weights that may be inf")
    if not G.is_multigraph():
        return offset, neighbors, weights
    return sorting.merge_parallel(offset, neighbors, weights, multi)  # parallel arcs stand side by side


def matrix_rows(G: Any, weight: Any, multi: str = "sum") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(offset, columns, values) of the adjacency matrix, parallel edges merged; bools are added as integers. The memory
    is the graph's."""
    if G.is_multigraph() and bool in G._kinds_of(weight):
        raise NotImplementedError(f"{weight!r}: bool of parallel edges, which add up to bool")
    arcs = summable(G.weighted(weight, 1, multi), weight).decoded()
    if not G.is_directed() and arcs.num_self_loops:
        of_kind("numbers", arcs)  # networkx adds a self-loop twice and takes it away once
    weights = np.ones(arcs.num_arcs, np.int64) if arcs.weights is None else arcs.weights.numpy()
    return arcs.offset.numpy(), arcs.neighbors.numpy(), weights


def matrix(G: Any, weight: Any, multi: str = "sum", dtype: Any = None) -> Any:
    """`matrix_rows` as a csr_array of its own memory."""
    import scipy.sparse

    offset, columns, values = (each.copy() for each in matrix_rows(G, weight, multi))
    if dtype is not None and G.is_multigraph() and values.dtype.kind == "f" and np.dtype(dtype).kind in "iub":
        raise NotImplementedError(f"the attribute {weight!r} of parallel edges: floats, truncated before they add up")
    if not len(values):
        values = values.astype(float)  # as numpy does of an empty list
    found = scipy.sparse.csr_array((values, columns, offset), shape=(len(G), len(G)))
    found.has_canonical_format = True
    return found if dtype is None else found.astype(dtype)


def degrees(G: Any, weight: Any = None, kind: str = "both") -> Tensor:
    """The degree of each vertex, or the sum of its weights, as networkx counts: an undirected self-loop twice.

    kind : "in", "out" or "both".
    """
    graph = structure(G, weight)
    first = _strength(graph, kind if G.is_directed() and kind != "both" else "out")
    if G.is_directed() and kind != "both":
        return first
    second = _strength(graph, "in") if G.is_directed() else loops(graph)
    if graph.weight_dtype is not None and not first.is_floating_point():
        refuse_beyond(sums.largest(first) + sums.largest(second), sums.MOST, weight)
    return first + second


def _strength(graph: tg.Graph, kind: str) -> Tensor:
    if graph.weight_dtype is None:
        return graph.out_degree if kind == "out" else graph.in_degree
    return tg.aggregate(graph.transpose() if kind == "out" else graph, _ones(graph), "sum", edge="mul")


def _ones(graph: tg.Graph) -> Tensor:
    weights = graph.decoded().weights
    assert weights is not None
    return torch.ones(graph.num_vertices, dtype=weights.dtype)


def loops(graph: tg.Graph) -> Tensor:
    """The weight of the self-loops of each vertex."""
    n, dtype = graph.num_vertices, graph.weight_dtype or torch.int64
    if not graph.num_self_loops:
        return torch.zeros(n, dtype=dtype)
    source, target = graph.to_edge_index()
    loop = source == target
    weights = graph.decoded().weights
    held = torch.ones(int(loop.sum()), dtype=dtype) if weights is None else weights[loop]
    return sums.by_group(held, source[loop], n, dtype, "weights: those of self-loops")


def edges(G: Any, weight: Any = None) -> tuple[Tensor, Tensor, Tensor | None]:
    """(source, target, weights) of each edge, an undirected one once; weights None without an attribute."""
    graph = structure(G, weight).decoded()
    source, target = graph.to_edge_index()
    if graph.directed:
        return source, target, graph.weights
    once = source <= target
    return source[once], target[once], None if graph.weights is None else graph.weights[once]
