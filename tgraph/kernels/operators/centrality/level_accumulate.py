"""`levels` and `sweep` in torch operators: a stable sort, and a loop over the levels."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor

from tgraph.core.building.validate import are_below
from tgraph.core.dispatch import operator, setup_operator
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows
from tgraph.core.system import devices
from tgraph.kernels.operators.aggregation.aggregation import reduce_rows
from tgraph.kernels.reductions import REDUCTIONS


@operator
def levels(depth: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """See `tgraph.primitives.level_accumulate.levels`; `count` is the number of levels."""
    reached = (depth >= 0).nonzero().flatten()
    level, order = devices.sort(depth.index_select(0, reached))
    border = torch.arange(count + 1, dtype=level.dtype, device=depth.device)
    return reached.index_select(0, order), torch.searchsorted(level, border)


@setup_operator
def is_order(order: Tensor, level_offset: Tensor, size: int) -> bool:
    """Whether the offsets ascend within the order, and its items, which are below `size`, within their levels."""
    first, last = int(level_offset[0]), int(level_offset[-1])
    if not are_below(order, size) or first < 0 or last > len(order) or bool((level_offset.diff() < 0).any()):
        return False
    ascends = order[first + 1 : last] > order[first : max(first, last - 1)]
    border = level_offset[1:-1] - first - 1
    ascends[border[(border >= 0) & (border < len(ascends))]] = True  # from one level to the next
    return bool(ascends.all())


@operator
def sweep(
    graph: Graph, order: Tensor, level_offset: Tensor, bias: Tensor, descending: bool, logarithms: bool
) -> Tensor:
    """See `tgraph.primitives.level_accumulate.sweep`. All neighbours are summed: those on other levels than the one
    before hold 0 so far, and before the first level all do."""
    values, added = torch.full_like(bias, -math.inf if logarithms else 0), bias.flatten()
    ranges = list(itertools.pairwise(level_offset.tolist()))
    for begin, end in reversed(ranges) if descending else ranges:
        items = order[begin:end].to(torch.int64)
        total = level_sums(graph, items, values.view(-1), logarithms)
        own = added.index_select(0, items)
        values.view(-1).index_copy_(0, items, torch.logaddexp(own, total) if logarithms else own + total)
    return values


def level_sums(graph: Graph, items: Tensor, values: Tensor, logarithms: bool) -> Tensor:
    """For each item the sum of the values over its neighbours in the copy that it belongs to, [len(items)]."""
    vertices = items % graph.num_vertices
    offset, positions = gather_rows(graph.offset, vertices)
    number = torch.arange(len(items), device=items.device)
    row = number.repeat_interleave(offset.diff(), output_size=len(positions))
    neighbors = graph.neighbors.index_select(0, positions)
    first_of_copy = (items - vertices).index_select(0, row)
    sent = values.index_select(0, first_of_copy + neighbors)
    repeated = (row[1:] == row[:-1]) & (neighbors[1:] == neighbors[:-1])  # parallel arcs lie side by side
    sent[1:].masked_fill_(repeated, -math.inf if logarithms else 0)
    if not logarithms:
        return reduce_rows(sent, offset, lambda: row, REDUCTIONS["sum"])
    largest = reduce_rows(sent, offset, lambda: row, REDUCTIONS["max"])
    shifted = (sent - largest.masked_fill(largest.isinf(), 0).index_select(0, row)).exp()
    return reduce_rows(shifted, offset, lambda: row, REDUCTIONS["sum"]).log() + largest
