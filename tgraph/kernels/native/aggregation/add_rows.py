"""Sums of rows by their number, by the kernel in `segments/add_rows.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.system.pages import fresh
from tgraph.kernels.native.aggregation.arcs import flat
from tgraph.kernels.native.base.support import compiled, implements, refuses_tensors
from tgraph.kernels.operators.aggregation import segments as declared

DTYPES = (torch.float32, torch.float64)
INDEX_DTYPES = (torch.int32, torch.int64)


def refuses(values: Tensor, index: Tensor, size: int) -> str | None:
    """Why `add_rows` does not support a call, None if it does."""
    if values.dtype not in DTYPES or index.dtype not in INDEX_DTYPES:
        return f"it has no kernel for values of {values.dtype} by an index of {index.dtype}"
    if index.dim() != 1 or values.shape[:1] != index.shape or not values.numel():
        return "it takes values [e, ...] by an index [e], and some of them"
    return refuses_tensors(values, index)


@implements(declared.add_rows, refuses)
def add_rows(values: Tensor, index: Tensor, size: int) -> Tensor:
    out = fresh((size, *values.shape[1:]), values.dtype)
    columns = values.numel() // values.shape[0]
    compiled().add_rows(flat(values), index, columns, out)
    return out
