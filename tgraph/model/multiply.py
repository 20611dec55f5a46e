"""Products of sparse matrices, which graphs are, over a semiring: SpMV, SpMM and SpGEMM.

A graph is the matrix whose entry (u, v) is the weight of the arc u -> v, or 1 where it has no weights. Over (min, add)
a product takes paths one step further, over (any, copy) it says who is reached, over (sum, mul) it counts paths.
"""

from __future__ import annotations

from typing import cast, overload

import torch
from torch import Tensor

from tgraph.core import sums
from tgraph.core.building import sorting
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.algebra import dot, spgemm
from tgraph.kernels.reductions import check_edge_operation, reduction_of
from tgraph.kernels.sparse import SparseMatrix
from tgraph.model.operators import aggregate

REDUCTIONS = ("sum", "min", "max", "prod", "any")

# How many terms of a product by rows cost as much as a step of a product of two rows; as many times more with weights,
# which are gathered beside the bits that say where rows meet.
TERMS_PER_STEP, WITH_WEIGHTS = 2, 3
SAMPLE = 1 << 16  # arcs by which the cost of a product is estimated


@overload
def multiply(
    a: Graph,
    b: Graph,
    reduce: str = ...,
    edge: str = ...,
    *,
    mask: Graph | None = ...,
    complement: bool = ...,
    backend: str = ...,
) -> Graph: ...
@overload
def multiply(
    a: Graph,
    b: Tensor,
    reduce: str = ...,
    edge: str = ...,
    *,
    mask: Tensor | None = ...,
    complement: bool = ...,
    backend: str = ...,
) -> Tensor: ...


def multiply(
    a: Graph,
    b: Graph | Tensor,
    reduce: str = "sum",
    edge: str = "mul",
    *,
    mask: Graph | Tensor | None = None,
    complement: bool = False,
    backend: str = "auto",
) -> Graph | Tensor:
    """The product of the matrix of a graph with that of another, or with a vector or dense matrix, over a semiring.

    Entry (i, j) is the reduction over k of `edge`(b[k, j], a[i, k]), where both matrices have these entries.

    a : a Graph, whose weights are the values of its arcs, ones without weights.
    b : a Graph of as many vertices, or a tensor [n] or [n, ...].
    reduce : "sum", "min", "max", "prod" or "any"; for a tensor each reduction of `aggregate`. "any" of two graphs gives
        the arcs without weights.
    edge : "mul", "add", "min", "max", or "copy", which takes the value of `b`.
    mask : a Graph, to whose arcs the entries of the product of two graphs are confined; the rows of the product with a
        tensor that are computed, bool [n], while the others hold the identity of the reduction.
    complement : confines them to all others instead.
    backend : the kernels that multiply graphs.

    Returns a Graph in CSR, undirected where it is the square of an undirected one, or a tensor [n, ...], differentiable
    as `aggregate` is. Integers are multiplied, and sums given, in int64; float16 and bfloat16 in float32. Parallel arcs
    are entries that add up as the reduction says. Terms are reduced in ascending order of k, so that the result is the
    same on any number of threads. Costs a step for each term, and memory for the result; with a mask, where that is
    less, a step for each entry of the shorter of the two rows of an arc of the mask.
    Raises ArgumentError for other sizes, dtypes and names, and for integers whose products or sums may not fit int64.

    >>> graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    >>> square = tg.multiply(graph, graph)
    >>> square.to_edge_index(), square.weights
    (tensor([[0],
            [3]]), tensor([2]))
    >>> tg.multiply(graph, torch.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([5., 4., 4., 0.])
    """
    check_edge_operation(edge)
    if isinstance(b, Graph):
        if mask is not None and not isinstance(mask, Graph):
            raise ArgumentError(f"mask: the product of two graphs takes a Graph, got {type(mask).__name__}")
        return _multiply_graphs(a, b, reduce, edge, mask, complement, backend)
    if mask is not None and (not isinstance(mask, Tensor) or mask.dtype != torch.bool):
        raise ArgumentError("mask: the product with a tensor takes the rows to compute, a bool tensor [n]")
    return _multiply_dense(a, b, reduce, edge, None if mask is None else mask ^ complement)


