"""The rows of a line graph by the kernel in `line_graph.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_first
from tgraph.kernels.operators.structure import line_graph as declared


@implements(declared.line_rows, refuses_first)
def line_rows(offset: Tensor, incident: Tensor, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    offset, degree = offset, offset.diff()
    line_offset = torch.zeros(len(first) + 1, dtype=torch.int64, device="cpu")
    torch.cumsum(degree[first] + degree[second] - 2, 0, out=line_offset[1:])
    neighbors = torch.empty(int(line_offset[-1]), dtype=incident.dtype, device="cpu")
    compiled().line_rows(offset, incident, first, second, line_offset, neighbors)
    return line_offset, neighbors
