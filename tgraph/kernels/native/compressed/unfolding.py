"""`unfold` compiled: see `unfold.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_first
from tgraph.kernels.operators.compressed import unfolding as declared


@implements(declared.unfold_rows, refuses_first)
def unfold(
    offset: Tensor, entries: Tensor, num_vertices: int, num_virtual: int, num_arcs: int
) -> tuple[Tensor, Tensor] | None:
    """See `tgraph.kernels.operators.compressed.unfolding.unfold`; the results are identical."""
    begin = torch.empty(len(offset) - num_virtual, dtype=torch.int64, device="cpu")
    neighbors = torch.empty(num_arcs, dtype=entries.dtype, device="cpu")
    kernels = compiled()
    fits = kernels.unfold(offset, entries, num_vertices, num_virtual, begin, neighbors)
    return (begin, neighbors) if fits else None
