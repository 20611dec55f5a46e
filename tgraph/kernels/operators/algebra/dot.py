"""Products of pairs of rows in torch operators: the entries of the shorter row are searched for in the other."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.kernels.operators.aggregation.segments import reduce_segments
from tgraph.kernels.operators.algebra.spgemm import TERMS
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS
from tgraph.kernels.sparse import SparseMatrix


@operator
def dot_pairs(
    a: SparseMatrix,
    b: SparseMatrix,
    rows: Tensor | None,
    groups: Tensor,
    others: Tensor,
    reduce: str,
    edge: str,
    dtype: torch.dtype,
) -> tuple[Tensor, Tensor]:
    """For each pair (i, j) the reduction of edge(b[j, k], a[i, k]) over the columns k that row i of `a` and row j of
    `b` both have, of a dtype [p], and whether there is one, bool [p]. No matrix has a column twice in a row.

    rows, groups, others : others[groups[g]:groups[g + 1]], int32 [p], are paired with row rows[g], int64, or g where
    None. reduce, edge : as `spgemm` takes them. Columns are numbered below the number of rows of either.
    """
    group = sorting.expand_rows(groups)
    rows = group if rows is None else rows.index_select(0, group)
    others = others.long()
    size = max(len(b.offset) - 1, len(a.offset) - 1, 1)
    key_of_b = sorting.expand_rows(b.offset) * size + b.columns
    sent, held = a.entry_values(), b.entry_values()
    count = a.offset.diff().index_select(0, rows)
    before = torch.cat((count.new_zeros(1), count.cumsum(0)))
    found, meets = [torch.empty(0, dtype=dtype, device=rows.device)], [rows.new_empty(0, dtype=torch.bool)]
    first = 0
    while first < len(rows):
        stop = max(int(torch.searchsorted(before, int(before[first]) + TERMS, right=True)) - 1, first + 1)
        part = count[first:stop]
        pair = torch.repeat_interleave(torch.arange(first, stop, device=rows.device), part)
        entry = a.offset[rows[pair]] + torch.arange(len(pair), device=rows.device) - (before[pair] - before[first])
        wanted = others[pair] * size + a.columns[entry]
        place = torch.searchsorted(key_of_b, wanted).clamp(max=max(len(key_of_b) - 1, 0))
        common = key_of_b[place] == wanted if len(key_of_b) else torch.zeros_like(wanted, dtype=torch.bool)
        pair, entry, place = pair[common], entry[common], place[common]
        ones = torch.ones(len(pair), dtype=dtype, device=rows.device)
        terms = EDGE_OPERATIONS[edge](ones if held is None else held[place], ones if sent is None else sent[entry])
        offset = torch.searchsorted(pair, torch.arange(first, stop + 1, device=rows.device))
        found.append(reduce_segments(terms, offset, REDUCTIONS[reduce]))
        meets.append(offset.diff() > 0)
        first = stop
    return torch.cat(found), torch.cat(meets)
