"""Weights of arcs that follow from degrees: see `tgraph.kernels.autograd.degree_weights`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_tensors

DTYPES = (torch.float32, torch.float64)


def refuses_degrees(offset: Tensor, dtype: torch.dtype) -> str | None:
    """Why `inverse_root_degree` does not serve a call, None where it does."""
    return refuses_tensors(offset) if dtype in DTYPES else f"it has no kernel for {dtype}"


def inverse_root_degree(offset: Tensor, dtype: torch.dtype) -> Tensor:
    """As the portable one."""
    scale = torch.empty(offset.shape[0] - 1, dtype=dtype, device="cpu")
    _kernels().inverse_root_degree(offset, scale)
    return scale


def refuses_ends(scale: Tensor, offset: Tensor, neighbors: Tensor) -> str | None:
    """Why `multiply_ends` does not serve a call, None where it does."""
    if scale.dtype not in DTYPES or neighbors.dtype != torch.int32:
        return f"it has no kernel for {scale.dtype} and neighbors of {neighbors.dtype}"
    return refuses_tensors(scale, offset, neighbors)


def multiply_ends(scale: Tensor, offset: Tensor, neighbors: Tensor) -> Tensor:
    """As the portable one."""
    weights = torch.empty(neighbors.shape[0], dtype=scale.dtype, device="cpu")
    _kernels().multiply_ends(scale, offset, neighbors, weights)
    return weights


def refuses_mean(offset: Tensor, neighbors: Tensor, dtype: torch.dtype) -> str | None:
    """Why `mean_weights` does not serve a call, None where it does."""
    if dtype not in DTYPES or neighbors.dtype != torch.int32:
        return f"it has no kernel for {dtype} and neighbors of {neighbors.dtype}"
    return refuses_tensors(offset, neighbors)


def mean_weights(offset: Tensor, neighbors: Tensor, dtype: torch.dtype) -> Tensor:
    """As the portable one."""
    weights = torch.empty(neighbors.shape[0], dtype=dtype, device="cpu")
    _kernels().mean_weights(offset, neighbors, weights)
    return weights


def _kernels() -> Any:
    return cast(Any, native.load())


OPERATORS = {
    "inverse_root_degree": Implementation(inverse_root_degree, refuses_degrees),
    "multiply_ends": Implementation(multiply_ends, refuses_ends),
    "mean_weights": Implementation(mean_weights, refuses_mean),
}
