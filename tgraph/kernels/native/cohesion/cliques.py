"""Cliques by the kernels in `cliques.cpp`. Each function has the arguments and results of the portable one."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import attach, compiled, implements, refuses_rows
from tgraph.kernels.operators.cohesion import cliques as declared

attach(declared.clique_sizes, refuses_rows, lambda offset, *others: torch.empty_like(offset))
attach(declared.count_cliques, refuses_rows)


@implements(declared.maximal_cliques, refuses_rows)
def maximal_cliques(offset: Tensor, neighbors: Tensor, order: Tensor) -> tuple[Tensor, Tensor]:
    listed = compiled().list_cliques(offset, neighbors, order)
    offset = torch.empty(listed.count + 1, dtype=torch.int64, device="cpu")
    members = torch.empty(listed.size, dtype=torch.int64, device="cpu")
    listed.write(offset, members)
    return offset, members


@implements(declared.largest_clique, refuses_rows)
def largest_clique(offset: Tensor, neighbors: Tensor, order: Tensor) -> Tensor:
    members = torch.empty_like(order)
    size = compiled().largest_clique(offset, neighbors, order, members)
    return members[:size].clone()