def _multiply_dense(a: Graph, b: Tensor, reduce: str, edge: str, mask: Tensor | None) -> Tensor:
    """The product with a tensor: what the vertices would receive along the reversed arcs."""
    reverse = a.transpose()
    weights: float | None = None
    if edge != "copy" and a.weight_dtype is None:
        edge, weights = ("copy", None) if edge == "mul" else (edge, 1)
    if mask is None:
        return aggregate(reverse, b, reduce, edge=edge, weights=weights)
    rows = a.select(mask, "mask").ids
    sub = Subgraph(reverse, reverse.everything(), "pull", rows, a.selection(rows), mirrored=True)
    received = aggregate(sub, b, reduce, edge=edge, weights=weights).values
    identity = reduction_of(reduce).identity(received.dtype)
    return torch.full(
        (a.num_vertices, *received.shape[1:]), identity, dtype=received.dtype, device=a.device
    ).index_copy(0, rows, received)


def _multiply_graphs(
    a: Graph, b: Graph, reduce: str, edge: str, mask: Graph | None, complement: bool, backend: str
) -> Graph:
    if reduce not in REDUCTIONS:
        raise ArgumentError(f"reduce: {reduce!r} is not one of {', '.join(map(repr, REDUCTIONS))}")
    for name, graph in (("b", b), ("mask", mask)):
        if graph is not None and graph.num_vertices != a.num_vertices:
            raise ArgumentError(
                f"{name}: a matrix of {graph.num_vertices} vertices does not fit one of {a.num_vertices}"
            )
        if graph is not None and graph.device != a.device:
            raise ArgumentError(f"{name}: on {graph.device} while a is on {a.device}; use graph.to")
    dtype = None if reduce == "any" else _common_dtype(a, b)
    if dtype == torch.int64:
        _check_integers(a, b, reduce, edge, mask, complement, backend)
    left, right = _matrix(a, dtype), _matrix(b, dtype)
    only = None if mask is None else _pattern(mask)
    if only is not None and not complement and _is_cheaper_by_pairs(a, b, cast(Graph, mask)):
        found = _by_pairs(a, b, left, reduce, edge, dtype, only, backend)
    else:
        run = spgemm.spgemm.with_backend(backend)
        found = run(left, right, "max" if reduce == "any" else reduce, edge, dtype, only, complement)
    values = found.values
    if values is not None and (narrow := _narrow(a, b)) is not None:
        values = values.to(narrow)
    square = a is b and not a.directed and edge != "copy" and (mask is None or not mask.directed)
    return Graph(found.offset, found.columns, values, vertices=a.vertices, directed=not square)


def _check_integers(
    a: Graph, b: Graph, reduce: str, edge: str, mask: Graph | None, complement: bool, backend: str
) -> None:
    """Raise ArgumentError where entries of a product of integers may not fit int64: by their ranges, and where these do
    not tell, by the product of the magnitudes in float64."""
    first, second = (int(max(map(abs, graph.weight_range))) for graph in (a, b))
    message = {"mul": first * second, "add": first + second, "copy": second}.get(edge, max(first, second))
    terms = 1
    if reduce in ("sum", "prod") and a.num_arcs and b.num_arcs:
        terms = int(a.out_degree.max()) * int(b.out_degree.max())  # parallel arcs of both meet in one entry
    if (message * terms if reduce != "prod" else message ** min(terms, 64)) <= sums.MOST or not b.num_arcs:
        return
    wide = _magnitudes(a), _magnitudes(b)
    edge, reduce = (edge if edge in ("mul", "add") else "max"), (reduce if reduce in ("sum", "prod") else "max")
    found = _multiply_graphs(*wide, reduce, edge, mask, complement, backend).weights
    largest = float(found.max()) if found is not None and len(found) else 0.0
    if largest >= 2.0**63 * (1 - 2**-20):
        raise ArgumentError(f"a, b: entries as large as {largest:.6g} may not fit int64; give a or b float64 weights")


