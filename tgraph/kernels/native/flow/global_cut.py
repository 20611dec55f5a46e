"""The minimum cut of a graph by the kernel in `global_cut.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_first
from tgraph.kernels.operators.flow import global_cut as declared


@implements(declared.global_cut, refuses_first)
def global_cut(offset: Tensor, neighbors: Tensor, weights: Tensor) -> tuple[float, Tensor]:
    side = torch.zeros(len(offset) - 1, dtype=torch.uint8, device="cpu")
    value = compiled().global_cut(offset, neighbors, weights, side)
    return value, side.view(torch.bool)
