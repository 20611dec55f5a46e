"""Sums over a Csr and their gradients in calls that cost little, for the mini-batches of layers."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building.soundness import ensure_sound
from tgraph.core.csr import Csr
from tgraph.core.system import native
from tgraph.core.system.library import is_plain
from tgraph.core.system.pages import LARGE, fresh, settle
from tgraph.kernels.native.aggregation.arcs import PULL, flat, index_dtype_of
from tgraph.kernels.native.base.support import compiled, implements, unavailable
from tgraph.kernels.operators.aggregation import narrow as declared
from tgraph.kernels.operators.aggregation import segments
from tgraph.kernels.reductions import REDUCTIONS

DTYPES = (torch.float32, torch.float64)

TAKE_NARROW = {torch.float16: "take_sums_float16", torch.bfloat16: "take_sums_bfloat16"}

# Numbers that arcs carry. Up to so many, each row is computed by one thread, and the gradient by the calling thread:
# more are worth cutting long rows for, and transposing the arcs so that all threads add gradients up.
MANY = 1 << 25
SERIAL = 1 << 19

# Fewer columns fill no vector register.
NARROW = 8


def refuses(neighbors: Tensor, rows: int, data: Tensor, weights: Tensor | None) -> str | None:
    """Why the functions below do not support a call, None where they do: `rows` is the length of the data."""
    if not is_plain(data, weights, neighbors):
        return "it needs plain tensors of the CPU, not traced or transformed"
    if data.dtype not in DTYPES or neighbors.dtype != torch.int32:
        return f"it has no kernel for {data.dtype} and neighbors of {neighbors.dtype}"
    if data.dim() != 2 or data.shape[0] != rows or not data.numel():
        return f"it takes data [{rows}, columns] of some columns"
    return None if native.load() is not None else unavailable()  # a frame less for what is supported


def refuses_narrow(arcs: Csr, data: Tensor, mean: bool) -> str | None:
    """Why `sum_narrow_rows` does not support a call, None where it does."""
    if not is_plain(data, arcs.neighbors) or data.requires_grad:
        return "it needs plain tensors of the CPU, not traced, transformed or with a gradient"
    if data.dtype not in TAKE_NARROW or arcs.neighbors.dtype != torch.int32 or data.dim() != 2 or not data.numel():
        return f"it has no kernel for {data.dtype} {list(data.shape)} and neighbors of {arcs.neighbors.dtype}"
    return unavailable()


def sum_rows(arcs: Csr, data: Tensor, mean: bool, weights: Tensor | None, own: float) -> Tensor:
    """The sum or mean over the arcs of each row, plus `own` times the row of the data of the same number."""
    ensure_sound(arcs.offset, arcs.neighbors, arcs.num_columns)
    offset, neighbors = arcs.offset, arcs.neighbors
    rows, num_arcs, columns, kernels = offset.shape[0] - 1, neighbors.shape[0], data.shape[1], compiled()
    large = max(rows, data.shape[0]) * columns * data.element_size() >= LARGE
    out = fresh((rows, columns), data.dtype) if large else data.new_empty((rows, columns))
    sent = data.detach() if data.requires_grad else data
    weights = weights.detach() if weights is not None and weights.requires_grad else weights
    if (columns >= NARROW or own) and num_arcs * columns <= MANY:
        kernels.take_sums(neighbors, offset, sent, columns, weights, mean, own, out)
        return out
    sent = as_many_as_rows(sent, rows)
    if large:
        settle(sent, num_arcs)
    edge = "copy" if weights is None else "mul"
    pull = getattr(kernels, PULL[data.dtype])
    pull(neighbors, offset, None, -1, None, sent, columns, weights, 1, "sum", edge, 0.0, mean, out)
    return out.add_(sent, alpha=own) if own else out


def refuses_segments(messages: Tensor, offset: Tensor) -> str | None:
    """Why `sum_segments` does not support a call, None where it does."""
    if not is_plain(messages, offset):
        return "it needs plain tensors of the CPU, not traced or transformed"
    shape = messages.shape
    if messages.dtype not in DTYPES or len(shape) != 2 or not messages.numel() or shape[0] >= 2**31:
        return f"it has no kernel for {messages.dtype} {list(shape)}"
    return unavailable()


@implements(segments.sum_segments, refuses_segments)
def sum_segments(messages: Tensor, offset: Tensor) -> Tensor:
    number = torch.arange(messages.shape[0], dtype=torch.int32, device="cpu")
    return sum_rows(Csr.trusted(offset, number, None, len(number)), messages, False, None, 0.0)


@implements(declared.sum_narrow, refuses_narrow)
def sum_narrow_rows(arcs: Csr, data: Tensor, mean: bool) -> Tensor:
    """The sum or mean over the arcs of each row in float32, of data in 16 bits."""
    ensure_sound(arcs.offset, arcs.neighbors, arcs.num_columns)
    columns = data.shape[1]
    out = fresh((arcs.num_rows, columns), torch.float32)
    kernel = getattr(compiled(), TAKE_NARROW[data.dtype])
    given = flat(data).view(torch.int16)
    kernel(arcs.neighbors, arcs.offset, given, columns, None, mean, 0.0, out)
    return out


def sum_columns(arcs: Csr, grad: Tensor, mean: bool, weights: Tensor | None, own: float) -> Tensor:
    """The gradient of `sum_rows` along the arcs, by the calling thread: [num_columns, columns]."""
    ensure_sound(arcs.offset, arcs.neighbors, arcs.num_columns)
    columns = grad.shape[1]
    out = fresh((arcs.num_columns, columns), grad.dtype)
    kernels = compiled()
    kernels.give_sums(arcs.neighbors, arcs.offset, flat(grad), columns, flat(weights), mean, own, out)
    return out


def best_of_rows(arcs: Csr, data: Tensor, reduce: str, empty: float) -> Tensor:
    """The "min" or "max" over the arcs of each row, by column; `empty` for rows without arcs."""
    ensure_sound(arcs.offset, arcs.neighbors, arcs.num_columns)
    offset, neighbors, rows, columns = arcs.offset, arcs.neighbors, arcs.num_rows, data.shape[1]
    out = fresh((rows, columns), data.dtype)
    if columns >= NARROW and neighbors.shape[0] * columns <= MANY:
        compiled().take_best(neighbors, offset, flat(data), columns, reduce == "max", empty, out)
        return out
    sent = as_many_as_rows(flat(data), rows)
    settle(sent, neighbors.shape[0])
    pull, identity = getattr(compiled(), PULL[data.dtype]), REDUCTIONS[reduce].identity(data.dtype)
    pull(neighbors, offset, None, -1, None, sent, columns, None, 1, reduce, "copy", identity, False, out)
    return out if empty == identity else out.masked_fill_((offset.diff() == 0)[:, None], empty)


def argbest_of_rows(arcs: Csr, data: Tensor, reduce: str, empty: float) -> tuple[Tensor, Tensor]:
    """`best_of_rows`, and by which of its arcs each row received it, from 0 on: the first of equal ones, -1 for rows
    without arcs; int32, int64 for float64."""
    ensure_sound(arcs.offset, arcs.neighbors, arcs.num_columns)
    shape = arcs.num_rows, data.shape[1]
    out, index = fresh(shape, data.dtype), fresh(shape, index_dtype_of(data.dtype))
    sent = as_many_as_rows(flat(data), arcs.num_rows)
    settle(sent, arcs.num_arcs)
    rows = arcs.neighbors, arcs.offset, None, -1, None
    compiled().segment_argreduce(*rows, sent, shape[1], reduce == "max", empty, out, index)
    return out, index


def best_of_columns(arcs: Csr, grad: Tensor, index: Tensor) -> Tensor:
    """The gradient of `argbest_of_rows` by its `index`: [num_columns, columns]."""
    out = fresh((arcs.num_columns, grad.shape[1]), grad.dtype)
    rows = arcs.neighbors, arcs.offset, None, -1
    compiled().scatter_argreduce(*rows, flat(grad), grad.shape[1], index, out)
    return out


def products_at_arcs(arcs: Csr, row_data: Tensor, data: Tensor) -> Tensor:
    """The product of the data at the two ends of each arc, summed over the columns, [num_arcs]: the gradient of
    `sum_rows` in the weights."""
    out = torch.empty(arcs.num_arcs, dtype=data.dtype, device="cpu")
    rows = arcs.neighbors, arcs.offset, None, -1, None
    compiled().arc_products(*rows, flat(row_data), as_many_as_rows(flat(data), arcs.num_rows), data.shape[1], 1, out)
    return out


def as_many_as_rows(data: Tensor, rows: int) -> Tensor:
    """The data with zeros for further rows: kernels of selections expect one for each row."""
    return data if data.shape[0] >= rows else torch.nn.functional.pad(data, (0, 0, 0, rows - data.shape[0]))


def needs_transpose(num_arcs: int, columns: int) -> bool:
    """Whether a gradient is computed faster over the transpose than by `sum_columns`."""
    carried = num_arcs * columns
    if columns < NARROW or carried > MANY:
        return True
    return carried > SERIAL and compiled().thread_count() > 1
