"""Pairs without an arc by the kernel in `negatives.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.system.pages import fresh
from tgraph.kernels.native.base.support import compiled, implements, refuses_first
from tgraph.kernels.operators.sampling import negatives as declared


@implements(declared.sample_negatives, refuses_first)
def sample_negatives(
    offset: Tensor,
    neighbors: Tensor,
    num_columns: int,
    loops: Tensor | None,
    sources: Tensor | None,
    count: int,
    by_degree: bool,
    key: int,
) -> Tensor:
    pairs = fresh((2, count), torch.int64)
    compiled().sample_negatives(offset, neighbors, num_columns, loops, sources, by_degree, key, pairs[0], pairs[1])
    return pairs
