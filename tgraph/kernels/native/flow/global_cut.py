"""The minimum cut of a graph by the kernel in `global_cut.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_data


def global_cut(offset: Tensor, neighbors: Tensor, weights: Tensor) -> tuple[float, Tensor]:
    """As the portable one, `tgraph.kernels.operators.flow.global_cut.global_cut`."""
    side = torch.zeros(len(offset) - 1, dtype=torch.uint8, device="cpu")
    arguments = offset.contiguous(), neighbors.contiguous(), weights.contiguous()
    value = cast(Any, native.load()).global_cut(*arguments, side)
    return value, side.view(torch.bool)


OPERATORS = {"global_cut": Implementation(global_cut, lambda offset, *others: refuses_data(offset))}
