"""Sparse matrices as the products of rows take them."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class SparseMatrix(NamedTuple):
    """The entries of a matrix by rows: offset int64 [rows + 1], columns [m] ascending in a row, and values.

    values : [m], one for each entry; with `by_column` [columns], one for all entries of a column; None for ones.
    """

    offset: Tensor
    columns: Tensor
    values: Tensor | None = None
    by_column: bool = False

    def entry_values(self) -> Tensor | None:
        """The value of each entry, [m], None for ones."""
        return self.values.index_select(0, self.columns) if self.by_column and self.values is not None else self.values
