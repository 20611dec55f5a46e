"""Products of sparse matrices and of pairs of their rows, compiled: see `spgemm.hpp`, `dot.hpp` and `nearest.cpp`."""

from __future__ import annotations

from types import ModuleType
from typing import cast

import torch
from torch import Tensor

from tgraph.core.system import native, pages
from tgraph.kernels.call import Call
from tgraph.kernels.sparse import SparseMatrix

DTYPES = (torch.int64, torch.float32, torch.float64)


def refuses(call: Call) -> str | None:
    """Products of int64, float32 and float64; vertices of int32. `data` are the columns of a matrix."""
    if call.dtype is not None and call.dtype not in DTYPES:
        return f"it multiplies int64, float32 and float64, not {call.dtype}"
    return None if call.data.dtype == torch.int32 else "it multiplies matrices of fewer than 2^31 columns"


def spgemm(
    a: SparseMatrix,
    b: SparseMatrix,
    reduce: str,
    edge: str,
    dtype: torch.dtype | None,
    mask: SparseMatrix | None = None,
    complement: bool = False,
) -> SparseMatrix:
    """See `tgraph.kernels.operators.algebra.spgemm.spgemm`."""
    kernels = cast(ModuleType, native.load())
    masked = (None, None) if mask is None else mask[:2]
    room = kernels.spgemm_room(*a[:2], *b[:2], *masked, complement)
    offset = torch.empty(len(a.offset), dtype=torch.int64, device="cpu")
    columns = pages.Room(room, torch.int32)
    values = None if dtype is None else pages.Room(room, dtype)
    size = kernels.spgemm_rows(
        *a, *b[:3], *masked, complement, reduce, edge, offset, columns.tensor, values and values.tensor
    )
    return SparseMatrix(offset, columns.cut(size), None if values is None else values.cut(size))


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
    """See `tgraph.kernels.operators.algebra.dot.dot_pairs`."""
    kernels = cast(ModuleType, native.load())
    found = torch.empty(len(others), dtype=dtype, device="cpu")
    meets = torch.empty(len(others), dtype=torch.bool, device="cpu")
    width = max(len(a.offset), len(b.offset)) - 1
    kernels.dot_pairs(*a, *b[:3], rows, groups, others, width, reduce, edge, found, meets)
    return found, meets


def nearest_rows(
    ids: Tensor | None, a: SparseMatrix, b: SparseMatrix, sizes: Tensor, score: str, k: int, others_only: bool
) -> tuple[Tensor, Tensor]:
    """See `tgraph.kernels.operators.algebra.nearest.nearest_rows`."""
    rows = len(a.offset) - 1
    columns = torch.full((rows, k), -1, dtype=torch.int64, device="cpu")
    scores = torch.zeros((rows, k), dtype=torch.float64, device="cpu")
    kernels = cast(ModuleType, native.load())
    kernels.nearest_rows(ids, *a[:3], *b[:2], sizes, others_only, score, k, columns, scores)
    return columns, scores.sqrt() if score == "cosine" else scores
