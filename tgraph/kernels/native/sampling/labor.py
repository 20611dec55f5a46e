"""Arcs by random words of their sources, by the kernel in `labor.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.system.pages import fresh
from tgraph.kernels.native.base.support import compiled, implements, refuses_first
from tgraph.kernels.native.sampling.visits import filled
from tgraph.kernels.operators.sampling import labor as declared


@implements(declared.least_arcs, refuses_first)
def least_arcs(offset: Tensor, neighbors: Tensor, rows: Tensor, count: int, key: int) -> tuple[Tensor, Tensor]:
    found, arcs = fresh((len(rows),), torch.int64), fresh((len(rows), count), torch.int64)
    compiled().least_arcs(offset, neighbors, rows, count, key, arcs, found)
    return found, filled(arcs, found)
