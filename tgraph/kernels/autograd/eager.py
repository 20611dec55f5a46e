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
from tgraph.core.dispatch import BACKENDS, watchers
from tgraph.core.system.library import applied
from tgraph.kernels import tuned
from tgraph.kernels.autograd.degree_weights import mean_weights
from tgraph.kernels.native.aggregation import csr_sums

_NATIVE = BACKENDS["native"].operators

# Gradients are scattered so often before the transpose is built, which takes longer than a scatter.
OFTEN = 4


def serves(neighbors: Tensor, rows: int, data: Tensor, weights: Tensor | None = None) -> bool:
    """Whether the functions of this module support these: plain tensors of the CPU, data [rows, columns] of float32 or
    float64 and weights [num_arcs] of the same dtype without a gradient; no backend is chosen or recorded."""
    if weights is not None and (weights.requires_grad or weights.dtype != data.dtype):
        return False
    if _NATIVE["sum_csr"].refuses(neighbors, rows, data, weights) is not None:
        return False
    return not (watchers() or tuned.may_know(rows, neighbors.shape[0]))


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
    return csr_sums.sum_rows(arcs, data, mean, weights, own)


def serves_best(arcs: Csr, data: Tensor) -> bool:
    """Whether `best` supports these: as `serves`, and so few numbers that no row is worth cutting."""
    return serves(arcs.neighbors, arcs.num_columns, data) and arcs.num_arcs * data.shape[1] <= csr_sums.MANY


def best(arcs: Csr, data: Tensor, greatest: bool) -> Tensor:
    """The least or greatest that the sources of each destination send, without gradient, [num_destinations, columns]; 0
    for destinations without arcs."""
    return csr_sums.best_of_rows(arcs, data, greatest)


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
        return csr_sums.sum_rows(arcs, data, mean, weights, own)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        arcs, weights = ctx.arcs, ctx.weights
        at_once = serves(arcs.neighbors, arcs.offset.shape[0] - 1, grad, weights)
        recorded = torch.is_grad_enabled()
        if at_once and not recorded and not _uses_transpose(arcs, grad.shape[1]):
            return csr_sums.sum_columns(arcs, grad, ctx.mean, weights, ctx.own), *_NONE
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
    return csr_sums.needs_transpose(arcs.num_arcs, columns) or arcs.has_transpose or arcs.count_gradient() > OFTEN


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
