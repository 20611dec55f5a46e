"""Products of sparse matrices over a semiring in torch operators: some rows at a time are expanded to their terms,
sorted by row and column, and reduced by segments."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.system import devices
from tgraph.kernels.operators.aggregation.segments import reduce_segments
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS
from tgraph.kernels.sparse import SparseMatrix

# Terms that are expanded together, but for a single row of more; each takes some 60 bytes.
TERMS = 1 << 21


@operator
def spgemm(
    a: SparseMatrix,
    b: SparseMatrix,
    reduce: str,
    edge: str,
    dtype: torch.dtype | None,
    mask: SparseMatrix | None = None,
    complement: bool = False,
) -> SparseMatrix:
    """The product of two matrices: entry (i, j) is the reduction over k, ascending, of edge(b[k, j], a[i, k]).

    reduce : "sum", "min", "max" or "prod". edge : a name of EDGE_OPERATIONS. dtype : that of all values, or None for
    the entries without values. mask : keeps the entries that it has, or those that it has not with `complement`.
    """
    parts = list(product_rows(a, b, reduce, edge, dtype, mask, complement))
    rows, columns = (torch.cat([part[i] for part in parts]) for i in (0, 1))
    values = None if dtype is None else torch.cat([part[2] for part in parts])
    offset = torch.searchsorted(rows, torch.arange(len(a.offset), device=rows.device))
    return SparseMatrix(offset, columns.to(a.columns.dtype), values)


def product_rows(
    a: SparseMatrix,
    b: SparseMatrix,
    reduce: str,
    edge: str,
    dtype: torch.dtype | None,
    mask: SparseMatrix | None = None,
    complement: bool = False,
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The entries of the product as (rows, columns, values), ascending, those of some rows at a time."""
    width = max(len(b.offset) - 1, 1)
    length, row_of_entry = b.offset.diff(), sorting.expand_rows(a.offset)
    sent, held = a.entry_values(), b.entry_values()
    wanted = None if mask is None else sorting.expand_rows(mask.offset) * width + mask.columns
    for begin, stop in _blocks(a.offset, length.index_select(0, a.columns)):
        middle = a.columns[begin:stop].long()
        count = length.index_select(0, middle)
        entry = torch.repeat_interleave(torch.arange(begin, stop, device=count.device), count)
        within = torch.arange(len(entry), device=count.device) - (count.cumsum(0) - count)[entry - begin]
        other = b.offset.index_select(0, a.columns[entry].long()) + within
        key = row_of_entry[entry] * width + b.columns[other]
        terms = _terms(edge, dtype, None if held is None else held[other], None if sent is None else sent[entry], key)
        key, order = devices.sort(key)
        key, repeats = torch.unique_consecutive(key, return_counts=True)
        offset = torch.cat((repeats.new_zeros(1), repeats.cumsum(0)))
        values = reduce_segments(terms[order], offset, REDUCTIONS[reduce])
        if wanted is not None:
            kept = _occurs(key, wanted) != complement
            key, values = key[kept], values[kept]
        yield key // width, key % width, values


def _blocks(offset: Tensor, terms: Tensor) -> Iterator[tuple[int, int]]:
    """Ranges of entries: whole rows of at most TERMS terms in all, or one row. At least one range."""
    before = torch.cat((terms.new_zeros(1), terms.cumsum(0)))[offset]
    row, num_rows = 0, len(offset) - 1
    while True:
        stop = int(torch.searchsorted(before, int(before[row]) + TERMS, right=True)) - 1
        stop = min(max(stop, row + 1), num_rows)
        yield int(offset[row]), int(offset[stop])
        if (row := stop) >= num_rows:
            return


def _terms(edge: str, dtype: torch.dtype | None, b: Tensor | None, a: Tensor | None, key: Tensor) -> Tensor:
    ones = torch.ones_like(key, dtype=torch.int64 if dtype is None else dtype)
    return EDGE_OPERATIONS[edge](ones if b is None else b, ones if a is None else a)


def _occurs(key: Tensor, among: Tensor) -> Tensor:
    """Which keys occur among others that ascend, bool."""
    if not len(among):
        return torch.zeros_like(key, dtype=torch.bool)
    place = torch.searchsorted(among, key).clamp(max=len(among) - 1)
    return among[place] == key
