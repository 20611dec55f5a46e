"""The rows of a line graph by the kernel in `line_graph.cpp`."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_data


def line_rows(offset: Tensor, incident: Tensor, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """As the portable one, `tgraph.kernels.operators.structure.line_graph.line_rows`."""
    offset, degree = offset.contiguous(), offset.diff()
    line_offset = torch.zeros(len(first) + 1, dtype=torch.int64, device="cpu")
    torch.cumsum(degree[first] + degree[second] - 2, 0, out=line_offset[1:])
    neighbors = torch.empty(int(line_offset[-1]), dtype=incident.dtype, device="cpu")
    ends = first.contiguous(), second.contiguous()
    cast(Any, native.load()).line_rows(offset, incident.contiguous(), *ends, line_offset, neighbors)
    return line_offset, neighbors


OPERATORS = {"line_rows": Implementation(line_rows, lambda offset, *others: refuses_data(offset))}
