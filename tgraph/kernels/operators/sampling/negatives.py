"""Pairs of vertices without an arc, drawn exactly in torch operators.

The pairs without an arc are numbered row by row. With C columns, the rows before v have C v - offset[v] of them: a
binary search in `offset` finds the row of a number, and another one in the row its column, since there are
neighbors[i] - i columns without an arc before neighbor i of a row. No table is needed and nothing is drawn in vain.

Draw i has a stream of random numbers of its own, word i of the key. Where pairs are drawn by degree, trial t takes the
row of arc number 2 t and the neighbor of arc number 2 t + 1; after TRIALS that are arcs, one of all pairs is taken.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.dispatch import operator

TRIALS = 64


@operator
def sample_negatives(
    offset: Tensor,
    neighbors: Tensor,
    num_columns: int,
    loops: Tensor | None,
    sources: Tensor | None,
    count: int,
    by_degree: bool,
    key: int,
) -> Tensor:
    """`count` pairs (row, column) that are no arcs, int64 [2, count].

    neighbors : ascending and different within each row. loops : int64 [n + 1], how many rows before each have an arc to
    themselves, where pairs (v, v) are not wanted; None where they are. sources : the row of each pair, int64 [count],
    none of which has arcs to all columns; None to draw them, of which there must be some.
    """
    rows = _Rows(offset, neighbors.long(), num_columns, loops)
    own = random.words(key, torch.arange(count, device=offset.device))
    left = torch.arange(count, device=offset.device)
    pairs = torch.empty(2, count, dtype=torch.int64, device=offset.device)
    for trial in range(TRIALS if by_degree and len(neighbors) else 0):
        row = rows.of_arcs(_below(own[left], 2 * trial, len(neighbors))) if sources is None else sources[left]
        column = rows.neighbors[_below(own[left], 2 * trial + 1, len(neighbors))]
        free = rows.are_free(row, column)
        pairs[:, left[free]] = torch.stack((row, column))[:, free]
        left = left[~free]
        if not len(left):
            break
    if sources is None:
        row, number = rows.of_numbers(_below(own[left], 2 * TRIALS, rows.free_before(rows.last)))
    else:
        row = sources[left]
        number = _below(own[left], 2 * TRIALS, rows.free_in(row))
    pairs[:, left] = torch.stack((row, rows.columns(row, number)))
    return pairs


def _below(own: Tensor, number: int, bound: Tensor | int) -> Tensor:
    """The draw of that number of each stream, below `bound`."""
    return (random.uniform(own, torch.full_like(own, number)) * bound).to(torch.int64)


class _Rows:
    """The pairs without an arc, free ones, row by row."""

    def __init__(self, offset: Tensor, neighbors: Tensor, num_columns: int, loops: Tensor | None):
        self.offset, self.neighbors, self.num_columns, self.loops = offset, neighbors, num_columns, loops
        self.last = torch.tensor(len(offset) - 1, device=offset.device)

    def free_before(self, row: Tensor) -> Tensor:
        """How many pairs the rows before have."""
        free = row * self.num_columns - self.offset[row]
        return free if self.loops is None else free - (row - self.loops[row])

    def free_in(self, row: Tensor) -> Tensor:
        return self.free_before(row + 1) - self.free_before(row)

    def of_numbers(self, number: Tensor) -> tuple[Tensor, Tensor]:
        """(the row of each pair, its number in there)"""
        row = _last(torch.zeros_like(number), self.last.expand_as(number), lambda v: self.free_before(v) <= number)
        return row, number - self.free_before(row)

    def of_arcs(self, arc: Tensor) -> Tensor:
        return torch.searchsorted(self.offset, arc, right=True) - 1

    def columns(self, row: Tensor, number: Tensor) -> Tensor:
        """The column of each pair, by its number in the row."""
        column = self._without_arc(row, number)
        if self.loops is None:
            return column
        passes = (self.loops[row + 1] == self.loops[row]) & (column >= row)
        return self._without_arc(row, number + passes.long())

    def _without_arc(self, row: Tensor, number: Tensor) -> Tensor:
        begin = self.offset[row]
        before = lambda i: (i == begin) | (self.neighbors[(i - 1).clamp(min=0)] - (i - 1 - begin) <= number)  # noqa: E731
        return number + _last(begin, self.offset[row + 1] + 1, before) - begin

    def are_free(self, row: Tensor, column: Tensor) -> Tensor:
        begin = self.offset[row]
        before = lambda i: (i == begin) | (self.neighbors[(i - 1).clamp(min=0)] <= column)  # noqa: E731
        at = _last(begin, self.offset[row + 1] + 1, before)
        free = (at == begin) | (self.neighbors[(at - 1).clamp(min=0)] != column)
        return free if self.loops is None else free & (row != column)


def _last(low: Tensor, high: Tensor, holds: Callable[[Tensor], Tensor]) -> Tensor:
    """The last of low..high - 1 for which a condition holds, which it does for the first ones, `low` at least."""
    low, high = low.clone(), high.clone()
    while bool((high - low > 1).any()):
        middle = (low + high) // 2
        found = (high - low > 1) & holds(middle)
        high = torch.where((high - low > 1) & ~found, middle, high)
        low = torch.where(found, middle, low)
    return low
