"""Random walks by the kernel in `walks.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.core.system.pages import fresh
from tgraph.kernels.native.base.support import refuses_data


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
    """As the portable one, `tgraph.kernels.operators.walks.walks.random_walks`."""
    walks = fresh((len(start), length + 1), torch.int64)
    arcs = offset.contiguous(), neighbors.contiguous(), None if total is None else total.contiguous()
    cast(Any, native.load()).random_walks(*arcs, start.contiguous(), length, key, back, away, restart, walks)
    return walks


OPERATORS = {"random_walks": Implementation(random_walks, lambda offset, *others: refuses_data(offset))}
