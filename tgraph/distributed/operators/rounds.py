"""Label propagation, independent sets and colourings by rounds over the parts of all ranks."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.distributed.operators.arcs import Arcs, on_ranks
from tgraph.distributed.programs.components import join
from tgraph.kernels.layout.spreading import layout_of
from tgraph.kernels.operators.coloring import coloring, two_coloring
from tgraph.kernels.operators.community import label_propagation
from tgraph.kernels.operators.sets import independent_set as sets


@on_ranks(label_propagation.vote)
def vote(graph: Graph, labels: Tensor, rounds: int) -> Tensor:
    sides = [Arcs(graph), Arcs(graph.transpose())] if graph.directed else [Arcs(graph)]
    receiver, own = torch.cat([arcs.row for arcs in sides]), layout_of(graph).own(labels).clone()
    for _ in range(rounds):
        received = torch.cat([arcs.at_others(own) for arcs in sides])
        voted = label_propagation.most_frequent(receiver, received, own, graph.num_vertices)
        if not sides[0].is_any(not torch.equal(voted, own)):
            break
        own = voted
    return sides[0].spread(own)


@on_ranks(sets.independent_set)
def independent_set(graph: Graph, key: int) -> Tensor:
    arcs = Arcs(graph).without_self_loops()
    first = _by_number(arcs, random.words(key, arcs.numbers) ^ torch.iinfo(torch.int64).min)  # in unsigned order
    chosen = torch.zeros(arcs.ownership.num_own, dtype=torch.bool, device=arcs.row.device)
    left = ~chosen
    while arcs.is_any(left.any()):
        joins = left & ~_marked(left, arcs.row[first])
        chosen |= joins
        left &= ~joins
        left &= ~_marked(left, arcs.row[arcs.at_others(joins)])
        held = left.index_select(0, arcs.row) & arcs.at_others(left)
        arcs.keep(held)
        first = first[held]
    return arcs.spread(chosen)


@on_ranks(coloring.color_in_order)
def color_in_order(graph: Graph, order: Tensor) -> Tensor:
    arcs = Arcs(graph).without_self_loops()
    rank = torch.empty_like(order).scatter_(0, order, torch.arange(len(order), device=order.device))
    first = _by_number(arcs, rank.index_select(0, arcs.numbers))
    arcs.keep(first)  # a vertex waits for those before it, and takes none of their colours
    color = torch.full((arcs.ownership.num_own,), -1, device=arcs.row.device)
    while arcs.is_any((color < 0).any()):
        reached = arcs.at_others(color)
        waits = _marked(color, arcs.row[reached < 0])
        ready = ((color < 0) & ~waits).nonzero().flatten()
        place = torch.full_like(color, -1).index_copy_(0, ready, torch.arange(len(ready), device=color.device))
        row = place.index_select(0, arcs.row)
        color[ready] = coloring.smallest_free(row[row >= 0], reached[row >= 0], len(ready))
    return arcs.spread(color)


@on_ranks(two_coloring.color_by_depth)
def color_by_depth(graph: Graph) -> tuple[Tensor, int]:
    arcs = Arcs(graph)
    number = arcs.numbers[: arcs.ownership.num_own]
    root = number.clone()
    join(layout_of(graph).part, root, directed=False)
    depth, level = torch.where(root == number, 0, -1), 0
    while arcs.is_any((front := depth == level).any()):
        reached = _marked(depth, arcs.row[arcs.at_others(front)])
        level += 1
        depth[reached & (depth < 0)] = level
    conflicts = arcs.row[depth.index_select(0, arcs.row) == arcs.at_others(depth)]
    for each in (root, depth, number) if len(conflicts) else ():
        of = each.index_select(0, conflicts)
        conflicts = conflicts[of == of.min()]
    found = torch.stack([each.index_select(0, conflicts[:1]) for each in (root, depth, number)], 1)
    found = arcs.ownership.concatenate(found)[0]
    return arcs.spread(depth), min(found.tolist(), default=[0, 0, -1])[2]


@on_ranks(two_coloring.has_odd_cycle)
def has_odd_cycle(graph: Graph) -> bool:
    return color_by_depth(graph.to_undirected() if graph.directed else graph)[1] >= 0


def _by_number(arcs: Arcs, value: Tensor) -> Tensor:
    """Whether the other end of each arc comes before its row, by the values [k + h] and then by number: bool [e]."""
    ends = [value.index_select(0, end) for end in (arcs.other, arcs.row)]
    numbers = [arcs.numbers.index_select(0, end) for end in (arcs.other, arcs.row)]
    return (ends[0] < ends[1]) | ((ends[0] == ends[1]) & (numbers[0] < numbers[1]))


def _marked(like: Tensor, rows: Tensor) -> Tensor:
    """The mask of some own vertices, bool [k]."""
    mask = torch.zeros_like(like, dtype=torch.bool)
    mask[rows] = True
    return mask
