"""The builder of the Compressed Binary Matrix in torch operators: parents of rows, and the rows as deltas to them.

Rows that are alike have the same smallest column under a random permutation with a probability that is the share of
columns common to both (min-wise hashing: Broder, "On the resemblance and containment of documents", 1997). So rows
sorted by two such columns stand side by side where they are alike, and a few permutations bring most of them together.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.core.dispatch import setup_operator
from tgraph.core.rows import gather_rows

PERMUTATIONS = 6  # how often the rows are sorted anew
NEIGHBORHOOD = 3  # how many rows further a row looks for a parent
ENTRIES_AT_ONCE = 1 << 22  # of rows compared


class Matrix(NamedTuple):
    """A binary matrix: row v has ones in columns[offset[v]:offset[v + 1]], which ascend strictly. offset : int64
    [n + 1]; columns : int32 or int64 [m]."""

    offset: Tensor
    columns: Tensor


def child_dtype(num_rows: int) -> torch.dtype:
    """The dtype that holds the numbers of n inputs and n outputs, and their complements."""
    return torch.int32 if num_rows < 2**30 else torch.int64


def offset_dtype(count: int) -> torch.dtype:
    """The dtype that holds the bounds of rows with `count` children in all."""
    return torch.int32 if count < 2**31 else torch.int64


@setup_operator
def find_parents(rows: Matrix, columns: Matrix, price: int, bounds: Tensor) -> tuple[Tensor, Tensor]:
    """(parent, earlier), [n] of the dtype of the columns: a row to compress each row by, any row and an earlier one of
    the same block, -1 where none saves more than `price` of its ones. Following parents ends at a row without one.

    `columns` is the transpose; `bounds`, int64, those of the blocks of rows, from 0 to n. Here the parents in the
    first have fewer ones, or as many and a smaller number. O(m log m) time, and 16 bytes for each one of the matrix.
    """
    ones, n = rows.offset.diff(), len(rows.offset) - 1
    nearest = ones * (n + 1)  # distance * (n + 1) + number of the parent + 1
    nearest_before = nearest.clone()
    block = torch.searchsorted(bounds, torch.arange(n, device=bounds.device), right=True)
    for a, b in _candidates(rows):
        distance = ones[a] + ones[b] - 2 * _common(rows, a, b) + price
        heavier = (ones[a] > ones[b]) | ((ones[a] == ones[b]) & (a > b))
        child, above = torch.where(heavier, a, b), torch.where(heavier, b, a)
        nearest.scatter_reduce_(0, child, distance * (n + 1) + above + 1, "amin")
        inside = block[a] == block[b]
        a, b, distance = a[inside], b[inside], distance[inside]
        key = distance * (n + 1) + torch.minimum(a, b) + 1
        nearest_before.scatter_reduce_(0, torch.maximum(a, b), key, "amin")
    dtype = rows.columns.dtype
    return (nearest % (n + 1) - 1).to(dtype), (nearest_before % (n + 1) - 1).to(dtype)


@setup_operator
def count_deltas(rows: Matrix, parent: Tensor) -> tuple[Tensor, Tensor]:
    """(more, less), [n]: how many columns each row has and its parent lacks, and the other way round. A row without
    a parent has all of its columns more."""
    child = (parent >= 0).nonzero().squeeze(1)
    common = torch.zeros_like(rows.offset[1:])
    common[child] = _common(rows, child, parent[child].long())
    less = torch.zeros_like(common)
    less[child] = _ones(rows, parent[child].long())
    return (rows.offset.diff() - common).to(parent.dtype), (less - common).to(parent.dtype)


@setup_operator
def list_deltas(rows: Matrix, parent: Tensor, more: Tensor, less: Tensor) -> tuple[Tensor, Tensor]:
    """(offset [n + 1], children): each row as its parent, a number n + parent, the columns more and ~columns less."""
    size = more.long() + less + (parent >= 0)
    ends = size.cumsum(0)
    count = int(ends[-1]) if len(ends) else 0
    offset = torch.zeros(len(size) + 1, dtype=offset_dtype(count), device=parent.device)
    offset[1:] = ends
    children = torch.empty(count, dtype=child_dtype(len(size)), device=parent.device)
    child = (parent >= 0).nonzero().squeeze(1)
    above = parent[child].long()
    first = ends - size
    children[first[child]] = (above + len(size)).to(children.dtype)
    for part in _parts(rows, child, above):
        _write_missing(rows, child[part], above[part], first[child[part]] + 1, children, removed=False)
        behind = first[child[part]] + 1 + more[child[part]]
        _write_missing(rows, above[part], child[part], behind, children, removed=True)
    plain = (parent < 0).nonzero().squeeze(1)
    selected, position = gather_rows(rows.offset, plain)
    shift = torch.repeat_interleave(first[plain] - selected[:-1], selected.diff(), output_size=len(position))
    children[shift + torch.arange(len(position), device=shift.device)] = rows.columns[position].to(children.dtype)
    return offset, children


def _candidates(rows: Matrix) -> Iterator[tuple[Tensor, Tensor]]:
    """Pairs of rows that may be alike, int64 [k] each."""
    n = len(rows.offset) - 1
    filled = (rows.offset.diff() > 0).nonzero().squeeze(1)
    random = torch.Generator().manual_seed(n)
    orders = [filled]
    for _ in range(PERMUTATIONS if len(filled) > 1 else 0):
        order = filled
        for _ in range(2):
            place = torch.randperm(n, generator=random, device="cpu").to(filled.device)
            order = order[torch.argsort(_least(rows, filled, place, n)[order], stable=True)]
        orders.append(order)
    for order in orders:
        for distance in range(1, NEIGHBORHOOD + 1):
            yield order[:-distance], order[distance:]


def _least(rows: Matrix, filled: Tensor, place: Tensor, n: int) -> Tensor:
    """The least place of the columns of each row that has some, [n]."""
    row = torch.repeat_interleave(torch.arange(n, device=place.device), rows.offset.diff())
    least = torch.full((n,), n, dtype=torch.int64, device=place.device)
    return least.scatter_reduce_(0, row, place[rows.columns.long()], "amin")


def _ones(rows: Matrix, which: Tensor) -> Tensor:
    return rows.offset[which + 1] - rows.offset[which]


def _common(rows: Matrix, x: Tensor, y: Tensor) -> Tensor:
    """How many columns each row of x shares with that of y at the same place, int64 [k]."""
    common = torch.zeros_like(x)
    for part in _parts(rows, x, y):
        pair, found, _ = _look_up(rows, x[part], y[part])
        common[part] = torch.bincount(pair[found], minlength=len(x[part]))
    return common


def _parts(rows: Matrix, x: Tensor, y: Tensor) -> Iterator[slice]:
    """Parts of the pairs of rows that are compared at once."""
    if not len(x):
        return
    size = (_ones(rows, x) + _ones(rows, y)).cumsum(0)
    steps = torch.arange(0, int(size[-1]), ENTRIES_AT_ONCE, device=size.device)
    bounds = [*torch.searchsorted(size, steps).tolist(), len(x)]
    for first, last in pairwise(bounds):
        if first < last:
            yield slice(first, last)


def _look_up(rows: Matrix, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """For every column of the rows x: (its pair, whether the row y of that pair has it, the column), [e] each.

    All rows y are searched at once, each column for its place among those of its own row, by halving."""
    selected, position = gather_rows(rows.offset, x)
    pair = torch.repeat_interleave(torch.arange(len(x), device=x.device), selected.diff(), output_size=len(position))
    column = rows.columns[position]
    low, end = rows.offset[y][pair], rows.offset[y + 1][pair]
    high = end
    for _ in range(int(_ones(rows, y).max()).bit_length()):
        middle = (low + high) // 2
        below = (low < high) & (rows.columns[middle.clamp(max=len(rows.columns) - 1)] < column)
        low, high = torch.where(below, middle + 1, low), torch.where(below, high, middle)
    found = (low < end) & (rows.columns[low.clamp(max=len(rows.columns) - 1)] == column)
    return pair, found, column


def _write_missing(rows: Matrix, x: Tensor, y: Tensor, first: Tensor, children: Tensor, *, removed: bool) -> None:
    """Write the columns of each row of x that its row of y lacks, or their complements, from `first` [k] on."""
    pair, found, column = _look_up(rows, x, y)
    pair, column = pair[~found], column[~found].to(children.dtype)
    count = torch.bincount(pair, minlength=len(x))
    rank = torch.arange(len(pair), device=pair.device) - (count.cumsum(0) - count)[pair]
    children[first[pair] + rank] = ~column if removed else column
