"""Weights of arcs that follow from degrees alone: those of a graph convolution, and of the gradient of a mean."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import setup_operator


@setup_operator
def inverse_root_degree(offset: Tensor, dtype: torch.dtype) -> Tensor:
    """1 / sqrt(the arcs that reach each destination), 0 where none does, [n_dst]."""
    degree = offset.diff().to(dtype)
    alone = degree == 0
    return degree.masked_fill(alone, 1).rsqrt().masked_fill(alone, 0)


@setup_operator
def multiply_ends(scale: Tensor, offset: Tensor, neighbors: Tensor) -> Tensor:
    """scale[source] * scale[target] of each arc, [E], where sources and targets are the same vertices."""
    return scale.index_select(0, neighbors) * sorting.take(scale, sorting.expand_rows(offset))


@setup_operator
def mean_weights(offset: Tensor, neighbors: Tensor, dtype: torch.dtype) -> Tensor:
    """For each neighbor [E] 1 / how many arcs it has among the rows that begin at `offset`: what the transpose of a
    mean over these weighs its arcs by."""
    return offset.diff().to(dtype).reciprocal_().index_select(0, neighbors)
