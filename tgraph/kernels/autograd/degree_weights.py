"""Weights of arcs that follow from degrees alone: those of a graph convolution, and of the gradient of a mean."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import native
from tgraph.core.building import sorting
from tgraph.core.library import is_plain

COMPILED = (torch.float32, torch.float64)


def inverse_root_degree(offset: Tensor, dtype: torch.dtype) -> Tensor:
    """1 / sqrt(the arcs that reach each destination), 0 where none does, [n_dst]."""
    kernels = native.load() if is_plain(offset) and dtype in COMPILED else None
    if kernels is None:
        degree = offset.diff().to(dtype)
        alone = degree == 0
        return degree.masked_fill(alone, 1).rsqrt().masked_fill(alone, 0)
    scale = torch.empty(offset.shape[0] - 1, dtype=dtype, device="cpu")
    kernels.inverse_root_degree(offset, scale)
    return scale


def multiply_ends(scale: Tensor, offset: Tensor, neighbors: Tensor) -> Tensor:
    """scale[source] * scale[target] of each arc, [E], where sources and targets are the same vertices."""
    plain = is_plain(scale, offset, neighbors) and scale.dtype in COMPILED and neighbors.dtype == torch.int32
    kernels = native.load() if plain else None
    if kernels is None:
        return scale.index_select(0, neighbors) * sorting.take(scale, sorting.expand_rows(offset))
    weights = torch.empty(neighbors.shape[0], dtype=scale.dtype, device="cpu")
    kernels.multiply_ends(scale, offset, neighbors, weights)
    return weights


def mean_weights(offset: Tensor, neighbors: Tensor, dtype: torch.dtype) -> Tensor:
    """For each neighbor [E] 1 / how many arcs it has among the rows that begin at `offset`: what the transpose of a
    mean over these weighs its arcs by."""
    kernels = native.load() if is_plain(offset, neighbors) and dtype in COMPILED else None
    if kernels is None or neighbors.dtype != torch.int32:
        return offset.diff().to(dtype).reciprocal_().index_select(0, neighbors)
    weights = torch.empty(neighbors.shape[0], dtype=dtype, device="cpu")
    kernels.mean_weights(offset, neighbors, weights)
    return weights
