"""Materialised messages, a row for each edge in the order of the rows of an adjacency, and their reduction: for layers
with messages not linear in the features of sources, without a fused aggregate. They take O(E) memory per column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

import torch
from torch import Tensor
from torch.nn.functional import pad

from tgraph.core.building.sorting import index_dtype
from tgraph.core.rows import Selection
from tgraph.core.system.library import in_functorch, is_plain
from tgraph.kernels.autograd import pull_push
from tgraph.kernels.autograd.segments import add_at, segment_reduce, take
from tgraph.kernels.messages import column
from tgraph.kernels.operators.aggregation.segments import reduce_segments
from tgraph.kernels.reductions import REDUCTIONS
from tgraph.model.operators import backend_by_name
from tgraph.nn.adjacency import Adjacency, GraphAdjacency

FEW = 1 << 19  # elements of messages, up to which index_add_ is faster than sorting and a segmented sum


def reduced_in_layout(
    adjacency: Adjacency,
    data: dict[str, Tensor],
    message: Callable[..., Tensor],
    reduce: str,
    edge_attr: Tensor | None = None,
) -> Tensor | None:
    """The reduction of message(data of sources, data of targets), or of these and the features of edges, for a graph in
    a layout: of some arcs at a time, and again in a backward; None for others, and where all arcs would be decoded.
    `data` : [n, ...] each. edge_attr : [E, ...]. `message` goes over the arcs one by one."""
    if not reduces_in_layout(adjacency, reduce, edge_attr is not None):
        return None
    return zero_unreached(adjacency, adjacency.over_layout(data, reduce, message, edge_attr), reduce)


def reduces_in_layout(adjacency: Adjacency, reduce: str, of_edges: bool) -> TypeGuard[GraphAdjacency]:
    """Whether messages, or those of data of edges, are reduced in the layout of a graph without decoding all arcs."""
    if not isinstance(adjacency, GraphAdjacency) or torch.compiler.is_compiling() or in_functorch():
        return False
    if adjacency.graph.layout is None or adjacency.graph.storage.is_distributed:
        return False
    return not of_edges or adjacency.reverse or reduce in ("sum", "mean")


def zero_unreached(adjacency: Adjacency, received: Tensor, reduce: str) -> Tensor:
    """What targets received, [num_targets, ...], with 0 in place of the identity of a minimum or maximum."""
    if reduce not in ("min", "max") or adjacency.unreached is None:
        return received
    return received.masked_fill(column(adjacency.unreached[:, 0], received), 0)


class Unsorted:
    """Edges in the user's order, for few messages: index_add_ sums in this order on any number of threads."""

    def __init__(self, adjacency: Adjacency):
        self.adjacency = adjacency
        self.source: Tensor = adjacency.source
        self.target: Tensor = adjacency.target
        self.num_targets: int = adjacency.num_targets


def in_best_order(adjacency: Adjacency, x: Tensor, reduce: str) -> Adjacency | Unsorted:
    """The edges in the order for messages with the columns of x [num_sources, ...]: by rows, or in the user's order for
    a mini-batch that has not been sorted."""
    if (
        type(adjacency) is not Adjacency
        or adjacency.csr is not None
        or reduce not in ("sum", "mean")
        or x.dim() != 2
        or x.dtype not in (torch.float32, torch.float64)
        or adjacency.source.shape[0] * x.shape[1] > FEW
        or not is_plain(x, adjacency.source)
        or backend_by_name() != "auto"
    ):
        return adjacency
    return Unsorted(adjacency)


def at_sources(adjacency: Adjacency | Unsorted, x: Tensor) -> Tensor:
    """Rows of x [num_sources, ...] by the source of each arc, [E, ...]."""
    if isinstance(adjacency, Unsorted):
        return _rows(adjacency, x, adjacency.source)
    return take(x, adjacency.arcs(of_edges=False).neighbors)


