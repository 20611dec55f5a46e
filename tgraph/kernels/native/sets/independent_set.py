"""A maximal independent set by the kernel in `independent_set.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_rows

_JOINED = 1


def independent_set(offset: Tensor, neighbors: Tensor, key: int) -> Tensor:
    """As the portable one, `tgraph.kernels.operators.sets.independent_set.independent_set`."""
    state = torch.empty(len(offset) - 1, dtype=torch.uint8, device="cpu")
    cast(Any, native.load()).independent_set(offset.contiguous(), neighbors.contiguous(), key, state)
    return state == _JOINED


OPERATORS = {"independent_set": Implementation(independent_set, refuses_rows)}
