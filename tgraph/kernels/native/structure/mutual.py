"""Arcs that have their reverses, by the kernel in `mutual.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_first
from tgraph.kernels.operators.structure import mutual as declared


@implements(declared.count_mutual, refuses_first)
def count_mutual(offset: Tensor, neighbors: Tensor) -> tuple[Tensor, Tensor]:
    mutual, distinct = torch.zeros(2, len(offset) - 1, dtype=torch.int64, device="cpu")
    compiled().count_mutual(offset, neighbors, mutual, distinct)
    return mutual, distinct