def at_targets(adjacency: Adjacency | Unsorted, x: Tensor) -> Tensor:
    """Rows of x [num_targets, ...] by the target of each arc, [E, ...]."""
    if isinstance(adjacency, Unsorted):
        return _rows(adjacency, x, adjacency.target)
    return take(x, _targets(adjacency))


def _rows(edges: Unsorted, x: Tensor, index: Tensor) -> Tensor:
    try:
        return x.index_select(0, index)
    except (IndexError, RuntimeError):
        edges.adjacency.check_ends()  # raises a better error
        raise


def _targets(adjacency: Adjacency) -> Tensor:
    """The target of each arc, [E]."""
    if torch.compiler.is_compiling():  # repeating rows would make their number a constant
        return adjacency.in_row_order(adjacency.target)
    return adjacency.arcs(of_edges=False).row_of_arc()


def joined(edges: Adjacency | Unsorted, made: Tensor, other: Tensor) -> Tensor:
    """The sum of two parts of messages, in place of the temporary `made` where autograd does not need it."""
    if isinstance(edges, Unsorted) and made.dtype == other.dtype:
        return made.add_(other)
    return made + other


def of_edges(adjacency: Adjacency | Unsorted, edge_attr: Tensor, like: Tensor) -> Tensor:
    """Edge features [E, columns] in the order of messages, broadcastable to `like` [n, ..., columns]."""
    if isinstance(adjacency, Unsorted):
        return edge_attr
    return adjacency.in_row_order(edge_attr).reshape(-1, *(1,) * (like.dim() - 2), edge_attr.shape[-1])


def reduced(adjacency: Adjacency | Unsorted, messages: Tensor, reduce: str) -> Tensor:
    """The reduction of the messages [E, ...] of each target, [num_targets, ...]; 0 without any.

    reduce : "sum", "mean", "min" or "max".
    """
    if isinstance(adjacency, Unsorted):
        return _added(adjacency, messages, reduce == "mean")
    offset = adjacency.arcs(of_edges=False).offset
    name = "sum" if reduce == "mean" else reduce
    if (backend := backend_by_name()) != "auto":
        out = _by_backend(messages, offset, name, backend)
    elif torch.compiler.is_compiling() and name == "sum":
        out = add_at(messages, _targets(adjacency), adjacency.num_targets)
    elif in_functorch():  # without rules for custom operators
        out = reduce_segments(messages, offset, REDUCTIONS[name])
    else:
        out = segment_reduce(messages, offset, name)
    if reduce == "sum":
        return out
    degree = offset.diff().reshape(-1, *(1,) * (out.dim() - 1))
    if reduce == "mean":
        return out / degree.clamp(min=1)
    return out.masked_fill(degree == 0, 0)


def _by_backend(messages: Tensor, offset: Tensor, reduce: str, backend: str) -> Tensor:
    """The reduction of each segment as an aggregate, of as many senders of one arc each."""
    count, receivers = len(messages), len(offset) - 1
    offset = pad(offset, (0, max(count - receivers, 0)), value=count)  # as many vertices receive as send
    sent = pad(messages.flatten(1), (0, 0, 0, max(receivers - count, 0)))
    arcs = Selection(offset, torch.arange(count, dtype=index_dtype(count), device=messages.device))
    out = pull_push.pull(sent, None, None, arcs, None, None, None, reduce, "copy", backend)
    return out[:receivers].view(receivers, *messages.shape[1:])


def _added(edges: Unsorted, messages: Tensor, mean: bool) -> Tensor:
    out = messages.new_zeros((edges.num_targets, *messages.shape[1:]))
    try:
        out = out.index_add_(0, edges.target, messages)
    except (IndexError, RuntimeError):
        edges.adjacency.check_ends()
        raise
    if not mean:
        return out
    degree = torch.bincount(edges.target, minlength=edges.num_targets)
    return out / degree.clamp_(min=1)[:, None]
