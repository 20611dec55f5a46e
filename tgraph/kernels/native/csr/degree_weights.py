"""Weights of arcs that follow from degrees: see `tgraph.kernels.operators.csr.degree_weights`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import attach, compiled, implements, refuses_tensors
from tgraph.kernels.operators.csr import degree_weights as declared

DTYPES = (torch.float32, torch.float64)


def refuses_degrees(offset: Tensor, dtype: torch.dtype) -> str | None:
    """Why `inverse_root_degree` does not support a call, None if it does."""
    return refuses_tensors(offset) if dtype in DTYPES else f"it has no kernel for {dtype}"


def refuses_ends(scale: Tensor, offset: Tensor, neighbors: Tensor) -> str | None:
    """Why `multiply_ends` does not support a call, None if it does."""
    if scale.dtype not in DTYPES or neighbors.dtype != torch.int32:
        return f"it has no kernel for {scale.dtype} and neighbors of {neighbors.dtype}"
    return refuses_tensors(scale, offset, neighbors)


def refuses_mean(offset: Tensor, neighbors: Tensor, dtype: torch.dtype) -> str | None:
    """Why `mean_weights` does not support a call, None if it does."""
    if dtype not in DTYPES or neighbors.dtype != torch.int32:
        return f"it has no kernel for {dtype} and neighbors of {neighbors.dtype}"
    return refuses_tensors(offset, neighbors)


@implements(declared.inverse_root_degree, refuses_degrees)
def inverse_root_degree(offset: Tensor, dtype: torch.dtype) -> Tensor:
    scale = torch.empty(offset.shape[0] - 1, dtype=dtype, device="cpu")
    compiled().inverse_root_degree(offset, scale)
    return scale


attach(declared.multiply_ends, refuses_ends, lambda scale, offset, neighbors: scale.new_empty(neighbors.shape[0]))


@implements(declared.mean_weights, refuses_mean)
def mean_weights(offset: Tensor, neighbors: Tensor, dtype: torch.dtype) -> Tensor:
    weights = torch.empty(neighbors.shape[0], dtype=dtype, device="cpu")
    compiled().mean_weights(offset, neighbors, weights)
    return weights
