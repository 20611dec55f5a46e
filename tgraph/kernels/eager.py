"""Sums over arcs by the compiled kernels at once, where nothing is to be seen of the operators that
torch.compile, transforms and tools need: the same values and gradients, without the way through torch's dispatcher,
which takes longer than the work on a mini-batch.

Gradients are made of the same functions, over the arcs turned around, so that they can be differentiated again.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph import kernels as registry
from tgraph import native
from tgraph.kernels import tuned
from tgraph.kernels.bipartite import Arcs
from tgraph.kernels.library import applied, is_plain
from tgraph.kernels.native.arcs import PULL
from tgraph.kernels.native.pages import fresh, settle

DTYPES = (torch.float32, torch.float64)

Weights = tuple[Tensor, Tensor | None]


def serves(arcs: Arcs, data: Tensor, weights: Tensor | None = None) -> bool:
    """True where the functions of this module take these: plain tensors of the CPU, data [num_sources, columns] of
    float32 or float64 and weights [num_arcs] of the same dtype that record no gradient; and nobody asks which backend
    computes, or has chosen one."""
    if not is_plain(data, weights, arcs.neighbors) or data.dtype not in DTYPES or arcs.neighbors.dtype != torch.int32:
        return False
    if data.dim() != 2 or data.shape[0] != arcs.num_sources or not data.numel() or tuned.stored():
        return False
    if weights is not None and (weights.requires_grad or weights.dtype != data.dtype):
        return False
    return not registry.is_watched() and native.load() is not None


def aggregate(arcs: Arcs, data: Tensor, mean: bool = False, weights: Weights | None = None) -> Tensor:
    """The sum, or mean, of what the sources of each destination send, [num_destinations, columns].

    weights : what is sent is multiplied by, one for each arc, and the same in the order of `arcs.transposed()`, which
        gradients take.
    """
    if data.requires_grad and torch.is_grad_enabled():
        return _apply_sum(data, arcs, mean, weights)
    return _pull(arcs, data, mean, None if weights is None else weights[0])


def _pull(arcs: Arcs, data: Tensor, mean: bool, weights: Tensor | None) -> Tensor:
    rows, columns = arcs.num_destinations, data.shape[1]
    if data.shape[0] < rows:  # a kernel expects data of as many vertices as there are rows
        data = torch.nn.functional.pad(data, (0, 0, 0, rows - data.shape[0]))
    settle(data, arcs.num_arcs)
    out = fresh((rows, columns), data.dtype)
    getattr(native.load(), PULL[data.dtype])(
        arcs.neighbors,
        arcs.offset,
        None,
        -1,
        None,
        data.detach().contiguous().view(-1),
        columns,
        weights,
        1,
        "sum",
        "copy" if weights is None else "mul",
        0.0,
        mean,
        out.view(-1),
    )
    return out


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, data: Tensor, arcs: Arcs, mean: bool, weights: Weights | None) -> Tensor:
        ctx.arcs, ctx.mean, ctx.weights = arcs, mean, weights
        return _pull(arcs, data, mean, None if weights is None else weights[0])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        arcs, weights = ctx.arcs, ctx.weights
        if ctx.mean:
            grad = grad * arcs.inverse_degree(grad.dtype)
        back = arcs.transpose()
        turned = None if weights is None else (weights[1], weights[0])
        if serves(back, grad):
            return aggregate(back, grad, weights=turned), None, None, None
        return _by_message(back, grad, None if turned is None else turned[0]), None, None, None


_apply_sum = applied(_Sum)


def _by_message(arcs: Arcs, data: Tensor, weights: Tensor | None) -> Tensor:
    """A sum by operators of torch's own, for a gradient that is transformed."""
    sent = data.index_select(0, arcs.neighbors)
    sent = sent if weights is None else sent * weights[:, None]
    return sent.new_zeros((arcs.num_destinations, *sent.shape[1:])).index_add(0, arcs.destinations(), sent)
