"""Cliques by the kernels in `cliques.cpp`. Each function has the arguments and results of the portable one."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_rows


def clique_sizes(offset: Tensor, neighbors: Tensor, order: Tensor) -> Tensor:
    """As the portable one."""
    found = torch.empty_like(offset)
    _kernels().clique_sizes(offset.contiguous(), neighbors.contiguous(), order.contiguous(), found)
    return found


def maximal_cliques(offset: Tensor, neighbors: Tensor, order: Tensor) -> tuple[Tensor, Tensor]:
    """As the portable one."""
    listed = _kernels().list_cliques(offset.contiguous(), neighbors.contiguous(), order.contiguous())
    offset = torch.empty(listed.count + 1, dtype=torch.int64, device="cpu")
    members = torch.empty(listed.size, dtype=torch.int64, device="cpu")
    listed.write(offset, members)
    return offset, members


def largest_clique(offset: Tensor, neighbors: Tensor, order: Tensor) -> Tensor:
    """As the portable one."""
    members = torch.empty_like(order)
    size = _kernels().largest_clique(offset.contiguous(), neighbors.contiguous(), order.contiguous(), members)
    return members[:size].clone()


def count_cliques(offset: Tensor, neighbors: Tensor, order: Tensor, k: int) -> int:
    """As the portable one."""
    return cast(int, _kernels().count_cliques(offset.contiguous(), neighbors.contiguous(), order.contiguous(), k))


def _kernels() -> Any:
    return cast(Any, native.load())


OPERATORS = {
    function.__name__: Implementation(function, refuses_rows)
    for function in (clique_sizes, maximal_cliques, largest_clique, count_cliques)
}
