"""Counts of shortest paths in torch operators: as many rounds over all arcs as the longest of the paths has."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph


@operator
def count_paths(graph: Graph, distance: Tensor, weighted: bool, even: bool) -> tuple[Tensor, Tensor]:
    """See `tgraph.primitives.path_counts.count_paths`."""
    source, target, tight = _tight(graph, distance, weighted)
    first = tight & ~_repeats(source, target, tight)
    # The hops of the longest of the shortest paths: so many rounds settle everything.
    hops, rounds = torch.where(distance == 0, 0, -1), 0
    while True:
        sent = torch.where(first, hops.index_select(1, source) + 1, -1)
        longer = hops.scatter_reduce(1, target.expand_as(sent), sent, "amax")
        if torch.equal(longer, hops) or rounds > graph.num_vertices:
            break
        hops, rounds = longer, rounds + 1
    if even:  # where the source is before a vertex, no other is
        at_source = (distance == 0).index_select(1, source)
        straight = torch.zeros_like(distance).index_add_(1, target, (first & at_source).to(distance.dtype)) > 0
        first = first & (at_source | ~straight.index_select(1, target))
    along, start = first.to(torch.float64), (distance == 0).to(torch.float64)
    counts = start.index_add(1, target, along) if even else start
    for _ in range(0 if even else rounds):
        counts = start.index_add(1, target, counts.index_select(1, source) * along)
    share = counts.reciprocal().masked_fill_(counts == 0, 0)
    onward = share
    for _ in range(rounds):
        added = onward.index_select(1, target) * along
        onward = (share + torch.zeros_like(share).index_add(1, source, added) * (share if even else 1)).masked_fill(
            counts == 0, 0
        )
    return counts, onward


@operator
def add_along_arcs(graph: Graph, distance: Tensor, weighted: bool, left: Tensor, right: Tensor, sums: Tensor) -> Tensor:
    """See `tgraph.primitives.path_counts.add_along_arcs`."""
    source, target, tight = _tight(graph, distance, weighted)
    first = torch.ones(len(source), dtype=torch.bool, device=graph.device)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    group = first.cumsum(0) - 1
    along = tight.to(torch.float64)
    shared = torch.zeros_like(along).index_add_(1, group, along).index_select(1, group).clamp(min=1)
    return sums.add_((left.index_select(1, source) * right.index_select(1, target) * along / shared).sum(0))


def _tight(graph: Graph, distance: Tensor, weighted: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The ends of the arcs [m], and which are on shortest paths from each source, [k, m]."""
    source, target = sorting.expand_rows(graph.offset), graph.neighbors.to(torch.int64)
    length = graph.weights.to(distance.dtype) if weighted and graph.weights is not None else 1
    here = distance.index_select(1, source)
    tight = (here + length == distance.index_select(1, target)) & (here >= 0) & (here != torch.inf)
    return source, target, tight


def _repeats(source: Tensor, target: Tensor, tight: Tensor) -> Tensor:
    """Which arcs follow one that is parallel and on shortest paths too, [k, m]."""
    group = torch.zeros(len(source), dtype=torch.int64, device=source.device)
    group[1:] = ((source[1:] != source[:-1]) | (target[1:] != target[:-1])).cumsum(0)
    before = tight.to(torch.int64).cumsum(1)
    start = torch.searchsorted(group, group)  # the first arc of each group of parallel ones
    ahead = torch.nn.functional.pad(before, (1, 0)).index_select(1, start)
    return before - tight.to(torch.int64) > ahead
