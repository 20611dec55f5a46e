"""Counts and sums over single arcs of all ranks: mutual arcs, correlations, weights inside of groups."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.distributed.data.sharded import Sharded
from tgraph.distributed.operators.arcs import Arcs, on_ranks
from tgraph.kernels.layout.spreading import layout_of
from tgraph.kernels.operators.community import communities
from tgraph.kernels.operators.structure import correlation, mutual


@on_ranks(mutual.count_mutual)
def count_mutual(graph: Graph) -> tuple[Tensor, Tensor]:
    sides = [Arcs(each).without_self_loops() for each in (graph, graph.transpose())]
    n, arcs = max(graph.num_vertices, 1), sides[0]
    out, back = (each.row * n + each.numbers.index_select(0, each.other) for each in sides)
    out = out.unique_consecutive()
    counts = [torch.bincount(key // n, minlength=arcs.ownership.num_own) for key in (out[torch.isin(out, back)], out)]
    return arcs.spread(counts[0]), arcs.spread(counts[1])


@on_ranks(correlation.correlate_ends)
def correlate_ends(graph: Graph, first: Tensor, second: Tensor, is_symmetric: bool) -> tuple[float, float, float]:
    arcs, own = Arcs(graph), layout_of(graph).own
    out, into, first, second = correlation.centered(graph, first, second)
    both = arcs.ownership.sum(own(first).index_select(0, arcs.row).dot(arcs.at_others(own(second))))
    return float(both), float((out * first.square()).sum()), float((into * second.square()).sum())


@on_ranks(communities.sum_inside)
def sum_inside(graph: Graph, group: Tensor | Sharded, weighted: bool) -> Tensor:
    arcs = Arcs(graph)
    own = layout_of(graph).own(group)
    if not weighted or arcs.weights is None:
        weight = torch.ones_like(arcs.row, dtype=torch.float64)
    else:
        weight = arcs.weights
    twice = (arcs.row == arcs.other) & (not graph.directed)
    weight = torch.where(twice, 2 * weight, weight) * (own.index_select(0, arcs.row) == arcs.at_others(own))
    return arcs.spread(weight.new_zeros(len(own)).index_add_(0, arcs.row, weight))
