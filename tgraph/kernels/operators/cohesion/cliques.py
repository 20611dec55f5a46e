"""Cliques in torch operators: those of k + 1 vertices by extending those of k. Every clique is held in memory."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.rows import gather_rows, offset_of


@operator
def clique_sizes(offset: Tensor, neighbors: Tensor, order: Tensor) -> Tensor:
    """How many maximal cliques of each size there are, int64 [n + 1], in an undirected simple graph.

    `order` is a degeneracy order of its vertices, the last one first, int64 [n]."""
    found = torch.zeros_like(offset)
    for size, (cliques, _) in enumerate(_maximal(offset, neighbors, order), 1):
        found[size] = len(cliques)
    return found


@operator
def maximal_cliques(offset: Tensor, neighbors: Tensor, order: Tensor) -> tuple[Tensor, Tensor]:
    """The maximal cliques (offset int64 [c + 1], members): each ascending, in the order of the ranks of their last
    vertices, then in an order that is left open."""
    held = [(cliques, last) for cliques, last in _maximal(offset, neighbors, order) if len(cliques)]
    if not held:
        return offset.new_zeros(1), offset.new_empty(0)
    size = torch.cat([cliques.new_full((len(cliques),), cliques.shape[1]) for cliques, _ in held])
    last = torch.cat([last for _, last in held])
    position = torch.sort(last, stable=True)[1]
    members = torch.cat([cliques.sort(1)[0].flatten() for cliques, _ in held])
    return offset_of(size[position]), members[gather_rows(offset_of(size), position)[1]]


@operator
def largest_clique(offset: Tensor, neighbors: Tensor, order: Tensor) -> Tensor:
    """A largest clique, ascending, int64 [k]: of those whose last vertex is of the smallest rank one."""
    best = offset.new_empty(0)
    for cliques, last in _levels(offset, neighbors, order):
        best = cliques[last.argmin()]
    return best.sort()[0]


@operator
def count_cliques(offset: Tensor, neighbors: Tensor, order: Tensor, k: int) -> int:
    """The number of cliques of k vertices, -1 where 64 bits do not hold it."""
    for size, (cliques, _) in enumerate(_levels(offset, neighbors, order), 1):
        if size == k:
            return len(cliques)
    return 0


def _maximal(offset: Tensor, neighbors: Tensor, order: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    for cliques, last in _levels(offset, neighbors, order):
        extended = _extensions(offset, neighbors, cliques)[0]
        whole = torch.bincount(extended, minlength=len(cliques)) == 0
        yield cliques[whole], last[whole]


def _levels(offset: Tensor, neighbors: Tensor, order: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """All cliques of 1, 2, ... vertices, [c, k], from the last vertex down in rank, and the rank of the last."""
    rank = torch.empty_like(order).index_copy_(0, order, torch.arange(len(order), device=order.device))
    cliques = order.unsqueeze(1)
    while len(cliques):
        yield cliques, rank[cliques[:, 0]]
        which, added = _extensions(offset, neighbors, cliques)
        down = rank[added] < rank[cliques[which, -1]]
        cliques = torch.cat((cliques[which[down]], added[down].unsqueeze(1)), 1)


def _extensions(offset: Tensor, neighbors: Tensor, cliques: Tensor) -> tuple[Tensor, Tensor]:
    """(the number of a clique, a vertex that is joined with all of it), for each such pair."""
    n = max(len(offset) - 1, 1)
    key = sorting.expand_rows(offset) * n + neighbors
    selected, position = gather_rows(offset, cliques[:, 0])
    which = torch.arange(len(cliques), device=offset.device).repeat_interleave(selected.diff())
    added = neighbors.index_select(0, position).to(torch.int64)
    for column in range(1, cliques.shape[1]):
        wanted = cliques[which, column] * n + added
        place = torch.searchsorted(key, wanted).clamp(max=max(len(key) - 1, 0))
        joined = key[place] == wanted
        which, added = which[joined], added[joined]
    return which, added
