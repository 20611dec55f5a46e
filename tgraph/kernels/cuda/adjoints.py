"""The operators that gradients of an aggregate need beside the aggregate, by CUDA kernels.

What vertices receive from rows is pulled by the vertices, so that sums do not depend on which thread comes first: all
arcs along the transpose, those of some rows in an order of their own, sorted by receiver.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from tgraph.core.subgraph import Subgraph
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import pull as pulling
from tgraph.kernels.cuda import sddmm
from tgraph.kernels.cuda.aggregation import HELD_AS_INT32, by_receiver, reduced, rows_of
from tgraph.kernels.cuda.pull import TYPES, Rows
from tgraph.kernels.messages import Messages
from tgraph.kernels.reductions import Reduction


def refuses(call: Call) -> str | None:
    """Why a call is left to the portable operators, None where it is not."""
    dtype, pushes = call.data.dtype, call.operation == "push_rows"
    if type(call.data) not in (Tensor, torch.nn.Parameter):
        return "it needs plain tensors, not a subclass"
    if dtype not in sddmm.FLOATS and not (pushes and (dtype in TYPES or dtype in HELD_AS_INT32)):
        return f"it has no kernel for gradients of {dtype}"
    return None


def push_rows(sub: Subgraph, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
    """As the portable `push_rows`; floating sums add in an order that depends on the arcs and columns alone."""
    rows, _, weights = _receivers(sub, weights)
    messages = Messages(data, "copy" if weights is None else edge, weights, data.shape[1:])
    values = reduced(rows, messages, reduction)
    return values != 0 if reduction.logical else values.to(data.dtype)


def products(sub: Subgraph, row_data: Tensor, data: Tensor, heads: int) -> Tensor:
    """As the portable `products`."""
    return sddmm.products(sub.selection, sub.active_mask, row_data.to(data.dtype), data, heads)


def argreduce(
    sub: Subgraph, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None, best: Tensor
) -> tuple[Tensor, Tensor]:
    """As the portable `argreduce`. What was received is found once more, with the arc that brought it."""
    if sub.mode == "pull":
        rows, order = cast(Rows, rows_of(sub, None)[0]), None
    else:
        rows, order, weights = _receivers(sub, weights)
    edge, identity = "copy" if weights is None else edge, reduction.identity(data.dtype)
    arc = cast(
        Tensor, pulling.pull(rows, data, reduction.name, edge, weights, identity=identity, argreduce=True)[1]
    ).reshape(best.shape)
    if not len(rows.neighbors):
        return arc.clone(), arc
    none, place = arc < 0, arc.clamp(min=0)
    stored = place
    if rows.shift is not None:
        stored = (place + rows.shift[:, None]).masked_fill(none, 0)
    sender = rows.neighbors[stored].to(torch.int64).masked_fill(none, -1)
    return sender, arc if order is None else order[place].masked_fill(none, -1)


def _receivers(sub: Subgraph, weights: Tensor | None) -> tuple[Rows, Tensor, Tensor | None]:
    """The vertices that receive from rows whose data is numbered as the rows held are, the number of each of their arcs
    among those held, and the weights in the order of their arcs."""
    if sub.selection.is_whole and sub.graph.directed and not sub.mirrored:  # whose transpose keeps the order of arcs
        rows, held = rows_of(sub, weights)
        return cast(Rows, rows), sub.graph.transpose_permutation, cast(Tensor | None, held)
    rows, order = by_receiver(sub, sub.neighbors, sub.graph.num_vertices)
    return rows, order, None if weights is None else weights.index_select(0, order)
