"""The vertices that random walks visit most often, in torch operators.

A traversal of a walk goes along one arc of each step in turn. Walk w of the start at place p of a batch has a stream of
random numbers of its own: word p * walks + w of the key. With h steps, traversal t draws number t * (h + 1), which ends
the walk where it is below the probability to, other than before the first; and one number for the arc of each step. A
walk ends where no arc leads on. Where a traversal ends is visited.

An arc that is drawn by its weight is the first draw of a stream of its own, the word of that number: the arc at that
share of the mass of the row.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.dispatch import operator
from tgraph.core.rows import gather_rows


class Step(NamedTuple):
    """Arcs along which walks go: offset int64 [n + 1], neighbors int32 or int64 [m]; the weights by which these are
    drawn and their sums, as in `Relation` of `tgraph.kernels.operators.sampling.neighbors`, or None."""

    offset: Tensor
    neighbors: Tensor
    weights: Tensor | None = None
    sums: Tensor | None = None


@operator
def most_visited(
    steps: list[Step],
    start: Tensor,
    first: int,
    walks: int,
    traversals: int,
    termination: float,
    count: int,
    key: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """At most `count` vertices for each `start` [k] that its walks visit most often, those visited first before others:
    (how many, int64 [k]; vertices, int64; visits, float32).

    first : place of the first start. termination : the probability to end before
    each traversal but the first.
    """
    place = first * walks + torch.arange(len(start) * walks, device=start.device)
    own = random.words(key, place)
    at = start.repeat_interleave(walks)
    left = torch.arange(len(at), device=at.device)  # walks that have not ended
    visited = torch.full((len(at), traversals), -1, device=at.device)
    stride = len(steps) + 1
    for traversal in range(traversals):
        if traversal:
            left = left[_draw(own[left], traversal * stride) >= termination]
        for hop, step in enumerate(steps):
            arc = _drawn(step, at[left], own[left], traversal * stride + 1 + hop)
            left, arc = left[arc >= 0], arc[arc >= 0]
            at[left] = step.neighbors[arc].long()
        visited[left, traversal] = at[left]
    return _most(visited.view(len(start), walks * traversals), count)


def _drawn(step: Step, rows: Tensor, own: Tensor, number: int) -> Tensor:
    """The arc that each walk takes out of its row, -1 where none can be taken."""
    begin, end = step.offset[rows], step.offset[rows + 1]
    if step.weights is None:
        return torch.where(begin < end, begin + (_draw(own, number) * (end - begin)).long(), -1)
    bounds, arc = gather_rows(step.offset, rows)
    running = torch.nn.functional.pad(step.weights[arc].double().cumsum(0), (1, 0))
    low, high = running[bounds[:-1]], running[bounds[1:]]
    own = random.words(own, torch.full_like(own, number))
    at = torch.searchsorted(running, low + _draw(own, 0) * (high - low), right=True) - 1
    last = torch.searchsorted(running, high) - 1  # the last one with any mass: rounding may lead beyond
    return torch.where(low < high, arc[at.minimum(last)] if len(arc) else -1, -1)


def _draw(own: Tensor, number: int) -> Tensor:
    return random.uniform(own, torch.full_like(own, number))


def _most(visited: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The most frequent entries of each row, other than -1."""
    row, time = (visited >= 0).nonzero(as_tuple=True)
    vertex = visited[row, time]
    pairs, inverse, visits = torch.stack((row, vertex)).unique(dim=1, return_inverse=True, return_counts=True)
    when = torch.full_like(visits, visited.shape[1]).scatter_reduce_(0, inverse, time, "amin")
    order = when.argsort(stable=True)
    order = order[visits[order].argsort(stable=True, descending=True)]
    return best_of_rows(pairs[0], order, len(visited), count, pairs[1], visits.float())


def best_of_rows(
    row: Tensor, order: Tensor, rows: int, count: int, vertices: Tensor, values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Of entries, each in a row, the first `count` of each row by `order`: (how many, vertices, values)."""
    order = order[row[order].argsort(stable=True)]
    size = torch.bincount(row, minlength=rows)
    rank = torch.arange(len(order), device=row.device) - (size.cumsum(0) - size)[row[order]]
    order = order[rank < count]
    return size.clamp(max=count), vertices[order], values[order]
