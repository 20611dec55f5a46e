"""The most similar others of each row in torch operators: rows of a product, some at a time, of which the best stay."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.core.system import devices
from tgraph.kernels.operators.algebra.spgemm import product_rows
from tgraph.kernels.sparse import SparseMatrix

# By name: (what two rows have in common, the size of either) -> their similarity.
SCORES: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "common": lambda common, a, b: common,
    "jaccard": lambda common, a, b: common / (a + b - common),
    "overlap": lambda common, a, b: common / torch.minimum(a, b),
    "sorensen": lambda common, a, b: 2 * common / (a + b),
    "cosine": lambda common, a, b: common * common / (a * b),  # its square, by which ties are exact
}


@operator
def nearest_rows(
    ids: Tensor | None, a: SparseMatrix, b: SparseMatrix, sizes: Tensor, score: str, k: int, others_only: bool
) -> tuple[Tensor, Tensor]:
    """For each row i of `a` the k columns j of the product of `a` and `b` whose score of (common, sizes[i], sizes[j])
    is largest, best first, ties by number: (int64 [r, k], -1 where there are fewer, float64 [r, k], 0 there).

    ids : the vertex that each row is, int64 [r], None for 0..r-1; it is left out itself and, with `others_only`, the
    columns of its row of `a`. sizes : int64 [n]. score : a name of SCORES.
    """
    number = torch.arange(len(a.offset) - 1, device=a.offset.device) if ids is None else ids
    columns = torch.full((len(number), k), -1, dtype=torch.int64, device=a.offset.device)
    scores = torch.zeros((len(number), k), dtype=torch.float64, device=a.offset.device)
    mask = a if others_only else None
    for row, column, common in product_rows(a, b, "sum", "mul", torch.float64, mask, complement=True):
        other = number[row] != column
        row, column, common = row[other], column[other], common[other]
        similarity = SCORES[score](common, sizes[number[row]].double(), sizes[column].double())
        order = devices.sort(-similarity)[1]
        order = order[devices.sort(row[order])[1]]
        row, column, similarity = row[order], column[order], similarity[order]
        rank = torch.arange(len(row), device=row.device) - torch.searchsorted(row, row)
        best = rank < k
        columns[row[best], rank[best]] = column[best]
        scores[row[best], rank[best]] = similarity[best]
    return columns, scores.sqrt() if score == "cosine" else scores
