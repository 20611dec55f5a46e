"""Personalised PageRank by the kernel in `push.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.system.pages import fresh
from tgraph.kernels.native.base.support import compiled, implements, refuses_first
from tgraph.kernels.native.sampling.visits import filled
from tgraph.kernels.operators.sampling import push as declared


@implements(declared.push_residuals, refuses_first)
def push_residuals(
    offset: Tensor, neighbors: Tensor, seeds: Tensor, alpha: float, epsilon: float, count: int
) -> tuple[Tensor, Tensor, Tensor]:
    count = min(count, len(offset) - 1)
    found, vertices = fresh((len(seeds),), torch.int64), fresh((len(seeds), count), torch.int64)
    scores = fresh((len(seeds), count), torch.float64)
    compiled().push_residuals(offset, neighbors, seeds, alpha, epsilon, count, vertices, scores, found)
    return found, filled(vertices, found), filled(scores, found)
