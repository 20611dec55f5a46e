"""Sums over arcs of plain tensors by the compiled kernels, without torch's dispatcher, which takes longer than the work
on a mini-batch: the same values and gradients as by the registered operators.

Gradients are the same functions over the transpose, so that they can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.dispatch import watchers
from tgraph.core.system.library import applied
from tgraph.kernels import tuned
from tgraph.kernels.native.aggregation import csr_sums, grouping
from tgraph.kernels.operators.csr.degree_weights import mean_weights

# Gradients are scattered so often before the transpose is built, which takes longer than a scatter.
OFTEN = 4


REDUCTIONS = ("sum", "mean", "min", "max")


def serves(neighbors: Tensor, rows: int, data: Tensor, weights: Tensor | None = None) -> bool:
    """Whether `aggregate` supports these: plain tensors of the CPU, data [rows, columns] of float32 or float64 and
    weights [num_arcs] of the same dtype; no backend is chosen or recorded."""
    if weights is not None and weights.dtype != data.dtype:
        return False
    if csr_sums.refuses(neighbors, rows, data, weights) is not None:
        return False
    return not (watchers() or (tuned.stored() and tuned.may_know(rows, neighbors.shape[0])))


def gathers_by_degree(data: Tensor, num_arcs: int) -> bool:
    """Whether the native backend may gather data [n, ...] for so many arcs from a copy by degree, which these functions
    do not: `kernels.native.aggregation.grouping`."""
    rows, nbytes = data.shape[0], data.nbytes
    return 2 * grouping.cache_bytes() <= nbytes <= grouping.COLUMNS * rows and num_arcs >= grouping.WORTH * rows


def aggregate(
    arcs: Csr,
    data: Tensor,
    reduce: str = "sum",
    weights: Tensor | None = None,
    transposed: Callable[[], Tensor | None] | None = None,
    own: float = 0.0,
    empty: float = 0.0,
) -> Tensor | None:
    """The reduction of what the sources of each destination send, [num_destinations, columns]; None where these kernels
    do not support the call.

    reduce : "sum", "mean", "min" or "max". weights : [num_arcs], which a sum or mean multiplies by. transposed : gives
        the same in the order of `arcs.by_column()`, where that is known; a gradient asks for it. own : so many times
        its own data is added to the sum of each destination, which is the source of the same number then. empty : the
        min or max of destinations without arcs.
    """
    if reduce not in REDUCTIONS or not serves(arcs.neighbors, arcs.num_columns, data, weights):
        return None
    if reduce == "min" or reduce == "max":
        if weights is not None:
            return None
        if data.requires_grad and torch.is_grad_enabled():
            return _apply_best(data, arcs, reduce, empty)
        return csr_sums.best_of_rows(arcs, data, reduce, empty)
    return _sum(arcs, data, reduce == "mean", weights, transposed, own)


def _sum(
    arcs: Csr,
    data: Tensor,
    mean: bool,
    weights: Tensor | None,
    transposed: Callable[[], Tensor | None] | None,
    own: float = 0.0,
) -> Tensor:
    if torch.is_grad_enabled() and (data.requires_grad or (weights is not None and weights.requires_grad)):
        return _apply_sum(data, weights, arcs, mean, transposed, own)
    return csr_sums.sum_rows(arcs, data, mean, weights, own)


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        data: Tensor,
        weights: Tensor | None,
        arcs: Csr,
        mean: bool,
        transposed: Callable[[], Tensor | None] | None,
        own: float,
    ) -> Tensor:
        ctx.arcs, ctx.mean, ctx.transposed, ctx.own, ctx.weighted = arcs, mean, transposed, own, weights is not None
        if weights is not None:
            ctx.save_for_backward(weights, data if weights.requires_grad else None)
        return csr_sums.sum_rows(arcs, data, mean, weights, own)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        weights, data = ctx.saved_tensors if ctx.weighted else (None, None)
        to_data = _gradient_of_data(ctx, grad, weights) if ctx.needs_input_grad[0] else None
        to_weights = None if data is None else _gradient_of_weights(ctx.arcs, grad, data, ctx.mean)
        return to_data, to_weights, None, None, None, None


_apply_sum = applied(_Sum)


def _gradient_of_data(ctx: Any, grad: Tensor, weights: Tensor | None) -> Tensor:
    arcs = ctx.arcs
    at_once = serves(arcs.neighbors, arcs.offset.shape[0] - 1, grad, weights)
    recorded = torch.is_grad_enabled()
    if at_once and not recorded and not _uses_transpose(arcs, grad.shape[1]):
        return csr_sums.sum_columns(arcs, grad, ctx.mean, weights, ctx.own)
    back = arcs.transpose()
    transposed_weights = None if weights is None else _transposed_weights(arcs, weights, ctx.transposed)
    if ctx.mean and weights is None and at_once and not recorded:
        transposed_weights = mean_weights(arcs.offset, back.neighbors, grad.dtype)
    elif ctx.mean:
        grad = grad * arcs.inverse_degree(grad.dtype)
    if at_once:
        return _sum(back, grad, False, transposed_weights, lambda: weights, ctx.own)
    received = _by_message(back, grad, transposed_weights)
    return received.add(grad, alpha=ctx.own) if ctx.own else received


def _gradient_of_weights(arcs: Csr, grad: Tensor, data: Tensor, mean: bool) -> Tensor:
    if mean:
        grad = grad * arcs.inverse_degree(grad.dtype)
    if not torch.is_grad_enabled() and serves(arcs.neighbors, arcs.offset.shape[0] - 1, grad):
        return csr_sums.products_at_arcs(arcs, grad, data)
    return (grad.index_select(0, arcs.row_of_arc()) * data.index_select(0, arcs.neighbors)).sum(1)


class _Best(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, data: Tensor, arcs: Csr, reduce: str, empty: float) -> Tensor:
        best, index = csr_sums.argbest_of_rows(arcs, data, reduce, empty)
        ctx.arcs = arcs
        ctx.save_for_backward(index)
        return best

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        arcs, (index,) = ctx.arcs, ctx.saved_tensors
        if not torch.is_grad_enabled() and serves(arcs.neighbors, arcs.offset.shape[0] - 1, grad):
            return csr_sums.best_of_columns(arcs, grad, index), None, None, None
        return _to_senders(arcs, grad, index), None, None, None


_apply_best = applied(_Best)


def _to_senders(arcs: Csr, grad: Tensor, index: Tensor) -> Tensor:
    """The sum at each source of the gradients of the columns that it was the best in, by torch's operators."""
    given = grad.new_zeros((arcs.num_columns, grad.shape[1]))
    if not arcs.num_arcs:
        return given
    place = (arcs.offset[:-1, None] + index).clamp_(min=0)
    sender = arcs.neighbors.index_select(0, place.view(-1)).view(index.shape)
    return given.scatter_add(0, sender.to(torch.int64), grad.masked_fill(index < 0, 0))


def _uses_transpose(arcs: Csr, columns: int) -> bool:
    """True where a gradient is pulled along the transpose, not scattered; the bits are the same."""
    return csr_sums.needs_transpose(arcs.num_arcs, columns) or arcs.has_transpose or arcs.count_gradient() > OFTEN


def _transposed_weights(arcs: Csr, weights: Tensor, transposed: Callable[[], Tensor | None] | None) -> Tensor:
    """The weights in the order of `arcs.by_column()`."""
    found = None if transposed is None else transposed()
    if found is None:
        found = weights.index_select(0, cast(Tensor, arcs.by_column(numbered=True)[2]))
    return found


def _by_message(arcs: Csr, data: Tensor, weights: Tensor | None) -> Tensor:
    """A sum by operators of torch's own, for a gradient that is transformed."""
    sent = data.index_select(0, arcs.neighbors)
    sent = sent if weights is None else sent * weights[:, None]
    return sent.new_zeros((arcs.num_rows, *sent.shape[1:])).index_add(0, arcs.row_of_arc(), sent)
