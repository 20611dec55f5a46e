"""Greedy colourings in torch operators, all vertices that wait for no neighbour at once (Jones and Plassmann, "A
parallel graph coloring heuristic", SIAM Journal on Scientific Computing 1993)."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows
from tgraph.core.system import devices


@operator
def color_in_order(graph: Graph, order: Tensor) -> Tensor:
    """See `tgraph.primitives.coloring.color_in_order`."""
    device = graph.device
    rank = torch.empty_like(order).scatter_(0, order, torch.arange(len(order), device=device))
    source, target = sorting.expand_rows(graph.offset), graph.neighbors.to(torch.int64)
    waits = rank.index_select(0, target) < rank.index_select(0, source)
    left = torch.zeros_like(rank).index_add_(0, source, waits.to(torch.int64))
    color = torch.full_like(rank, -1)
    current = (left == 0).nonzero().flatten()
    while len(current):
        devices.end_round(device)
        offset, positions = gather_rows(graph.offset, current)
        row = torch.arange(len(current), device=device).repeat_interleave(offset.diff(), output_size=len(positions))
        reached = graph.neighbors.index_select(0, positions).to(torch.int64)
        color[current] = smallest_free(row, color.index_select(0, reached), len(current))
        reached = reached[rank.index_select(0, reached) > rank.index_select(0, current).index_select(0, row)]
        left.index_add_(0, reached, left.new_full((len(reached),), -1))
        current = reached[left.index_select(0, reached) == 0].unique()
    return color


def smallest_free(row: Tensor, color: Tensor, rows: int) -> Tensor:
    """For each row the smallest number from 0 that is none of its colours, of which -1 is none."""
    if not len(row):
        return torch.zeros(rows, dtype=torch.int64, device=row.device)
    width = int(color.max()) + 2
    pair = (row[color >= 0] * width + color[color >= 0]).unique()
    of, held = pair // width, pair % width
    begin = torch.searchsorted(of, torch.arange(rows + 1, device=row.device))
    place = torch.arange(len(pair), device=row.device) - begin.index_select(0, of)
    gap = held != place  # the colours of a row are 0, 1, .. up to the first gap
    return begin.diff().scatter_reduce(0, of[gap], place[gap], "amin")
