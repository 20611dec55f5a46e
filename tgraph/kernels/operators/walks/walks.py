"""Random walks in torch operators: all of them a step farther at a time.

Walk i has a stream of random numbers of its own, and step s of it the numbers from s * 2^32 on. Number 0 decides
whether to restart. A first-order step takes the arc at number 1 of the mass of the row, which is its weights, or the
number of its arcs. A second-order step from v, where the walk came from t, tries candidates x, number 1 + 2 k for
the k-th: it is accepted where number 2 + 2 k, times the largest bias, is below its own bias,

    1 / p for x = t,     1 where t has an arc to x,     1 / q for others.

Where 1 / p is the largest by far few others would be accepted: what it has beyond the largest of those is added to the
mass as a share of its own, which goes back at once.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.building import sorting
from tgraph.core.dispatch import operator


@operator
def random_walks(
    offset: Tensor,
    neighbors: Tensor,
    total: Tensor | None,
    start: Tensor,
    length: int,
    key: int,
    back: float,
    away: float,
    restart: float,
) -> Tensor:
    """Walks of `length` steps from each `start` [k], int64 [k, length + 1]; where a row has no mass, a walk stays.

    `total`, float64 [m], running sums of the weights, None for 1; rows are sorted. `back` is 1 / p, `away` 1 / q,
    `restart` the probability of each step to go back to the start, after which the next one is of first order.
    """
    arcs, count = _Arcs(offset, neighbors, total), len(start)
    own = random.words(key, torch.arange(count, device=start.device))
    walks = torch.empty((count, length + 1), dtype=torch.int64, device=start.device)
    walks[:, 0] = start
    came = torch.zeros(count, dtype=torch.bool, device=start.device)
    for step in range(length):
        at, counter = walks[:, step], torch.full_like(own, step << 32)
        restarts = random.uniform(own, counter) < restart
        onward = torch.where(restarts, start, at)
        moves = ~restarts & (arcs.mass(at) > 0)
        first, second = (moves & ~came).nonzero().squeeze(1), (moves & came).nonzero().squeeze(1)
        share = random.uniform(own[first], counter[first] + 1) * arcs.mass(at[first])
        onward[first] = arcs.at(at[first], share)
        before = walks[:, max(step - 1, 0)]
        onward[second] = _second_order(arcs, at[second], before[second], own[second], step << 32, back, away)
        walks[:, step + 1] = onward
        came = ~restarts if (back, away) != (1, 1) else came
    return walks


def _second_order(arcs: _Arcs, at: Tensor, before: Tensor, own: Tensor, first: int, back: float, away: float) -> Tensor:
    """The next vertices of walks that came from `before` [k], whose numbers of this step begin with `first`."""
    most, onward = max(1.0, away), at.clone()
    mass = arcs.mass(at)
    extra = (back / most - 1) * arcs.mass_to(at, before) if back > most else torch.zeros_like(mass)
    left, counter = torch.arange(len(at), device=at.device), first + 1
    while len(left):
        v, t = at[left], before[left]
        share = random.uniform(own[left], torch.full_like(left, counter)) * (mass[left] + extra[left])
        returns = share >= mass[left]
        x = torch.where(returns, t, arcs.at(v, share))
        bias = torch.where(arcs.has(t, x), 1.0, torch.full_like(share, away))
        bias = torch.where(x == t, min(back, most), bias)
        taken = returns | (random.uniform(own[left], torch.full_like(left, counter + 1)) * most < bias)
        onward[left[taken]] = x[taken]
        left, counter = left[~taken], counter + 2
    return onward


class _Arcs:
    """Rows by the mass of their arcs."""

    def __init__(self, offset: Tensor, neighbors: Tensor, total: Tensor | None):
        self.offset, self.neighbors, self.total = offset, neighbors.to(torch.int64), total
        self.n = len(offset) - 1
        self.keys = sorting.expand_rows(offset) * self.n + self.neighbors

    def mass(self, row: Tensor) -> Tensor:
        """The mass of whole rows."""
        return self._before(self.offset[row + 1]) - self._before(self.offset[row])

    def at(self, row: Tensor, share: Tensor) -> Tensor:
        """The neighbours at a share of the mass of each row, none empty."""
        begin, end = self.offset[row], self.offset[row + 1]
        if self.total is None:
            return self.neighbors[begin + share.to(torch.int64).minimum(end - begin - 1)]
        wanted = self._before(begin) + share
        high = self.total[end - 1]
        wanted = torch.where(wanted >= high, torch.nextafter(high, torch.full_like(high, -torch.inf)), wanted)
        return self.neighbors[torch.searchsorted(self.total, wanted, right=True)]

    def has(self, row: Tensor, vertex: Tensor) -> Tensor:
        """Whether each row has an arc to the vertex."""
        key = row * self.n + vertex
        return torch.searchsorted(self.keys, key, right=True) > torch.searchsorted(self.keys, key)

    def mass_to(self, row: Tensor, vertex: Tensor) -> Tensor:
        """The mass of the arcs from each row to the vertex."""
        key = row * self.n + vertex
        first, last = (torch.searchsorted(self.keys, key, right=right) for right in (False, True))
        return self._before(last) - self._before(first)

    def _before(self, arc: Tensor) -> Tensor:
        """The mass of all arcs before."""
        if self.total is None:
            return arc.to(torch.float64)
        return torch.nn.functional.pad(self.total, (1, 0))[arc]
