"""Random walks by the kernel in `walks.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.system.pages import fresh
from tgraph.kernels.native.base.support import compiled, implements, refuses_first
from tgraph.kernels.operators.walks import walks as declared


@implements(declared.random_walks, refuses_first)
def random_walks(
    offset: Tensor,
    neighbors: Tensor,
    total: Tensor | None,
    start: Tensor,
    length: int,
    key: int,
    back: float,
    away: float,
    restart: float,
) -> Tensor:
    walks = fresh((len(start), length + 1), torch.int64)
    compiled().random_walks(offset, neighbors, total, start, length, key, back, away, restart, walks)
    return walks
