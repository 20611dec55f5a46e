"""Distinct pairs without an edge.

Rejection sampling keeps new pairs, in the order of first draw. Where more than half of all pairs are wanted, all pairs
are listed and the largest random keys taken, with the same probabilities (Efraimidis and Spirakis, "Weighted random
sampling with a reservoir", IPL 2006).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.rows import gather_rows
from tgraph.kernels.operators.sampling.places import number_vertices

BY_DEGREE = 16  # rounds of draws by degree, before uniform ones: frequent pairs may repeat endlessly

Draw = Callable[[Tensor | None, int, bool, int], Tensor]  # (sources, count, by degree, key) -> pairs [2, count]


def draw_distinct(draw: Draw, columns: int, count: int, by_degree: bool, key: int) -> Tensor:
    """`count` distinct pairs, int64 [2, count], out of at least twice as many."""
    codes = torch.empty(0, dtype=torch.int64)
    number = 0
    while len(codes) < count:
        row, column = draw(None, count - len(codes), by_degree and number < BY_DEGREE, random.key(key, number))
        _, codes = number_vertices(codes, row * columns + column)
        number += 1
    return torch.stack((codes // max(columns, 1), codes % max(columns, 1)))


def draw_distinct_for(draw: Draw, columns: int, sources: Tensor, by_degree: bool, key: int) -> Tensor:
    """A destination for each of the `sources`, int64 [k], distinct for equal sources, out of at least twice as many."""
    found = torch.empty_like(sources)
    left, codes = torch.arange(len(sources)), sources[:0]
    number = 0
    while len(left):
        is_by_degree = by_degree and number < BY_DEGREE
        row, column = draw(sources[left], len(left), is_by_degree, random.key(key, number))
        known = len(codes)
        place, codes = number_vertices(codes, row * columns + column)
        before = torch.cat((torch.tensor([known - 1]), place.cummax(0).values[:-1].clamp(min=known - 1)))
        found[left[place > before]] = column[place > before]
        left = left[place <= before]
        number += 1
    return found


def choose_listed(row: Tensor, weight: Tensor | None, wanted: Tensor, key: int) -> Tensor:
    """Draw `wanted` [rows] pairs of each row without replacement: their positions in the list, row by row. `row` : of
    each listed pair, ascending.

    weight : of each pair, float64, for weighted draws, with weight 0 after all others; None for uniform draws.
    """
    number = torch.arange(len(row))
    share = random.uniform(key, number)
    keys = -share
    if weight is not None:
        keys = -torch.where(weight > 0, (share + 2.0**-54).log() / weight, share - 100)  # no logarithm is below -38
    order = keys.argsort(stable=True)
    order = order[row[order].argsort(stable=True)]
    size = torch.bincount(row, minlength=len(wanted))
    rank = number - (size.cumsum(0) - size)[row]
    return order[rank < wanted[row]]


def list_free(offset: Tensor, neighbors: Tensor, columns: int, rows: Tensor, self_loops: bool) -> tuple[Tensor, Tensor]:
    """All pairs without an arc in some rows: (positions in `rows`, columns), in ascending order."""
    bounds, arc = gather_rows(offset, rows)
    place = torch.arange(len(rows))
    free = torch.ones(len(rows), columns, dtype=torch.bool)
    free[place.repeat_interleave(bounds.diff()), neighbors[arc].long()] = False
    if not self_loops:
        free[place, rows] = False
    found, column = free.nonzero(as_tuple=True)
    return found, column
