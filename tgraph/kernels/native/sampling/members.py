"""The arcs that come from some vertices, by the kernel in `members.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.system.pages import fresh
from tgraph.kernels.native.base.support import compiled, implements, refuses_first
from tgraph.kernels.operators.sampling import members as declared


@implements(declared.arcs_from, refuses_first)
def arcs_from(offset: Tensor, neighbors: Tensor, rows: Tensor, sources: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    found = fresh((len(rows),), torch.int64)
    arcs, places = compiled().arcs_from(offset, neighbors, rows, sources, found)
    return found, torch.from_numpy(arcs), torch.from_numpy(places)
