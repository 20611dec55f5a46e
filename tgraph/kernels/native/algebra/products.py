"""Products of sparse matrices and of pairs of their rows, compiled: see `spgemm.hpp`, `dot.hpp` and `nearest.cpp`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.system import pages
from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.operators.algebra import dot as dot_operators
from tgraph.kernels.operators.algebra import nearest as nearest_operators
from tgraph.kernels.operators.algebra import spgemm as spgemm_operators
from tgraph.kernels.sparse import SparseMatrix

DTYPES = (torch.int64, torch.float32, torch.float64)


def _refuses(matrix: SparseMatrix, dtype: torch.dtype | None) -> str | None:
    """Why products of int64, float32 and float64, of vertices of int32, are not supported, None if they are."""
    if dtype is not None and dtype not in DTYPES:
        return f"it multiplies int64, float32 and float64, not {dtype}"
    if matrix.columns.dtype != torch.int32:
        return "it multiplies matrices of fewer than 2^31 columns"
    return refuses_data(matrix.columns)


def refuses_product(
    a: SparseMatrix, b: SparseMatrix, reduce: str, edge: str, dtype: torch.dtype | None, *others: object
) -> str | None:
    """Why `spgemm` does not support a call, None if it does."""
    return _refuses(a, dtype)


def refuses_pairs(a: SparseMatrix, *others: Any) -> str | None:
    """Why `dot_pairs` does not support a call, whose last argument is the dtype, None if it does."""
    return _refuses(a, others[-1])


def refuses_nearest(ids: Tensor | None, a: SparseMatrix, *others: object) -> str | None:
    """Why `nearest_rows` does not support a call, None if it does."""
    return _refuses(a, torch.float64)


@implements(spgemm_operators.spgemm, refuses_product)
def spgemm(
    a: SparseMatrix,
    b: SparseMatrix,
    reduce: str,
    edge: str,
    dtype: torch.dtype | None,
    mask: SparseMatrix | None = None,
    complement: bool = False,
) -> SparseMatrix:
    kernels = compiled()
    masked = (None, None) if mask is None else mask[:2]
    room = kernels.spgemm_room(*a[:2], *b[:2], *masked, complement)
    offset = torch.empty(len(a.offset), dtype=torch.int64, device="cpu")
    columns = pages.Room(room, torch.int32)
    values = None if dtype is None else pages.Room(room, dtype)
    size = kernels.spgemm_rows(
        *a, *b[:3], *masked, complement, reduce, edge, offset, columns.tensor, values and values.tensor
    )
    return SparseMatrix(offset, columns.cut(size), None if values is None else values.cut(size))


@implements(dot_operators.dot_pairs, refuses_pairs)
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
    kernels = compiled()
    found = torch.empty(len(others), dtype=dtype, device="cpu")
    meets = torch.empty(len(others), dtype=torch.bool, device="cpu")
    width = max(len(a.offset), len(b.offset)) - 1
    kernels.dot_pairs(*a, *b[:3], rows, groups, others, width, reduce, edge, found, meets)
    return found, meets


@implements(nearest_operators.nearest_rows, refuses_nearest)
def nearest_rows(
    ids: Tensor | None, a: SparseMatrix, b: SparseMatrix, sizes: Tensor, score: str, k: int, others_only: bool
) -> tuple[Tensor, Tensor]:
    rows = len(a.offset) - 1
    columns = torch.full((rows, k), -1, dtype=torch.int64, device="cpu")
    scores = torch.zeros((rows, k), dtype=torch.float64, device="cpu")
    kernels = compiled()
    kernels.nearest_rows(ids, *a[:3], *b[:2], sizes, others_only, score, k, columns, scores)
    return columns, scores.sqrt() if score == "cosine" else scores
