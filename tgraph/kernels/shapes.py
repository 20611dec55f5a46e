"""Vertex data [n, ...] and weights [arcs, ...] as compiled kernels take them: [n, columns] and [arcs, heads]."""

from __future__ import annotations

import math

from torch import Tensor, broadcast_shapes

from tgraph.kernels.portable.aggregation import column


def in_columns(data: Tensor) -> Tensor:
    """Data [n, ...] as [n, columns]."""
    if data.dim() == 1:
        return data[:, None]
    return data.reshape(len(data), math.prod(data.shape[1:]))  # flatten refuses data without rows and columns


def in_heads(data: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """The data [s, ...] in the shape of the messages, and the weights as [arcs, heads]: so many blocks of adjacent
    columns have a weight each. Those that do not come in such blocks are spread over all columns."""
    if weights.dim() == 1 or weights.shape[1:].numel() == 1:
        return data, weights.reshape(-1, 1)
    weights = column(weights, data)
    shape = broadcast_shapes(data.shape[1:], weights.shape[1:])
    given = weights.shape[1:]
    leading = next((i for i, (have, want) in enumerate(zip(given, shape, strict=True)) if have != want), len(shape))
    if any(size != 1 for size in given[leading:]):
        weights, leading = weights.expand(-1, *shape), len(shape)
    return data.expand(-1, *shape), weights.reshape(len(weights), math.prod(shape[:leading]))
