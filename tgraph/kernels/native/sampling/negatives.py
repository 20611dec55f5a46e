"""Pairs without an arc by the kernel in `negatives.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.core.system.pages import fresh
from tgraph.kernels.native.base.support import refuses_data


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
    """As the portable one, `tgraph.kernels.operators.sampling.negatives.sample_negatives`."""
    pairs = fresh((2, count), torch.int64)
    arcs = offset.contiguous(), neighbors.contiguous(), num_columns, loops
    sources = None if sources is None else sources.contiguous()
    cast(Any, native.load()).sample_negatives(*arcs, sources, by_degree, key, pairs[0], pairs[1])
    return pairs


OPERATORS = {"sample_negatives": Implementation(sample_negatives, lambda offset, *others: refuses_data(offset))}
