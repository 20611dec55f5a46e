"""Gradients of `aggregate`.

A sum over arcs is linear in the data and in the weights, and its gradients are sums over the same arcs. Three linear
maps are closed under differentiation, as often as one likes:

    Pull      row r receives         the sum over its arcs of weight * data[neighbour]
    Push      neighbour v receives   the sum over its arcs of weight * data[row]
    Products  each arc gets          the product of the data at its two ends

A min or max passes the gradient to the message that won, the first of equal ones. Shapes are those of `arcs`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.kernels.native import arcs as kernels
from tgraph.kernels.native.arcs import Arcs


class Pull(torch.autograd.Function):
    """What each row receives, [k, columns], from data [n, columns] times weights [arcs, heads] or None."""

    @staticmethod
    def forward(ctx: Any, arcs: Arcs, data: Tensor, weights: Tensor | None) -> Tensor:
        ctx.arcs = arcs
        ctx.save_for_backward(data if ctx.needs_input_grad[2] else None, weights)
        return kernels.pull(arcs, data, "sum", "copy" if weights is None else "mul", weights)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        data, weights = ctx.saved_tensors
        to_data = to_weights = None
        if ctx.needs_input_grad[1]:
            to_data = _send_back(ctx.arcs, grad, weights)
        if ctx.needs_input_grad[2]:
            to_weights = Products.apply(ctx.arcs, grad, data, weights.shape[1])
        return None, to_data, to_weights


class Push(torch.autograd.Function):
    """What each vertex receives, [n, columns], from the rows' data [k, columns] times weights [arcs, heads] or None."""

    @staticmethod
    def forward(ctx: Any, arcs: Arcs, data: Tensor, weights: Tensor | None) -> Tensor:
        ctx.arcs = arcs
        ctx.save_for_backward(data if ctx.needs_input_grad[2] else None, weights)
        return kernels.push(arcs, data, "sum", "copy" if weights is None else "mul", weights)[0]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        data, weights = ctx.saved_tensors
        to_data = to_weights = None
        if ctx.needs_input_grad[1]:
            to_data = Pull.apply(ctx.arcs, grad, weights)
        if ctx.needs_input_grad[2]:
            to_weights = Products.apply(ctx.arcs, data, grad, weights.shape[1])
        return None, to_data, to_weights


class Products(torch.autograd.Function):
    """For each arc and head the product of the row's data [k, columns] and the neighbour's [n, columns]."""

    @staticmethod
    def forward(ctx: Any, arcs: Arcs, row_data: Tensor, data: Tensor, heads: int) -> Tensor:
        ctx.arcs = arcs
        ctx.save_for_backward(row_data, data)
        return kernels.products(arcs, row_data, data, heads)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        row_data, data = ctx.saved_tensors
        to_rows = Pull.apply(ctx.arcs, data, grad) if ctx.needs_input_grad[1] else None
        to_data = _send_back(ctx.arcs, row_data, grad) if ctx.needs_input_grad[2] else None
        return None, to_rows, to_data, None


def _send_back(arcs: Arcs, grad: Tensor, weights: Tensor | None) -> Tensor:
    """What the neighbours receive from the rows, [n, columns]: by a pull from the arcs' other end, which runs on all
    threads, where that end is stored."""
    if arcs.is_whole:
        sent = Pull.apply(arcs.opposite(), grad, None if weights is None else arcs.weights_of_opposite(weights))
    else:
        sent = Push.apply(arcs, grad, weights)
    return sent if arcs.heard is None else torch.where(arcs.heard[:, None], sent, 0)


def total(arcs: Arcs, pulls: bool, data: Tensor, edge: str, weights: Tensor | None) -> Tensor:
    """The differentiable sum: what the rows receive in a pull, [k, columns], and every vertex in a push."""
    across = Pull if pulls else Push
    if edge != "add":
        return across.apply(arcs, data, weights)
    return across.apply(arcs, data, None) + across.apply(arcs, torch.ones_like(data), weights)


class _Best(torch.autograd.Function):
    """The min or max of the messages, and which of them won."""

    @staticmethod
    def forward(
        ctx: Any,
        arcs: Arcs,
        pulls: bool,
        reduce: str,
        identity: float,
        edge: str,
        data: Tensor,
        weights: Tensor | None,
    ) -> Tensor:
        if pulls:
            best = kernels.pull(arcs, data, reduce, edge, weights, identity=identity)
        else:
            best = kernels.push(arcs, data, reduce, edge, weights, identity=identity)[0]
        ctx.arcs, ctx.pulls, ctx.edge = arcs, pulls, edge
        ctx.save_for_backward(data, weights, best)
        return best

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        data, weights, best = ctx.saved_tensors
        with torch.no_grad():
            sender, arc = kernels.winners(ctx.arcs, ctx.pulls, data, ctx.edge, weights, best)
        grad = torch.where(arc >= 0, grad, 0)
        sender, arc = sender.clamp_(min=0), arc.clamp_(min=0)
        to_data = to_weights = None
        if weights is not None and len(weights):
            head = torch.arange(data.shape[1], device="cpu") // (data.shape[1] // weights.shape[1])
            place = (arc * weights.shape[1] + head).flatten()
        if ctx.needs_input_grad[5]:
            sent = grad * weights.flatten()[place].view_as(grad) if ctx.edge == "mul" and len(weights) else grad
            to_data = torch.zeros_like(data).scatter_add(0, sender, sent) if len(data) else torch.zeros_like(data)
        if ctx.needs_input_grad[6]:
            to_weights = torch.zeros_like(weights)
            if len(weights):
                sent = grad * data.gather(0, sender) if ctx.edge == "mul" else grad
                to_weights = to_weights.flatten().index_add(0, place, sent.flatten()).view_as(weights)
        return None, None, None, None, None, to_data, to_weights


def best(
    arcs: Arcs, pulls: bool, reduce: str, identity: float, data: Tensor, edge: str, weights: Tensor | None
) -> Tensor:
    """The differentiable min or max, of the shapes of `total`."""
    return _Best.apply(arcs, pulls, reduce, identity, edge, data, weights)
