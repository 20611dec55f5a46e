"""The rows of a line graph in torch operators."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator


@operator
def line_rows(offset: Tensor, incident: Tensor, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """(offset, neighbors) of the line graph of an undirected graph without self-loops and parallel edges. incident :
    the edge of each arc [m], which ascend in every row. first, second : the vertices of each edge, int64 [e]."""
    count, position = len(first), torch.arange(len(first), device=offset.device)
    edges, others = [], []
    for end in (first, second):
        degree = offset[end + 1] - offset[end]
        edge = position.repeat_interleave(degree)
        step = torch.arange(len(edge), device=offset.device) - (degree.cumsum(0) - degree)[edge]
        other = incident[offset[end][edge] + step].to(torch.int64)
        edges.append(edge[other != edge])
        others.append(other[other != edge])
    line_offset, neighbors, _ = sorting.sort_edges(torch.cat(edges), torch.cat(others), count)
    return line_offset, neighbors.to(incident.dtype)
