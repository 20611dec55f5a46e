"""Arcs that have their reverses, by the kernel in `mutual.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_data


def count_mutual(offset: Tensor, neighbors: Tensor) -> tuple[Tensor, Tensor]:
    """As the portable one, `tgraph.kernels.operators.structure.mutual.count_mutual`."""
    mutual, distinct = torch.zeros(2, len(offset) - 1, dtype=torch.int64, device="cpu")
    cast(Any, native.load()).count_mutual(offset.contiguous(), neighbors.contiguous(), mutual, distinct)
    return mutual, distinct


OPERATORS = {"count_mutual": Implementation(count_mutual, lambda offset, *others: refuses_data(offset))}
