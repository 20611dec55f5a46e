"""The calls of the compiled kernels on the arcs of a selection or subgraph.

Vertex data is [n, columns] here and data of the rows [k, columns]; weights are [arcs, heads], each of them for
columns / heads adjacent columns. Arcs are numbered through in the order of the rows held.
"""

from __future__ import annotations

from typing import overload

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.rows import Scratch, Selection
from tgraph.core.subgraph import Subgraph
from tgraph.core.system.pages import fresh, settle
from tgraph.kernels.native.aggregation.grouping import gathered
from tgraph.kernels.native.base.support import compiled
from tgraph.kernels.reductions import Reduction

PULL = {
    torch.float32: "pull_float32",
    torch.float64: "pull_float64",
    torch.int32: "pull_int32",
    torch.int64: "pull_int64",
    torch.uint8: "pull_uint8",
    torch.float16: "pull_float16",
    torch.bfloat16: "pull_bfloat16",
}
PUSH = {
    torch.float32: "push_float32",
    torch.float64: "push_float64",
    torch.int32: "push_int32",
    torch.int64: "push_int64",
    torch.uint8: "push_uint8",
}
NARROW = (torch.float16, torch.bfloat16)
MUCH = 1 << 12  # receivers, for fewer of which copies take longer than the memory is worth

# The pairs of reduction and edge operation that are served. 16-bit floating numbers have the second ones only, bytes no
# weights; integers are added in 64 bits.
PAIRS = {
    *((reduce, edge) for reduce in ("min", "max") for edge in ("copy", "mul", "add")),
    ("sum", "copy"),
    ("sum", "mul"),
    ("prod", "copy"),
}
NARROW_PAIRS = {(reduce, edge) for reduce in ("sum", "min", "max") for edge in ("copy", "mul")}


KERNEL = {"mean": "sum", "any": "max", "all": "min"}  # what the kernels reduce by, where the name is another


def refuses_pair(dtype: torch.dtype, reduce: str, edge: str) -> str | None:
    """Why messages of a dtype are not reduced by compiled kernels, None where they are."""
    if dtype not in PULL or (dtype == torch.uint8 and edge != "copy"):
        return f"it has no kernel for messages of {dtype}"
    if (KERNEL.get(reduce, reduce), edge) not in (NARROW_PAIRS if dtype in NARROW else PAIRS):
        return f"reduce={reduce!r} with edge={edge!r} is not compiled for {dtype}"
    return None


def structure(selection: Selection) -> tuple[Tensor, Tensor, Tensor | None, int]:
    """The first arguments of every kernel: (neighbors, offset, rows, width), width -1 for all arcs of a row."""
    rows, width = selection.rows, selection.width
    if rows is not None and (rows.dtype != torch.int64 or not rows.is_contiguous()):
        rows = rows.to(torch.int64).contiguous()
    return selection.stored_neighbors, selection.stored_offset, rows, -1 if width is None else width


def pull(
    selection: Selection,
    data: Tensor,
    reduce: str,
    edge: str = "copy",
    weights: Tensor | None = None,
    *,
    active_mask: Tensor | None = None,
    graph: Graph | None = None,
    identity: float = 0,
    mean: bool = False,
    total: torch.dtype | None = None,
    shape: tuple[int, ...] | None = None,
) -> Tensor:
    """The reduction of the messages to each row selected, [k, columns], or [k, *shape] of as many.

    active_mask : the vertices that send, bool [n], or None for all. graph : whose rows are selected, if they are all
        rows of one: it caches what speeds up gathering from its sources. total : float64 adds float32 data, with
        float32 weights, in float64.
    """
    mixes = reduce == "sum" and edge in ("copy", "mul")  # kernels that convert what they read
    if total == torch.float64 and not mixes:
        data = data.double()
    if weights is not None and not mixes:
        weights = weights.to(data.dtype)
    columns = data.shape[1]
    result = fresh((selection.num_rows, *((columns,) if shape is None else shape)), total or data.dtype)
    neighbors, offset, rows, width = structure(selection)
    sent = flat(data)
    if rows is None and width < 0:  # some rows read less than moving all data takes
        if graph is not None and active_mask is None:
            neighbors, sent = gathered(graph, sent)
        settle(sent, neighbors.shape[0])
    kernel = getattr(compiled(), PULL[total or data.dtype])
    kernel(
        neighbors,
        offset,
        rows,
        width,
        active_mask,
        sent,
        columns,
        flat(weights),
        1 if weights is None else weights.shape[1],
        reduce,
        edge,
        number_of(identity, data.dtype),
        mean,
        flat(result),
    )
    return result


