"""Cores and onion layers by rounds over the parts of all ranks: all vertices of a layer are removed at once."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.distributed.operators.arcs import Arcs, on_ranks
from tgraph.kernels.operators.cohesion import k_core
from tgraph.kernels.operators.cohesion import onion as operators
from tgraph.primitives.simple_graph import merged


@on_ranks(k_core.peel)
def peel(graph: Graph) -> Tensor:
    simple = merged(graph).without_self_loops()
    return onion(simple.to_undirected(multi="keep"))[0]  # an edge twice where its arc has a reverse


@on_ranks(operators.onion)
def onion(graph: Graph) -> tuple[Tensor, Tensor]:
    arcs = Arcs(graph)
    degree = torch.bincount(arcs.row, minlength=arcs.ownership.num_own)
    core, layer, left = torch.zeros_like(degree), torch.zeros_like(degree), torch.ones_like(degree, dtype=torch.bool)
    highest, level, number = torch.iinfo(degree.dtype).max, 0, 0
    while (least := _least(arcs, degree[left], highest)) != highest:
        level, number = max(level, least), number + 1
        peeled = left & (degree <= level)
        core[peeled], layer[peeled] = level, number
        left &= ~peeled
        gone = arcs.at_others(peeled)
        degree.index_add_(0, arcs.row[gone], degree.new_full((int(gone.sum()),), -1))
        arcs.keep(~gone & left.index_select(0, arcs.row))
    return arcs.spread(core), arcs.spread(layer)


def _least(arcs: Arcs, values: Tensor, highest: int) -> int:
    """The least of the values of all ranks, `highest` without any."""
    here = values.min() if len(values) else values.new_full((), highest)
    return int(arcs.ownership.gather(here).min())
