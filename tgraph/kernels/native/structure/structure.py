"""Arcs that have their reverses, correlations along arcs and rows of line graphs by the kernels beside this file."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_first, refuses_graph
from tgraph.kernels.operators.structure import correlation as correlation_operators
from tgraph.kernels.operators.structure import line_graph as line_graph_operators
from tgraph.kernels.operators.structure import mutual as mutual_operators


@implements(correlation_operators.correlate_ends, refuses_graph)
def correlate_ends(graph: Graph, first: Tensor, second: Tensor, is_symmetric: bool) -> tuple[float, float, float]:
    degrees = graph.out_degree, graph.in_degree
    return compiled().correlate_ends(graph.offset, graph.neighbors, *degrees, first, second, is_symmetric)


@implements(line_graph_operators.line_rows, refuses_first)
def line_rows(offset: Tensor, incident: Tensor, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    offset, degree = offset, offset.diff()
    line_offset = torch.zeros(len(first) + 1, dtype=torch.int64, device="cpu")
    torch.cumsum(degree[first] + degree[second] - 2, 0, out=line_offset[1:])
    neighbors = torch.empty(int(line_offset[-1]), dtype=incident.dtype, device="cpu")
    compiled().line_rows(offset, incident, first, second, line_offset, neighbors)
    return line_offset, neighbors


@implements(mutual_operators.count_mutual, refuses_graph)
def count_mutual(graph: Graph) -> tuple[Tensor, Tensor]:
    mutual, distinct = torch.zeros(2, graph.num_vertices, dtype=torch.int64, device="cpu")
    compiled().count_mutual(graph.offset, graph.neighbors, mutual, distinct)
    return mutual, distinct
