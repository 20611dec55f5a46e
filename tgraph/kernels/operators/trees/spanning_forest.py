"""Minimum spanning forest in torch operators: Boruvka's rounds on edges that are numbered in their order."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.system import devices


@operator
def spanning_forest(offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> Tensor:
    """For each arc of an undirected graph whether it stands for an edge of the minimum spanning forest, bool [m]: one
    of the two arcs of each such edge, which of them is left open.

    Edges come by their weight, then their smaller and their larger end."""
    n = len(offset) - 1
    source, target = sorting.expand_rows(offset), neighbors.to(torch.int64)
    arcs = (source < target).nonzero().squeeze(1)
    arcs = arcs if weights is None else arcs[devices.sort(weights[arcs])[1]]  # stable: stored order is that of the ends
    first, second = source[arcs], target[arcs]
    chosen = torch.zeros(len(neighbors), dtype=torch.bool, device=offset.device)
    tree = torch.arange(n, device=offset.device)
    number = torch.arange(len(arcs), device=offset.device)
    while len(number):
        ends = tree[first[number]], tree[second[number]]
        best = torch.full((n,), len(arcs), device=offset.device)
        for end in ends:
            best.scatter_reduce_(0, end, number, "amin")
        roots = (best < len(arcs)).nonzero().squeeze(1)
        taken = best[roots]
        chosen[arcs[taken]] = True
        # Of two roots that took the same edge the smaller one stays a root; all others follow their edge.
        other = tree[first[taken]] + tree[second[taken]] - roots
        parent = torch.arange(n, device=offset.device)
        stays = (best[other] == taken) & (roots < other)
        parent[roots] = torch.where(stays, roots, other)
        while not torch.equal(parent, following := parent[parent]):
            parent = following
        tree = parent[tree]
        number = number[tree[first[number]] != tree[second[number]]]
    return chosen


@operator
def both_ways(offset: Tensor, neighbors: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of an undirected graph that has some of the edges, `chosen` bool [m] at one of the two arcs of each:
    (offset int64 [n + 1], the places of its arcs among the [m] in ascending order, int64)."""
    reverse = sorting.transpose(offset, neighbors, permutation=True)[2]
    assert reverse is not None
    marked = chosen | chosen[reverse]
    before = torch.nn.functional.pad(marked.cumsum(0), (1, 0))
    return before[offset], marked.nonzero().squeeze(1)
