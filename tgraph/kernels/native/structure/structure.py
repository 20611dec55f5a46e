"""Arcs that have their reverses, correlations along arcs and rows of line graphs by the kernels beside this file."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_first
from tgraph.kernels.operators.structure import correlation as correlation_operators
from tgraph.kernels.operators.structure import line_graph as line_graph_operators
from tgraph.kernels.operators.structure import mutual as mutual_operators


@implements(correlation_operators.correlate_ends, refuses_first)
def correlate_ends(
    offset: Tensor,
    neighbors: Tensor,
    leaving: Tensor,
    reaching: Tensor,
    first: Tensor,
    second: Tensor,
    is_symmetric: bool,
) -> tuple[float, float, float]:
    tensors = (each for each in (offset, neighbors, leaving, reaching, first, second))
    return compiled().correlate_ends(*tensors, is_symmetric)


@implements(line_graph_operators.line_rows, refuses_first)
def line_rows(offset: Tensor, incident: Tensor, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    offset, degree = offset, offset.diff()
    line_offset = torch.zeros(len(first) + 1, dtype=torch.int64, device="cpu")
    torch.cumsum(degree[first] + degree[second] - 2, 0, out=line_offset[1:])
    neighbors = torch.empty(int(line_offset[-1]), dtype=incident.dtype, device="cpu")
    compiled().line_rows(offset, incident, first, second, line_offset, neighbors)
    return line_offset, neighbors


@implements(mutual_operators.count_mutual, refuses_first)
def count_mutual(offset: Tensor, neighbors: Tensor) -> tuple[Tensor, Tensor]:
    mutual, distinct = torch.zeros(2, len(offset) - 1, dtype=torch.int64, device="cpu")
    compiled().count_mutual(offset, neighbors, mutual, distinct)
    return mutual, distinct
