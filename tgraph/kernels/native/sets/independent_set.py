"""A maximal independent set by the kernel in `independent_set.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_rows
from tgraph.kernels.operators.sets import independent_set as declared

_JOINED = 1


@implements(declared.independent_set, refuses_rows)
def independent_set(offset: Tensor, neighbors: Tensor, key: int) -> Tensor:
    state = torch.empty(len(offset) - 1, dtype=torch.uint8, device="cpu")
    compiled().independent_set(offset, neighbors, key, state)
    return state == _JOINED
