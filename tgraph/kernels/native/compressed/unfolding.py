"""`unfold` compiled: see `unfold.cpp`."""

from __future__ import annotations

from types import ModuleType
from typing import cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_data


def unfold(
    offset: Tensor, entries: Tensor, num_vertices: int, num_virtual: int, num_arcs: int
) -> tuple[Tensor, Tensor] | None:
    """See `tgraph.kernels.operators.compressed.unfolding.unfold`; the results are identical."""
    begin = torch.empty(len(offset) - num_virtual, dtype=torch.int64, device="cpu")
    neighbors = torch.empty(num_arcs, dtype=entries.dtype, device="cpu")
    kernels = cast(ModuleType, native.load())
    fits = kernels.unfold(offset.contiguous(), entries.contiguous(), num_vertices, num_virtual, begin, neighbors)
    return (begin, neighbors) if fits else None


OPERATORS = {"unfold_rows": Implementation(unfold, lambda offset, *others: refuses_data(offset))}
