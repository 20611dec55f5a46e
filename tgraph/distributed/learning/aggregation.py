"""`tgraph.aggregate` over a distributed graph for the data of own vertices, and with gradients."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system.library import needs_grad
from tgraph.distributed.data.sharded import Sharded, from_local
from tgraph.distributed.learning.mirrors import with_mirrors
from tgraph.distributed.ranks.ownership import Ownership
from tgraph.errors import ArgumentError
from tgraph.kernels.messages import across, column, columns_of
from tgraph.kernels.reductions import REDUCTIONS, check_edge_operation, reduction_of
from tgraph.model import operators

NARROW = (torch.float16, torch.bfloat16)  # they are added up in float32


def aggregate(
    graph: Graph,
    layout: Any,
    data: Tensor,
    reduce: str,
    edge: str,
    weights: Tensor | float | None,
    dtype: torch.dtype | None,
) -> Tensor | None:
    """The aggregate of every vertex, for plain `data` [k, ...] of the own vertices of this rank, as plain [k, ...]; or
    for sharded data [n, ...] that needs a gradient, sharded. None for anything else, which needs no gradients.

    layout : the `tgraph.distributed.layout.Distributed` of the graph. The other arguments are those of
    `tgraph.aggregate`. The gradient of a sum or mean is a sum over the transpose: in both directions the arcs inside a
    part are computed while values travel. Other reductions that need a gradient, and edge operations that are not
    linear, take the arcs of this rank as one graph, which is cached. To be called by all ranks, in the same order.
    Raises ArgumentError as `tgraph.aggregate` does.
    """
    if not isinstance(data, Tensor):
        return None
    if isinstance(weights, Tensor):
        if isinstance(data, Sharded) or not _is_own(data, layout.ownership):
            return None
        spread: Any = from_local(data, layout.ownership)
        received: Any = operators.aggregate(graph, spread, reduce, edge=edge, weights=weights, dtype=dtype)
        return received.to_local()
    if isinstance(data, Sharded):
        if not needs_grad(data):
            return None
        found = aggregate(graph, layout, data.to_local(), reduce, edge, weights, dtype)
        return None if found is None else from_local(found, data.ownership)
    held = layout.ownership
    if not _is_own(data, held):
        return None
    if not needs_grad(data):
        received = operators.aggregate(graph, Sharded(data, held), reduce, edge=edge, weights=weights, dtype=dtype)
        return received.to_local()
    reduction = reduction_of(reduce)
    check_edge_operation(edge)
    layout.check_whole_rows()
    _check(layout, reduce, edge, weights, dtype)
    if weights is not None and edge != "copy":
        data, edge = across(data, edge, weights), "copy"
    rows: Any = graph.transpose_detached().layout
    linear = reduction.name in ("sum", "mean") and edge in ("copy", "mul", "add")
    if linear and (dtype is None or dtype.is_floating_point):
        return _added(rows, data, reduction.name == "mean", edge, dtype)
    found = operators.aggregate(rows.local_arcs[0], with_mirrors(rows.part, data), reduce, edge=edge, dtype=dtype)
    return found[: held.num_own]


def _is_own(data: Tensor, held: Ownership) -> bool:
    """Whether plain data is that of the own vertices, decided by all ranks: a rank that owns all vertices cannot tell,
    and takes the answer of the others. Data that may be either on all ranks is their own."""
    rows, n = data.shape[:1], held.num_rows
    if n not in [end - first for first, end in itertools.pairwise(held.starts)]:
        return rows == (held.num_own,)
    is_own, is_whole = rows == (held.num_own,), rows == (n,)
    sure = held.sum(torch.tensor([is_own and not is_whole, is_whole and not is_own], dtype=torch.int64, device="cpu"))
    return is_own and (bool(sure[0]) or not bool(sure[1]))


def _check(layout: Any, reduce: str, edge: str, weights: Any, dtype: torch.dtype | None) -> None:
    if edge != "copy" and weights is None and layout.weight_dtype is None:
        raise ArgumentError(f"edge: {edge!r} needs weights, and the graph has none; give weights= a number")
    if dtype is not None and reduce not in ("sum", "mean", "prod"):
        raise ArgumentError(f"dtype: {reduce!r} keeps the dtype of its data; dtype= is for sum, mean and prod")


def _added(rows: Any, data: Tensor, mean: bool, edge: str, dtype: torch.dtype | None) -> Tensor:
    """The sum, or mean, by rows of data that needs a gradient."""
    dtype = data.dtype if dtype is None else dtype
    if edge != "copy" and rows.weight_dtype is not None:
        dtype = torch.promote_types(dtype, rows.weight_dtype)
    sent = columns_of(data).to(torch.float32 if dtype in NARROW else dtype)
    received = _Sum.apply(sent.contiguous(), rows, edge)
    if mean:
        received = received / column(rows.part.degree.clamp(min=1).to(received.dtype), received)
    return received.to(dtype).reshape(data.shape)


class _Sum(torch.autograd.Function):
    """A sum over the rows of all ranks, whose gradient is one over the rows of the transpose."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, rows: Any, edge: str) -> Tensor:
        ctx.rows, ctx.edge = rows, edge
        return rows.pull_own(data, REDUCTIONS["sum"], edge)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        factor = "mul" if ctx.edge == "mul" else "copy"  # the derivative of x * w, and of x and x + w
        return _Sum.apply(gradients[0].contiguous(), ctx.rows.transposed(), factor), None, None
