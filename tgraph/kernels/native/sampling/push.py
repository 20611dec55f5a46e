"""Personalised PageRank by the kernel in `push.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.core.system.pages import fresh
from tgraph.kernels.native.base.support import refuses_data
from tgraph.kernels.native.sampling.visits import filled


def push_residuals(
    offset: Tensor, neighbors: Tensor, seeds: Tensor, alpha: float, epsilon: float, count: int
) -> tuple[Tensor, Tensor, Tensor]:
    """As the portable one, `tgraph.kernels.operators.sampling.push.push_residuals`."""
    count = min(count, len(offset) - 1)
    found, vertices = fresh((len(seeds),), torch.int64), fresh((len(seeds), count), torch.int64)
    scores = fresh((len(seeds), count), torch.float64)
    arcs = offset.contiguous(), neighbors.contiguous(), seeds.contiguous()
    cast(Any, native.load()).push_residuals(*arcs, alpha, epsilon, count, vertices, scores, found)
    return found, filled(vertices, found), filled(scores, found)


OPERATORS = {"push_residuals": Implementation(push_residuals, lambda offset, *others: refuses_data(offset))}
