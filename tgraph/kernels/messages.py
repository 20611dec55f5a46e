"""The messages of an `aggregate` as kernels take them: data [s, columns] and weights [arcs, heads]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeGuard, cast

import torch
from torch import Tensor

from tgraph.kernels.reductions import EDGE_OPERATIONS, Reduction


@dataclass
class Messages:
    """Data of the senders [s, columns] and an edge operation with weights [arcs, heads], each for columns / heads
    adjacent columns.

    shape : of a message. total : the dtype of the result, None for that of the data.
    """

    data: Tensor
    edge: str
    weights: Tensor | None
    shape: torch.Size
    total: torch.dtype | None = None


def is_per_arc(weights: object) -> TypeGuard[Tensor]:
    """True for weights [m, ...], one or several for each arc."""
    return isinstance(weights, Tensor) and weights.dim() > 0


def messages_of(
    data: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    dtype: torch.dtype | None = None,
    *,
    as_stored: bool = False,
) -> Messages:
    """The messages of senders with the given data. A weight for all arcs is applied here, once per sender.

    as_stored : keep float32 that is to be added in float64, for a kernel that converts while it reads.
    """
    per_arc = edge != "copy" and is_per_arc(weights)
    total = None
    if as_stored and data.dtype == torch.float32 and dtype == torch.float64:
        total = dtype if edge == "copy" or (per_arc and cast(Tensor, weights).dtype == torch.float32) else None
    if dtype is not None and total is None:
        data = data.to(dtype)
    data = promoted(data, reduction, edge)
    if not per_arc:
        data = across(data, edge, weights)
        if reduction.logical and edge != "copy":
            data = (data != 0).view(torch.uint8)
        elif reduction.name == "mean" and not data.is_floating_point():
            data = data.to(torch.get_default_dtype())
        return Messages(columns_of(data), "copy", None, data.shape[1:], total)
    weights = cast(Tensor, weights)
    sent = torch.promote_types(data.dtype, weights.dtype)
    if not (as_stored and (sent, weights.dtype) == (torch.float64, torch.float32)):
        weights = weights.to(sent)
    data, weights = _heads(data.to(sent), weights)
    return Messages(columns_of(data), edge, weights, data.shape[1:], total)


def promoted(data: Tensor, reduction: Reduction, edge: str) -> Tensor:
    """The data in `sent_dtype`; for logical reductions as bytes, which are gathered instead of numbers."""
    if reduction.logical and edge == "copy":
        return (data if data.dtype == torch.bool else data != 0).view(torch.uint8)
    dtype = sent_dtype(data.dtype, reduction, edge)
    return data if data.dtype == dtype else data.to(dtype)


def sent_dtype(dtype: torch.dtype, reduction: Reduction, edge: str) -> torch.dtype:
    """The dtype of messages of data of a dtype."""
    if reduction.logical and edge == "copy":
        return torch.uint8
    if dtype == torch.bool and (edge != "copy" or reduction.name in ("sum", "mean")):
        return torch.int64
    if not dtype.is_floating_point and reduction.name in ("sum", "prod"):
        return torch.int64  # as torch.sum does: a total need not fit the dtype of its terms
    return dtype


def across(sent: Tensor, edge: str, weights: Tensor | float | None) -> Tensor:
    """The edge operation on data [e, ...] and weights [e], [e, ...] or a number."""
    if edge == "copy" or weights is None:
        return sent
    if not isinstance(weights, Tensor):  # filled on the device: to copy a number there would wait for the queue
        keeps = sent.is_floating_point() or not isinstance(weights, float)
        dtype = sent.dtype if keeps else torch.get_default_dtype()
        weights = torch.full((), weights, dtype=dtype, device=sent.device)
    return EDGE_OPERATIONS[edge](sent, column(weights, sent))


def column(per_arc: Tensor, data: Tensor) -> Tensor:
    """Per-arc values with trailing dimensions added so that they broadcast over the data of each arc."""
    missing = data.dim() - per_arc.dim()
    return per_arc.reshape(per_arc.shape + (1,) * missing) if per_arc.dim() and missing > 0 else per_arc


def columns_of(data: Tensor) -> Tensor:
    """Data [s, ...] as [s, columns]."""
    if data.dim() == 1:
        return data.unsqueeze(1)
    return (
        data if data.dim() == 2 else data.reshape(data.shape[0], math.prod(data.shape[1:]))
    )  # flatten refuses data without rows and columns


def _heads(data: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """The data [s, ...] in the shape of the messages, and the weights as [arcs, heads]: so many blocks of adjacent
    columns have a weight each. Those that do not come in such blocks are spread over all columns."""
    if math.prod(weights.shape[1:]) == 1:
        return data, weights.reshape(-1, 1)
    weights = column(weights, data)
    shape = torch.broadcast_shapes(data.shape[1:], weights.shape[1:])
    given = weights.shape[1:]
    leading = next((i for i, (have, want) in enumerate(zip(given, shape, strict=True)) if have != want), len(shape))
    if any(size != 1 for size in given[leading:]):
        weights, leading = weights.expand(-1, *shape), len(shape)
    return data.expand(-1, *shape), weights.reshape(weights.shape[0], math.prod(shape[:leading]))


def shaped(data: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Data [s, columns] and weights [arcs, heads] in shapes that broadcast: [s, heads, span] with [arcs, heads], [s]
    where there is one column and [arcs] where there is one head."""
    if weights is None:
        return (data[:, 0] if data.shape[1] == 1 else data), None
    heads = weights.shape[1]
    if data.shape[1] == 1 or heads == 1:
        return (data[:, 0] if data.shape[1] == 1 else data), weights[:, 0]
    return (data if heads == data.shape[1] else data.unflatten(1, (heads, -1))), weights


def send(sent: Tensor, edge: str, weights: Tensor | None) -> Tensor:
    """The edge operation on data [e, columns] and weights [e, heads]."""
    if edge == "copy" or weights is None:
        return sent
    heads = weights.shape[1]
    if sent.shape[1] == 0 or heads == 0:
        return sent
    return EDGE_OPERATIONS[edge](sent.unflatten(1, (heads, -1)), weights[:, :, None]).flatten(1)
