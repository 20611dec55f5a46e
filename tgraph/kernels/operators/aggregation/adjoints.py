"""The operators that gradients of an aggregate need beside the aggregate, in torch operators.

Here `sub` is the arcs alone: data of its rows is [k, columns] and numbered like the rows held, data of the vertices
[n, columns], and weights are [arcs, heads], each of them for columns / heads adjacent columns.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import chosen_operator, optional_operator
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.messages import send
from tgraph.kernels.operators.aggregation.aggregation import column, reduce_slots
from tgraph.kernels.operators.aggregation.segments import scatter
from tgraph.kernels.reductions import REDUCTIONS, Reduction


@chosen_operator
def push_rows(sub: Subgraph, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
    """The reduction, at every vertex, of the messages that rows with the given data send: [n, columns]."""
    narrow = data.dtype in (torch.float16, torch.bfloat16)
    wide = data.float() if narrow else data
    messages = send(wide.index_select(0, sub.row_of_arc), edge, weights)
    slot, n = sub.neighbors.to(torch.int64), sub.graph.num_vertices
    if reduction.name == "mean":
        total = reduce_slots(messages, slot, n, REDUCTIONS["sum"])
        count = torch.bincount(slot, minlength=n).clamp(min=1)
        return (total / column(count, total)).to(data.dtype)
    received = reduce_slots(messages, slot, n, reduction)
    return received != 0 if reduction.logical else received.to(data.dtype)


@chosen_operator
def products(sub: Subgraph, row_data: Tensor, data: Tensor, heads: int) -> Tensor:
    """For each arc the product of its row's data [k, columns] and its neighbour's [n, columns], summed over the
    columns of each head: [arcs, heads]. 0 where the neighbour is not active."""
    wide = torch.float32 if data.dtype in (torch.float16, torch.bfloat16) else data.dtype
    product = row_data.index_select(0, sub.row_of_arc).to(wide) * data.index_select(0, sub.neighbors).to(wide)
    span = data.shape[1] // max(heads, 1)
    product = product.reshape(len(product), heads, span).sum(2).to(data.dtype)
    if sub.sends_partly:
        product = product.masked_fill(~sub.active.mask.index_select(0, sub.neighbors)[:, None], 0)
    return product


@chosen_operator
def argreduce(
    sub: Subgraph, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None, best: Tensor
) -> tuple[Tensor, Tensor]:
    """Which message each receiver took, by column: (sender, arc), int64 and of the shape of `best`, what was received.

    The first of equal ones; -1 where there was none. The senders are vertices in a pull and rows in a push.
    """
    row, neighbor = sub.row_of_arc, sub.neighbors.to(torch.int64)
    sender, receiver = (neighbor, row) if sub.mode == "pull" else (row, neighbor)
    messages, best = send(data.index_select(0, sender), edge, weights), best.index_select(0, receiver)
    wins = (messages == best) | (messages.isnan() & best.isnan())
    if sub.sends_partly:
        wins &= sub.active.mask.index_select(0, neighbor)[:, None]
    count, receivers = len(sender), sub.graph.num_vertices if sub.mode == "push" else len(sub.offset) - 1
    number = torch.arange(count, device=data.device)[:, None]
    arc = scatter(torch.where(wins, number, count), receiver, receivers, REDUCTIONS["min"])
    none = arc >= count
    if not count:
        return torch.full_like(arc, -1), torch.full_like(arc, -1)
    sender = sender[arc.clamp(max=count - 1)].masked_fill(none, -1)
    return sender, arc.masked_fill(none, -1)


@optional_operator
def segment_argreduce(sub: Subgraph, data: Tensor, reduction: Reduction) -> tuple[Tensor, Tensor]:
    """A min or max of data [n, columns] by rows, and by which of its arcs each row received it, counted from 0, -1 for
    rows without arcs: int32, int64 for data of 64 bits. The first of equal ones."""
    raise NotImplementedError


@optional_operator
def scatter_argreduce(sub: Subgraph, grad: Tensor, index: Tensor) -> Tensor:
    """The gradient of `segment_argreduce` by its `index`, [n, columns]."""
    raise NotImplementedError
