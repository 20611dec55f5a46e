"""Messages of edges, a row for each in the order of the rows of an adjacency, and their reduction: for layers whose
messages are not linear in the features of sources, which no fused aggregate serves. They take O(E) memory per column.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.system.library import in_functorch
from tgraph.kernels.autograd.segments import add_at, reduce_segments, segment_reduce, take
from tgraph.kernels.reductions import REDUCTIONS
from tgraph.nn.adjacency import Adjacency


def at_sources(adjacency: Adjacency, x: Tensor) -> Tensor:
    """Rows of x [num_sources, ...] by the source of each arc, [E, ...]."""
    return take(x, adjacency.arcs(of_edges=False).neighbors)


def at_targets(adjacency: Adjacency, x: Tensor) -> Tensor:
    """Rows of x [num_targets, ...] by the target of each arc, [E, ...]."""
    return take(x, _targets(adjacency))


def _targets(adjacency: Adjacency) -> Tensor:
    """The target of each arc, [E]."""
    if torch.compiler.is_compiling():  # to repeat rows would make their number a constant
        return adjacency.in_row_order(adjacency.target)
    return adjacency.arcs(of_edges=False).row_of_arc()


def of_edges(adjacency: Adjacency, edge_attr: Tensor, like: Tensor) -> Tensor:
    """Edge features [E, columns] in the order of the rows, with dimensions of 1 to fit `like` [n, ..., columns]."""
    return adjacency.in_row_order(edge_attr).reshape(-1, *(1,) * (like.dim() - 2), edge_attr.shape[-1])


def reduced(adjacency: Adjacency, messages: Tensor, reduce: str) -> Tensor:
    """The reduction of the messages [E, ...] of each target, [num_targets, ...]; 0 without any.

    reduce : "sum", "mean", "min" or "max".
    """
    offset = adjacency.arcs(of_edges=False).offset
    name = "sum" if reduce == "mean" else reduce
    if torch.compiler.is_compiling() and name == "sum":
        out = add_at(messages, _targets(adjacency), adjacency.num_targets)
    elif in_functorch():  # which has no rules for our operators
        out = reduce_segments(messages, offset, REDUCTIONS[name])
    else:
        out = segment_reduce(messages, offset, name)
    if reduce == "sum":
        return out
    degree = offset.diff().reshape(-1, *(1,) * (out.dim() - 1))
    if reduce == "mean":
        return out / degree.clamp(min=1)
    return out.masked_fill(degree == 0, 0)
