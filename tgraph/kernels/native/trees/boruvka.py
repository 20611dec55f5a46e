"""Minimum spanning forest by the kernel in `boruvka.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.operators.trees import spanning_forest as declared

_DTYPES = (torch.float32, torch.float64, torch.int32, torch.int64)


def _refuses(offset: Tensor, neighbors: Tensor, *others: object) -> str | None:
    return "it needs int32 neighbors" if neighbors.dtype != torch.int32 else refuses_data(offset)


@implements(declared.spanning_forest, _refuses)
def spanning_forest(offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> Tensor:
    chosen = torch.empty(len(neighbors), dtype=torch.uint8, device="cpu")
    if weights is None:
        weights_or_none = None
    else:
        wide = torch.float64 if weights.dtype.is_floating_point else torch.int64
        weights_or_none = (weights if weights.dtype in _DTYPES else weights.to(wide)).detach()
    compiled().spanning_forest(offset, neighbors, weights_or_none, chosen)
    return chosen.view(torch.bool)


@implements(declared.both_ways, _refuses)
def both_ways(offset: Tensor, neighbors: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
    kernels, marked = compiled(), chosen.to(torch.uint8, copy=True)
    stored, new_offset = offset, torch.empty(len(offset), dtype=torch.int64, device="cpu")
    count = kernels.mark_both_ways(stored, neighbors, marked, new_offset)
    places = torch.empty(count, dtype=torch.int64, device="cpu")
    kernels.list_marked(stored, marked, new_offset, places)
    return new_offset, places
