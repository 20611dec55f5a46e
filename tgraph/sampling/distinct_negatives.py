"""Pairs without an edge that differ from each other.

Draws go on until there are enough different ones, in the order in which they were first drawn. Where more than half of
all pairs are wanted, that would take long: all are listed, and those with the largest of random keys taken, which has
the same probabilities (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", IPL 2006).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.rows import gather_rows
from tgraph.kernels.operators.sampling.places import number_vertices

BY_DEGREE = 16  # rounds after which pairs are no longer drawn by degree, which may hit the same ones again and again

Draw = Callable[[Tensor | None, int, bool, int], Tensor]  # (sources, count, by degree, key) -> pairs [2, count]


def draw_distinct(draw: Draw, columns: int, count: int, by_degree: bool, key: int) -> Tensor:
    """`count` different pairs, int64 [2, count], of which there are twice as many."""
    codes = torch.empty(0, dtype=torch.int64)
    number = 0
    while len(codes) < count:
        row, column = draw(None, count - len(codes), by_degree and number < BY_DEGREE, random.key(key, number))
        _, codes = number_vertices(codes, row * columns + column)
        number += 1
    return torch.stack((codes // max(columns, 1), codes % max(columns, 1)))


def draw_distinct_for(draw: Draw, columns: int, sources: Tensor, by_degree: bool, key: int) -> Tensor:
    """The destination of each of the `sources`, int64 [k], different for equal ones, which have twice as many."""
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
    """Of listed pairs, each in a row, ascending, as many of each row as are `wanted` [rows]: their numbers, row by row.

    weight : of each pair, float64, by which they are drawn, those of weight 0 after all others; None for alike.
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
    """All pairs without an arc in some rows: (places in `rows`, columns), in ascending order."""
    bounds, arc = gather_rows(offset, rows)
    place = torch.arange(len(rows))
    free = torch.ones(len(rows), columns, dtype=torch.bool)
    free[place.repeat_interleave(bounds.diff()), neighbors[arc].long()] = False
    if not self_loops:
        free[place, rows] = False
    found, column = free.nonzero(as_tuple=True)
    return found, column
