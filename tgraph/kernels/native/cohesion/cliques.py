"""Cliques by the kernels in `cliques.cpp`. Each function has the arguments and results of the portable one."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_rows
from tgraph.kernels.operators.cohesion import cliques as declared


@implements(declared.clique_sizes, refuses_rows)
def clique_sizes(offset: Tensor, neighbors: Tensor, order: Tensor) -> Tensor:
    found = torch.empty_like(offset)
    compiled().clique_sizes(offset.contiguous(), neighbors.contiguous(), order.contiguous(), found)
    return found


@implements(declared.maximal_cliques, refuses_rows)
def maximal_cliques(offset: Tensor, neighbors: Tensor, order: Tensor) -> tuple[Tensor, Tensor]:
    listed = compiled().list_cliques(offset.contiguous(), neighbors.contiguous(), order.contiguous())
    offset = torch.empty(listed.count + 1, dtype=torch.int64, device="cpu")
    members = torch.empty(listed.size, dtype=torch.int64, device="cpu")
    listed.write(offset, members)
    return offset, members


@implements(declared.largest_clique, refuses_rows)
def largest_clique(offset: Tensor, neighbors: Tensor, order: Tensor) -> Tensor:
    members = torch.empty_like(order)
    size = compiled().largest_clique(offset.contiguous(), neighbors.contiguous(), order.contiguous(), members)
    return members[:size].clone()


@implements(declared.count_cliques, refuses_rows)
def count_cliques(offset: Tensor, neighbors: Tensor, order: Tensor, k: int) -> int:
    return cast(int, compiled().count_cliques(offset.contiguous(), neighbors.contiguous(), order.contiguous(), k))
