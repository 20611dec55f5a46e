"""Sums over arcs of plain tensors by the compiled kernels, without torch's dispatcher, which takes longer than the work
on a mini-batch: the same values and gradients as by the registered operators.

Gradients are the same functions over the transpose, so that they can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core import native
from tgraph.core.csr import Csr
from tgraph.core.dispatch import watchers
from tgraph.core.library import applied, is_plain
from tgraph.kernels import tuned
from tgraph.kernels.autograd.degree_weights import mean_weights
from tgraph.kernels.native.aggregation.arcs import PULL, flat
from tgraph.kernels.native.base.pages import LARGE, fresh, settle

DTYPES = (torch.float32, torch.float64)

# Numbers of arcs times columns. Up to MANY each row is summed by one thread, and up to SERIAL gradients are scattered
# by the calling thread; beyond, long rows are cut, and gradients are pulled along the transpose by all threads.
MANY = 1 << 25
SERIAL = 1 << 19

# Fewer columns fill no vector.
NARROW = 8

# Gradients are scattered so often before the transpose is built, which takes longer than a scatter.
OFTEN = 4


def serves(neighbors: Tensor, rows: int, data: Tensor, weights: Tensor | None = None) -> bool:
    """Whether the functions of this module support these: plain tensors of the CPU, data [rows, columns] of float32 or
    float64 and weights [num_arcs] of the same dtype without a gradient; no backend is chosen or recorded."""
    if weights is not None and (weights.requires_grad or weights.dtype != data.dtype):
        return False
    if not is_plain(data, weights, neighbors) or data.dtype not in DTYPES or neighbors.dtype != torch.int32:
        return False
    if data.dim() != 2 or data.shape[0] != rows or not data.numel() or tuned.stored():
        return False
    return not watchers() and native.load() is not None


def aggregate(
    arcs: Csr,
    data: Tensor,
    mean: bool = False,
    weights: Tensor | None = None,
    transposed: Callable[[], Tensor | None] | None = None,
    own: float = 0.0,
) -> Tensor:
    """The sum, or mean, of what the sources of each destination send, [num_destinations, columns].

    weights : what is sent is multiplied by, one for each arc. transposed : gives the same in the order of
        `arcs.transposed()`, where that is known; a gradient asks for it. own : so many times its own data is added to
        the sum, not mean, of each destination, which is the source of the same number then.
    """
    if data.requires_grad and torch.is_grad_enabled():
        return _apply_sum(data, arcs, mean, weights, transposed, own)
    return _pull(arcs, data, mean, weights, own)


def best(arcs: Csr, data: Tensor, greatest: bool) -> Tensor:
    """The least or greatest of what the sources of each destination send, by column, 0 where there are none; without a
    gradient."""
    rows, columns = arcs.num_rows, data.shape[1]
    out = fresh((rows, columns), data.dtype)
    cast(Any, native.load()).take_best(arcs.neighbors, arcs.offset, flat(data), columns, greatest, out)
    return out


def _pull(arcs: Csr, data: Tensor, mean: bool, weights: Tensor | None, own: float) -> Tensor:
    offset, neighbors = arcs.offset, arcs.neighbors
    rows, num_arcs, columns, kernels = offset.shape[0] - 1, neighbors.shape[0], data.shape[1], cast(Any, native.load())
    large = max(rows, data.shape[0]) * columns * data.element_size() >= LARGE
    out = fresh((rows, columns), data.dtype) if large else torch.empty((rows, columns), dtype=data.dtype, device="cpu")
    sent = (data.detach() if data.requires_grad else data).contiguous()
    if (columns >= NARROW or own) and num_arcs * columns <= MANY:
        kernels.take_sums(neighbors, offset, sent, columns, weights, mean, own, out)
        return out
    if sent.shape[0] < rows:  # a kernel expects data of as many vertices as there are rows
        sent = torch.nn.functional.pad(sent, (0, 0, 0, rows - sent.shape[0]))
    if large:
        settle(sent, num_arcs)
    edge = "copy" if weights is None else "mul"
    pull = getattr(kernels, PULL[data.dtype])
    pull(neighbors, offset, None, -1, None, sent, columns, weights, 1, "sum", edge, 0.0, mean, out)
    return out.add_(sent, alpha=own) if own else out


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        data: Tensor,
        arcs: Csr,
        mean: bool,
        weights: Tensor | None,
        transposed: Callable[[], Tensor | None] | None,
        own: float,
    ) -> Tensor:
        ctx.arcs, ctx.mean, ctx.weights, ctx.transposed, ctx.own = arcs, mean, weights, transposed, own
        return _pull(arcs, data, mean, weights, own)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        arcs, weights = ctx.arcs, ctx.weights
        at_once = serves(arcs.neighbors, arcs.offset.shape[0] - 1, grad, weights)
        recorded = torch.is_grad_enabled()
        if at_once and not recorded and not _uses_transpose(arcs, grad.shape[1]):
            return _scatter(arcs, grad, ctx.mean, weights, ctx.own), *_NONE
        back = arcs.transpose()
        transposed_weights = None if weights is None else _transposed_weights(arcs, weights, ctx.transposed)
        if ctx.mean and weights is None and at_once and not recorded:
            transposed_weights = mean_weights(arcs.offset, back.neighbors, grad.dtype)
        elif ctx.mean:
            grad = grad * arcs.inverse_degree(grad.dtype)
        if at_once:
            return aggregate(back, grad, False, transposed_weights, lambda: weights, ctx.own), *_NONE
        received = _by_message(back, grad, transposed_weights)
        return received.add(grad, alpha=ctx.own) if ctx.own else received, *_NONE


_apply_sum = applied(_Sum)
_NONE = (None,) * 5  # the gradients of arguments that have none


def _uses_transpose(arcs: Csr, columns: int) -> bool:
    """True where a gradient is pulled along the transpose, not scattered; the bits are the same."""
    carried = arcs.num_arcs * columns
    if columns < NARROW or carried > MANY or (carried > SERIAL and cast(Any, native.load()).thread_count() > 1):
        return True
    return arcs.has_transpose or arcs.count_gradient() > OFTEN


def _scatter(arcs: Csr, grad: Tensor, mean: bool, weights: Tensor | None, own: float) -> Tensor:
    """The gradient of the sum or mean, of few arcs."""
    columns = grad.shape[1]
    out = fresh((arcs.num_columns, columns), grad.dtype)
    cast(Any, native.load()).give_sums(arcs.neighbors, arcs.offset, flat(grad), columns, weights, mean, own, out)
    return out


def _transposed_weights(arcs: Csr, weights: Tensor, transposed: Callable[[], Tensor | None] | None) -> Tensor:
    """The weights in the order of `arcs.transposed()`."""
    found = None if transposed is None else transposed()
    if found is None:
        found = weights.index_select(0, cast(Tensor, arcs.transposed(numbered=True)[2]))
    return found


def _by_message(arcs: Csr, data: Tensor, weights: Tensor | None) -> Tensor:
    """A sum by operators of torch's own, for a gradient that is transformed."""
    sent = data.index_select(0, arcs.neighbors)
    sent = sent if weights is None else sent * weights[:, None]
    return sent.new_zeros((arcs.num_rows, *sent.shape[1:])).index_add(0, arcs.row_of_arc(), sent)
