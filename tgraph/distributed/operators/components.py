"""Strongly connected components and generations by rounds over the parts of all ranks.

The components are those of the portable operator (Orzan 2004): colours spread forward, searches backward, and vertices
without arcs in or out of the rest are components by themselves. Between two exchanges a rank spreads along its own arcs
until nothing changes there.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.distributed.operators.arcs import Arcs, on_ranks
from tgraph.kernels.operators.components import strong_components
from tgraph.kernels.operators.dag import topological


@on_ranks(strong_components.label_strong)
def label_strong(graph: Graph) -> Tensor:
    onward, back = (Arcs(each).without_self_loops() for each in (graph, graph.transpose()))
    held = onward.ownership
    component = torch.arange(held.first, held.end, device=onward.row.device)
    while _trim(onward, back):
        color = _spread(back, component, "amin")
        for arcs in (onward, back):  # a component is of one colour
            arcs.keep(color.index_select(0, arcs.row) == arcs.at_others(color))
        reaches = _spread(onward, (component == color).to(torch.int32), "amax") == 1
        component = torch.where(reaches, color, component)
        for arcs in (onward, back):
            arcs.keep(~(reaches.index_select(0, arcs.row) | arcs.at_others(reaches)))
    return onward.spread(component)


def _trim(onward: Arcs, back: Arcs) -> bool:
    """Remove arcs of vertices that have none in or none out, until all have both; whether any arc is left."""
    while True:
        leaves, entered = (_with_arcs(arcs) for arcs in (onward, back))
        kept = entered.index_select(0, onward.row) & onward.at_others(leaves)
        behind = leaves.index_select(0, back.row) & back.at_others(entered)
        onward.keep(kept)
        back.keep(behind)
        if not onward.is_any(not bool(kept.all()) or not bool(behind.all())):
            return onward.is_any(len(onward.row) > 0)


def _with_arcs(arcs: Arcs) -> Tensor:
    """The own vertices with arcs, bool [k]."""
    mask = torch.zeros(arcs.ownership.num_own, dtype=torch.bool, device=arcs.row.device)
    mask[arcs.row] = True
    return mask


def _spread(arcs: Arcs, value: Tensor, reduce: str) -> Tensor:
    """The values [k] once each own vertex has the least ("amin") or largest ("amax") of those that reach it, along arcs
    from their other ends to their rows."""
    while True:
        after = strong_components.spread(arcs.at_both(value), arcs.other, arcs.row, reduce)[: len(value)]
        if not arcs.is_any(not torch.equal(after, value)):
            return value
        value = after


@on_ranks(topological.topological_levels)
def topological_levels(graph: Graph) -> Tensor:
    arcs, number = Arcs(graph.transpose()), 0
    left = torch.bincount(arcs.row, minlength=arcs.ownership.num_own)
    generation = torch.full_like(left, -1)
    while arcs.is_any((current := (left == 0) & (generation < 0)).any()):
        generation[current] = number
        gone = arcs.at_others(current)
        left.index_add_(0, arcs.row[gone], left.new_full((int(gone.sum()),), -1))
        arcs.keep(~gone)
        number += 1
    return arcs.spread(generation)


@on_ranks(topological.has_cycle)
def has_cycle(graph: Graph) -> bool:
    return bool((topological_levels(graph) < 0).any())
