"""Matchings by the kernels beside this file. Each function has the arguments and results of the portable one."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_data


def heavy_matching(offset: Tensor, neighbors: Tensor, weights: Tensor) -> Tensor:
    """As the portable one."""
    mate = torch.empty(len(offset) - 1, dtype=torch.int64, device="cpu")
    wide = torch.float64 if weights.dtype.is_floating_point else torch.int64
    _kernels().heavy_matching(offset.contiguous(), neighbors.contiguous(), weights.detach().to(wide).contiguous(), mate)
    return mate


def random_matching(offset: Tensor, neighbors: Tensor, key: int) -> Tensor:
    """As the portable one."""
    mate = torch.empty(len(offset) - 1, dtype=torch.int64, device="cpu")
    _kernels().random_matching(offset.contiguous(), neighbors.contiguous(), key, mate)
    return mate


def bipartite_matching(offset: Tensor, neighbors: Tensor, left: Tensor) -> tuple[Tensor, Tensor]:
    """As the portable one."""
    mate = torch.empty(len(offset) - 1, dtype=torch.int64, device="cpu")
    reached = torch.empty(len(offset) - 1, dtype=torch.uint8, device="cpu")
    given = left.to(torch.uint8).contiguous()
    _kernels().bipartite_matching(offset.contiguous(), neighbors.contiguous(), given, mate, reached)
    return mate, reached.view(torch.bool)


def _refuses(offset: Tensor, neighbors: Tensor, *others: object) -> str | None:
    return "it needs int32 neighbors" if neighbors.dtype != torch.int32 else refuses_data(offset)


def _kernels() -> Any:
    return cast(Any, native.load())


OPERATORS = {
    function.__name__: Implementation(function, _refuses)
    for function in (heavy_matching, random_matching, bipartite_matching)
}
