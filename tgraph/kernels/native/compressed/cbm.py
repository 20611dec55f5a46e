"""The compiled builder of the Compressed Binary Matrix of `tgraph.kernels.operators.compressed.cbm`.

Candidates come from counting, for one row at a time, the rows that share columns with it, within a budget that is
linear in its ones; the parents are a minimum spanning forest over the candidates.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_data
from tgraph.kernels.operators.compressed.cbm import Matrix, child_dtype, offset_dtype


def find_parents(rows: Matrix, columns: Matrix, price: int, bounds: Tensor) -> tuple[Tensor, Tensor]:
    """See `tgraph.kernels.operators.compressed.cbm.find_parents`."""
    parent = torch.empty(len(rows.offset) - 1, dtype=rows.columns.dtype, device="cpu")
    earlier = torch.empty_like(parent)
    _kernels().find_parents(*rows, *columns, price, bounds, parent, earlier)
    return parent, earlier


def count_deltas(rows: Matrix, parent: Tensor) -> tuple[Tensor, Tensor]:
    """See `tgraph.kernels.operators.compressed.cbm.count_deltas`."""
    more, less = torch.empty_like(parent), torch.empty_like(parent)
    _kernels().count_deltas(*rows, parent, more, less)
    return more, less


def list_deltas(rows: Matrix, parent: Tensor, more: Tensor, less: Tensor) -> tuple[Tensor, Tensor]:
    """See `tgraph.kernels.operators.compressed.cbm.list_deltas`."""
    size = more.long() + less + (parent >= 0)
    ends = size.cumsum(0)
    count = int(ends[-1]) if len(ends) else 0
    offset = torch.zeros(len(size) + 1, dtype=offset_dtype(count), device="cpu")
    offset[1:] = ends
    children = torch.empty(count, dtype=child_dtype(len(size)), device="cpu")
    _kernels().list_deltas(*rows, parent, more, offset.to(torch.int64), children)
    return offset, children


def _kernels() -> ModuleType:
    return cast(ModuleType, native.load())


def _refuses(rows: Matrix, *others: Any) -> str | None:
    return "it needs int32 columns" if rows.columns.dtype != torch.int32 else refuses_data(rows.offset)


OPERATORS = {
    "find_parents": Implementation(find_parents, _refuses),
    "count_deltas": Implementation(count_deltas, _refuses),
    "list_deltas": Implementation(list_deltas, _refuses),
}
