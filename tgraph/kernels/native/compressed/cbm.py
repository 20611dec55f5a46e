"""The compiled builder of the Compressed Binary Matrix of `tgraph.kernels.operators.compressed.cbm`.

Candidates come from counting, for one row at a time, the rows that share columns with it, within a budget that is
linear in its ones; the parents are a minimum spanning forest over the candidates.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.operators.compressed import cbm as declared
from tgraph.kernels.operators.compressed.cbm import Matrix, child_dtype, offset_dtype


def _refuses(rows: Matrix, *others: Any) -> str | None:
    return "it needs int32 columns" if rows.columns.dtype != torch.int32 else refuses_data(rows.offset)


@implements(declared.find_parents, _refuses)
def find_parents(rows: Matrix, columns: Matrix, price: int, bounds: Tensor) -> tuple[Tensor, Tensor]:
    parent = torch.empty(len(rows.offset) - 1, dtype=rows.columns.dtype, device="cpu")
    earlier = torch.empty_like(parent)
    compiled().find_parents(*rows, *columns, price, bounds, parent, earlier)
    return parent, earlier


@implements(declared.count_deltas, _refuses)
def count_deltas(rows: Matrix, parent: Tensor) -> tuple[Tensor, Tensor]:
    more, less = torch.empty_like(parent), torch.empty_like(parent)
    compiled().count_deltas(*rows, parent, more, less)
    return more, less


@implements(declared.list_deltas, _refuses)
def list_deltas(rows: Matrix, parent: Tensor, more: Tensor, less: Tensor) -> tuple[Tensor, Tensor]:
    size = more.long() + less + (parent >= 0)
    ends = size.cumsum(0)
    count = int(ends[-1]) if len(ends) else 0
    offset = torch.zeros(len(size) + 1, dtype=offset_dtype(count), device="cpu")
    offset[1:] = ends
    children = torch.empty(count, dtype=child_dtype(len(size)), device="cpu")
    compiled().list_deltas(*rows, parent, more, offset.to(torch.int64), children)
    return offset, children
