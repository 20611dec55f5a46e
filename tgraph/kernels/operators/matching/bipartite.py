"""Maximum bipartite matching in torch operators: in each phase a forest of alternating paths grows from all free
vertices of the left side at once, and each tree that meets a free vertex of the right is augmented."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator


@operator
def bipartite_matching(offset: Tensor, neighbors: Tensor, left: Tensor) -> tuple[Tensor, Tensor]:
    """(mate, reached) of a bipartite graph: the vertex that each one is matched with in a maximum matching, or -1,
    int64 [n], and who is on alternating paths from vertices of the left that are not matched, bool [n].

    `left`, bool [n], marks one side. Which of the maximum matchings it is is left open.
    """
    n = len(offset) - 1
    source, target = sorting.expand_rows(offset), neighbors.to(torch.int64)
    outwards = left[source]
    source, target = source[outwards], target[outwards]
    mate = torch.full((n,), -1, device=offset.device)
    while True:
        parent, root = _forest(n, source, target, left, mate)
        ends = (~left & (parent >= 0) & (mate < 0)).nonzero().squeeze(1)
        if not len(ends):
            return mate, root >= 0
        last = torch.full((n,), -1, device=offset.device)
        last[root[ends].flip(0)] = ends.flip(0)  # one end for each tree: its smallest, where writes are in order
        right = last[last >= 0]
        while len(right):
            middle = parent[right]
            before = mate[middle]
            mate[right], mate[middle] = middle, right
            right = before[before >= 0]


def _forest(n: int, source: Tensor, target: Tensor, left: Tensor, mate: Tensor) -> tuple[Tensor, Tensor]:
    """(the vertex on the left from which each one on the right was reached, the free vertex of its tree), or -1."""
    parent = torch.full((n,), -1, device=mate.device)
    vertices = torch.arange(n, device=mate.device)
    root = torch.where(left & (mate < 0), vertices, -1)
    active = root >= 0
    while bool(active.any()):
        held = active[source] & (root[target] < 0)
        reached = torch.full((n,), n, device=mate.device)
        reached.scatter_reduce_(0, target[held], source[held], "amin")
        fresh = (reached < n).nonzero().squeeze(1)
        parent[fresh], root[fresh] = reached[fresh], root[reached[fresh]]
        active = torch.zeros_like(active)
        matched = fresh[mate[fresh] >= 0]
        root[mate[matched]] = root[matched]
        active[mate[matched]] = True
    return parent, root
