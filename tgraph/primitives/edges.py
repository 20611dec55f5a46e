"""The arcs of a graph part by part. An operation on the two ends of each edge (SDDMM) and the softmax over the edges of
each target, to compose attention of other kinds than `tgraph.primitives.attention` has, which materialises neither.

Results have a row for each edge, in the order that `arcs.permutation` gives. Both are compositions of differentiable
operators and work under torch.compile and torch.func. Sums add in the order of the arcs on every device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.autograd.segments import add_at, take
from tgraph.kernels.layout.arcs import parts
from tgraph.kernels.operators.aggregation.segments import scatter
from tgraph.kernels.reductions import REDUCTIONS


class Arcs(NamedTuple):
    """Consecutive arcs: source int64 [e], target int32 or int64 [e], weights [e] or None; `first` says how many the
    graph has before them, and `rows` which vertices they leave.

    >>> (arcs,) = tg.primitives.edges.in_parts(tg.Graph.from_edges([0, 0], [1, 2], [5.0, 6.0]))
    >>> arcs.source, arcs.weights, arcs.first, arcs.rows
    (tensor([0, 0]), tensor([5., 6.], dtype=torch.float64), 0, slice(0, 3, None))
    """

    source: Tensor
    target: Tensor
    weights: Tensor | None
    first: int
    rows: slice


def in_parts(graph: Graph) -> Iterator[Arcs]:
    """All arcs in their order: at once of a graph in CSR, and else by rows that are decoded some after others.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2]).to_format("elias_fano")
    >>> [(arcs.source.tolist(), arcs.target.tolist()) for arcs in tg.primitives.edges.in_parts(graph)]
    [([0, 0, 1], [1, 2, 2])]
    >>> "arcs" in graph.caches
    False
    """
    if graph.layout is None or graph.storage.is_distributed:
        graph = graph.decoded()
        everything = slice(0, graph.num_vertices)
        yield Arcs(sorting.expand_rows(graph.offset), graph.neighbors, graph.weights, 0, everything)
        return
    for rows, arcs in parts(graph, None, graph.layout.arcs_at_once):
        offset, target, weights = graph.storage.rows(rows)
        low = int(rows[0]) if len(rows) else 0
        yield Arcs(sorting.expand_rows(offset) + low, target, weights, arcs.start, slice(low, low + len(rows)))


def pieces(graph: Graph) -> list[Graph]:
    """Valid graphs on the same vertices that have all arcs of this one among them, for what does not count them: of a
    snapshot of a store, before anything has its changes merged, the merged arcs and the later ones, in two graphs
    without weights, of which the second has its rows in the order of time. Else the graph itself.

    >>> store = tg.dynamic.Store()
    >>> store.insert([0, 1], [1, 2])
    1
    >>> tg.primitives.edges.pieces(store.snapshot())
    [Graph(3 vertices, 0 edges, directed, 32 B, cpu), Graph(3 vertices, 2 edges, directed, 40 B, cpu)]
    """
    found = [graph]
    if isinstance(graph.storage, Csr) and len(storages := graph.storage.pieces()) > 1:
        found = [Graph.of_storage(each, graph._ids, graph.directed) for each in storages]
    for each in found:
        each.ensure_valid()
    return found


def u_op_v(arcs: Csr | Graph, operation: str, source: Tensor, target: Tensor) -> Tensor:
    """The operation on the data of the source and of the target of each edge.

    arcs : `Csr`, whose rows are the targets, or a graph, whose edges are its arcs in their order. operation : "add",
    "sub", "mul" or "div", elementwise and broadcast, or "dot", the product summed over the last dimension. source :
    [n_src, ...]. target : [n_dst, ...]. Returns [E, ...].
    Raises ArgumentError for an unknown operation, and tensors that have not a row for each source or target, do not
    broadcast, or are on another device than the arcs.

    >>> from tgraph.primitives import edges
    >>> arcs = edges.Csr(torch.tensor([0, 2]), torch.tensor([0, 1]), None, num_columns=2)
    >>> edges.u_op_v(arcs, "sub", torch.tensor([10.0, 20.0]), torch.tensor([1.0]))
    tensor([ 9., 19.])
    """
    arcs = _by_target(arcs)
    if operation not in OPERATIONS:
        raise ArgumentError(f"operation: {operation!r} is not one of {', '.join(map(repr, OPERATIONS))}")
    _check_rows("source", source, arcs.num_columns, arcs)
    _check_rows("target", target, arcs.num_rows, arcs)
    try:
        dims = len(torch.broadcast_shapes(source.shape[1:], target.shape[1:]))
    except RuntimeError:
        raise ArgumentError(
            f"source, target: {list(source.shape)} and {list(target.shape)} do not broadcast beyond the first dimension"
        ) from None
    if operation == "dot" and not dims:
        raise ArgumentError("source, target: 'dot' sums over the last dimension, these have none; use 'mul'")
    u, v = _ends(source, dims, arcs.neighbors), _ends(target, dims, arcs.row_of_arc())
    return _of_edges(OPERATIONS[operation](u, v), arcs)


def edge_softmax(arcs: Csr | Graph, score: Tensor) -> Tensor:
    """The softmax of the scores over the edges that lead to each target.

    arcs : as for `u_op_v`. score : floating, [E, ...]. Returns the same shape.
    Raises ArgumentError for scores that are no floating tensor with a row for each edge.

    >>> from tgraph.primitives import edges
    >>> arcs = edges.Csr(torch.tensor([0, 2, 3]), torch.tensor([0, 1, 0]), None, num_columns=2)
    >>> edges.edge_softmax(arcs, torch.tensor([1.0, 1.0, 5.0]))
    tensor([0.5000, 0.5000, 1.0000])
    """
    arcs = _by_target(arcs)
    _check_rows("score", score, arcs.num_arcs, arcs)
    if not score.is_floating_point():
        raise ArgumentError(f"score: expected a floating tensor, got {score.dtype}; use score.float()")
    row, wide = arcs.row_of_arc(), score.to(_wide(score.dtype))
    wide = wide if arcs.permutation is None else wide.index_select(0, arcs.permutation)
    best = scatter(wide.detach(), row, arcs.num_rows, REDUCTIONS["max"])
    power = (wide - take(torch.where(best == -torch.inf, 0, best), row)).exp()
    alpha = power / take(add_at(power, row, arcs.num_rows), row)
    return _of_edges(alpha.to(score.dtype), arcs)


def _by_target(arcs: Csr | Graph) -> Csr:
    """The arcs by their targets; those of a graph with their numbers."""
    if isinstance(arcs, Csr):
        return arcs
    if not isinstance(arcs, Graph):
        raise ArgumentError(f"arcs: expected a Csr or a Graph, got {type(arcs).__name__}")
    graph = arcs.decoded() if arcs.layout is None else arcs.to_csr()
    received = arcs.transpose().decoded()
    return Csr(received.offset, received.neighbors, graph.transpose_permutation, arcs.num_vertices)


def _dot(u: Tensor, v: Tensor) -> Tensor:
    dtype = torch.promote_types(u.dtype, v.dtype)
    wide = _wide(dtype)
    return (u * v).sum(-1) if wide == dtype else (u.to(wide) * v.to(wide)).sum(-1).to(dtype)


OPERATIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "dot": _dot,
}


def _wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype that 16-bit floats are summed in."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def _ends(data: Tensor, dims: int, vertex: Tensor) -> Tensor:
    """Rows of the data [n, ...] by vertex, [E, ...] of 1 + dims dimensions."""
    return take(data.reshape(data.shape[0], *(1,) * (dims + 1 - data.dim()), *data.shape[1:]), vertex)


def _of_edges(of_arcs: Tensor, arcs: Csr) -> Tensor:
    """Data [E, ...] of the arcs in the order of the edges."""
    if arcs.permutation is None:
        return of_arcs
    return torch.empty_like(of_arcs).index_copy(0, arcs.permutation, of_arcs)


def _check_rows(name: str, tensor: Tensor, rows: int, arcs: Csr) -> None:
    if isinstance(tensor, Tensor) and tensor.device != arcs.device:
        raise ArgumentError(f"{name}: on {tensor.device} while the arcs are on {arcs.device}; use {name}.to")
    if not isinstance(tensor, Tensor) or not tensor.dim() or tensor.shape[0] != rows:
        got = list(tensor.shape) if isinstance(tensor, Tensor) else type(tensor).__name__
        raise ArgumentError(f"{name}: expected a tensor [{rows}, ...], got {got}")