def _magnitudes(graph: Graph) -> Graph:
    arcs = graph.decoded()
    weights = torch.ones(arcs.num_arcs, device=arcs.device) if arcs.weights is None else arcs.weights
    return Graph(arcs.offset, arcs.neighbors, weights.to(torch.float64).abs(), directed=arcs.directed)


def _by_pairs(
    a: Graph,
    b: Graph,
    left: SparseMatrix,
    reduce: str,
    edge: str,
    dtype: torch.dtype | None,
    mask: SparseMatrix,
    backend: str,
) -> SparseMatrix:
    """The product at the entries of a mask, each from a row of `a` and one of the transpose of `b`."""
    offset, columns, _ = sorting.merge_parallel(mask.offset, mask.columns, None, "first")
    counted = dtype or torch.int64
    right = _matrix(b.transpose_detached(), dtype)
    reduce = "max" if reduce == "any" else reduce
    values, meets = dot.dot_pairs.with_backend(backend)(left, right, None, offset, columns, reduce, edge, counted)
    if not bool(meets.all()):
        before = torch.cat((offset.new_zeros(1), meets.cumsum(0)))
        offset, columns, values = before[offset], columns[meets], values[meets]
    return SparseMatrix(offset, columns, None if dtype is None else values)


def _is_cheaper_by_pairs(a: Graph, b: Graph, mask: Graph) -> bool:
    """Whether a product of two rows for each arc of the mask takes fewer steps than the whole product, by a sample."""
    a, b, mask = a.decoded(), b.decoded(), mask.decoded()
    weighted = a.weight_dtype is not None or b.weight_dtype is not None
    cost = TERMS_PER_STEP * (WITH_WEIGHTS if weighted else 1)
    stride, others = _stride(a), a.neighbors[:: _stride(a)]
    terms = stride * int(b.out_degree.index_select(0, others).sum())
    if cost * mask.num_arcs >= terms:
        return False
    stride = _stride(mask)
    arcs = torch.arange(0, mask.num_arcs, stride, device=mask.device)
    source = torch.searchsorted(mask.offset, arcs, right=True) - 1
    length, other = a.out_degree.index_select(0, source), b.in_degree.index_select(0, mask.neighbors[::stride])
    if cost * (stride * int(torch.minimum(length, other).sum()) + mask.num_arcs) > terms:
        return False
    return not (sorting.has_parallel_arcs(a.offset, a.neighbors) or sorting.has_parallel_arcs(b.offset, b.neighbors))


def _stride(graph: Graph) -> int:
    """Every how many arcs one is in a sample."""
    return -(-graph.num_arcs // SAMPLE) or 1


def _matrix(graph: Graph, dtype: torch.dtype | None) -> SparseMatrix:
    """The arcs with their weights in a dtype, without weights for None."""
    arcs = graph.decoded()
    weights = None if arcs.weights is None or dtype is None else arcs.weights.detach().to(dtype).contiguous()
    return _pattern(arcs)._replace(values=weights)


def _pattern(graph: Graph) -> SparseMatrix:
    arcs = graph.decoded()
    arcs.ensure_valid()
    return SparseMatrix(arcs.offset.contiguous(), arcs.neighbors.contiguous())


def _narrow(a: Graph, b: Graph) -> torch.dtype | None:
    """The 16-bit dtype of the product, None for others."""
    common = _promoted(a, b)
    return common if common in (torch.float16, torch.bfloat16) else None


def _common_dtype(a: Graph, b: Graph) -> torch.dtype:
    """The dtype in which two matrices are multiplied."""
    common = _promoted(a, b)
    if not common.is_floating_point:
        return torch.int64
    return torch.float32 if common in (torch.float16, torch.bfloat16) else common


def _promoted(a: Graph, b: Graph) -> torch.dtype:
    dtypes = [dtype for dtype in (a.weight_dtype, b.weight_dtype) if dtype is not None]
    return torch.promote_types(dtypes[0], dtypes[-1]) if dtypes else torch.int64