def push(
    sub: Subgraph,
    data: Tensor,
    reduce: str,
    edge: str = "copy",
    weights: Tensor | None = None,
    *,
    identity: float = 0,
    scratch: Scratch | None = None,
) -> tuple[Tensor, Tensor | None]:
    """The reduction at every vertex of what rows with data [k, columns] send: ([n, columns], None).

    With a `scratch`, what those received that were reached, in the order in which they were reached first, and who
    they are: ([r, columns], [r]), which costs O(k + arcs) only.
    """
    if data.dtype in NARROW:
        wide = None if weights is None else weights.float()
        values, vertices = push(sub, data.float(), reduce, edge, wide, identity=identity, scratch=scratch)
        return values.to(data.dtype), vertices
    n, columns = sub.graph.num_vertices, data.shape[1]
    room, table, receivers = n, None, None
    if scratch is not None:
        room = min(n, _count(sub.selection))
        table = scratch.slots(sub.selection.stored_neighbors.dtype)
        receivers = torch.empty(room, dtype=torch.int64, device="cpu")
    result = fresh((room, columns), data.dtype)
    reached = getattr(compiled(), PUSH[data.dtype])(
        *structure(sub.selection),
        flat(data),
        columns,
        flat(weights),
        1 if weights is None else weights.shape[1],
        reduce,
        edge,
        number_of(identity, data.dtype),
        flat(result),
        table,
        receivers,
    )
    if receivers is None:
        return result, None
    if reached == room:
        return result, receivers
    result, receivers = result.narrow(0, 0, reached), receivers.narrow(0, 0, reached)
    if room > MUCH and 2 * reached < room:  # what was set aside for more receivers goes back
        return result.clone(), receivers.clone()
    return result, receivers


def _count(selection: Selection) -> int:
    """The number of arcs selected, O(k)."""
    if selection.known_num_arcs is not None:
        return selection.known_num_arcs
    offset, rows, width = selection.stored_offset, selection.rows, selection.width
    degree = offset.diff() if rows is None else offset.index_select(0, rows + 1) - offset.index_select(0, rows)
    return int((degree if width is None else degree.clamp(max=width)).sum())


def products(sub: Subgraph, row_data: Tensor, data: Tensor, heads: int) -> Tensor:
    """For each arc the product of its row's data [k, columns] and its neighbour's [n, columns], summed over the
    columns of each head: [arcs, heads]. 0 where the neighbour is not active."""
    if data.dtype in NARROW:
        return products(sub, row_data.float(), data.float(), heads).to(data.dtype)
    result = torch.empty((_count(sub.selection), heads), dtype=data.dtype, device="cpu")
    arcs, read = (*structure(sub.selection), sub.active_mask), (flat(row_data), flat(data))
    compiled().arc_products(*arcs, *read, data.shape[1], heads, flat(result))
    return result


def argreduce(sub: Subgraph, data: Tensor, edge: str, weights: Tensor | None, best: Tensor) -> tuple[Tensor, Tensor]:
    """Which message each receiver took, by column: (sender, arc), int64 and of the shape of `best`, what was received.

    The first of equal ones; -1 where there was none. The senders are vertices in a pull and rows in a push.
    """
    sender, arc = torch.empty_like(best, dtype=torch.int64), torch.empty_like(best, dtype=torch.int64)
    compiled().argreduce(
        *structure(sub.selection),
        sub.active_mask,
        sub.mode == "pull",
        flat(data),
        data.shape[1],
        flat(weights),
        1 if weights is None else weights.shape[1],
        edge,
        flat(best),
        flat(sender),
        flat(arc),
    )
    return sender, arc


def segment_argreduce(sub: Subgraph, data: Tensor, reduction: Reduction) -> tuple[Tensor, Tensor]:
    """The largest or smallest message to each row by column, [k, columns], and which of its arcs brought it, from 0 on:
    int32, int64 for float64; the first of equal ones, -1 where there is none."""
    shape = (sub.selection.num_rows, data.shape[1])
    best, index = fresh(shape, data.dtype), fresh(shape, index_dtype_of(data.dtype))
    if sub.selection.is_whole:  # some rows read less than moving all data takes
        settle(data, sub.selection.stored_neighbors.shape[0])
    compiled().segment_argreduce(
        *structure(sub.selection),
        sub.active_mask,
        flat(data),
        data.shape[1],
        reduction.name == "max",
        reduction.identity(data.dtype),
        flat(best),
        flat(index),
    )
    return best, index


def index_dtype_of(dtype: torch.dtype) -> torch.dtype:
    """The dtype of positions within a row in `segment_argreduce`, as wide as the data: both are selected together."""
    return torch.int64 if dtype == torch.float64 else torch.int32


def scatter_argreduce(sub: Subgraph, grad: Tensor, index: Tensor) -> Tensor:
    """For each neighbour and column the sum of `grad` [k, columns] over the rows whose best message was its own, by the
    `index` of `segment_argreduce`: [n, columns]."""
    columns = grad.shape[1]
    result = fresh((sub.selection.stored_offset.shape[0] - 1, columns), grad.dtype)
    compiled().scatter_argreduce(*structure(sub.selection), flat(grad), columns, flat(index), flat(result))
    return result


def number_of(number: float, dtype: torch.dtype) -> float:
    """A number of the Python type that a kernel of that dtype takes at once, without a second look at all arguments."""
    return float(number) if dtype.is_floating_point else int(number)


@overload
def flat(tensor: Tensor) -> Tensor: ...
@overload
def flat(tensor: None) -> None: ...
def flat(tensor: Tensor | None) -> Tensor | None:
    """A tensor as kernels take it: its elements in a row, no gradient, narrow floating numbers by their bits."""
    if tensor is None:
        return None
    if tensor.requires_grad:
        tensor = tensor.detach()
    tensor = tensor.contiguous()
    return tensor.view(torch.int16) if tensor.dtype in NARROW else tensor
