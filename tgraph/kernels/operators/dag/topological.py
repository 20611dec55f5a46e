"""Topological generations and longest paths in torch operators: a round for each generation."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows
from tgraph.core.system import devices


@operator
def topological_levels(graph: Graph) -> Tensor:
    """See `tgraph.primitives.topological.generations`."""
    left = graph.in_degree.clone()
    generation = torch.full_like(left, -1)
    current, number = (left == 0).nonzero().flatten(), 0
    while len(current):
        devices.end_round(graph.device)
        generation[current] = number
        _, positions = gather_rows(graph.offset, current)
        reached = graph.neighbors.index_select(0, positions).to(torch.int64)
        left.index_add_(0, reached, left.new_full((len(reached),), -1))
        current, number = reached[left.index_select(0, reached) == 0].unique(), number + 1
    return generation


@operator
def has_cycle(graph: Graph) -> bool:
    """See `tgraph.primitives.topological.has_cycle`."""
    return bool((topological_levels(graph) < 0).any())


@operator
def longest(graph: Graph, weights: Tensor | None, generation: Tensor) -> tuple[Tensor, Tensor]:
    """See `tgraph.primitives.topological.longest`."""
    n, device = graph.num_vertices, graph.device
    floating = weights is not None and weights.is_floating_point()
    length = torch.zeros(n, dtype=devices.widest_float(graph.offset) if floating else torch.int64, device=device)
    before = torch.full((n,), n, dtype=torch.int64, device=device)
    for members in devices.sort(generation)[1].split(generation.bincount().tolist()) if n else ():
        devices.end_round(device)
        offset, positions = gather_rows(graph.offset, members)
        source = members.repeat_interleave(offset.diff(), output_size=len(positions))
        target = graph.neighbors.index_select(0, positions).to(torch.int64)
        step = 1 if weights is None else weights.detach().index_select(0, positions).to(length.dtype)
        sent = length.index_select(0, source) + step
        longer = length.scatter_reduce(0, target, sent, "amax")
        before = torch.where(longer > length, n, before)  # what led to a shorter path
        length, best = longer, sent == longer.index_select(0, target)
        before = before.scatter_reduce(0, target[best], source[best], "amin")
    return length, torch.where(before == n, -1, before)
