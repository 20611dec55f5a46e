"""Matchings by the kernels beside this file. Each function has the arguments and results of the portable one."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import attach, compiled, implements, per_vertex, refuses_data
from tgraph.kernels.operators.matching import bipartite, suitor

_WEIGHTS = (torch.float32, torch.float64, torch.int32, torch.int64)


def _refuses(offset: Tensor, neighbors: Tensor, *others: object) -> str | None:
    return "it needs int32 neighbors" if neighbors.dtype != torch.int32 else refuses_data(offset)


@implements(suitor.heavy_matching, _refuses)
def heavy_matching(offset: Tensor, neighbors: Tensor, weights: Tensor) -> Tensor:
    mate = torch.empty(len(offset) - 1, dtype=torch.int64, device="cpu")
    wide = torch.float64 if weights.dtype.is_floating_point else torch.int64
    read = weights if weights.dtype in _WEIGHTS else weights.to(wide)  # a copy of m weights takes as long as matching
    compiled().heavy_matching(offset, neighbors, read.detach(), mate)
    return mate


attach(suitor.random_matching, _refuses, per_vertex)


@implements(bipartite.bipartite_matching, _refuses)
def bipartite_matching(offset: Tensor, neighbors: Tensor, left: Tensor) -> tuple[Tensor, Tensor]:
    mate = torch.empty(len(offset) - 1, dtype=torch.int64, device="cpu")
    reached = torch.empty(len(offset) - 1, dtype=torch.uint8, device="cpu")
    given = left.to(torch.uint8)
    compiled().bipartite_matching(offset, neighbors, given, mate, reached)
    return mate, reached.view(torch.bool)
