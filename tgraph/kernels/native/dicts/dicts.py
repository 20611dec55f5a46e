"""The dicts of a networkx graph as arrays: see `tgraph.kernels.operators.dicts`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building.sorting import index_dtype
from tgraph.core.dispatch import Operator
from tgraph.kernels.native.base.support import attach, compiled, implements, unavailable
from tgraph.kernels.operators import dicts as declared

_VIEWS: dict[int, Any] = {1: torch.bool, 2: torch.int64, 3: torch.float64}  # by the number of a kind in dicts.cpp
_OTHER = 4


def refuses(*arguments: Any) -> str | None:
    """Why a call is not supported, None if it is. What is found to be no plain dict goes to the portable one."""
    return unavailable()


@implements(declared.dict_keys, refuses)
def dict_keys(dicts: list[Any], index: dict[Any, int] | None, limit: int, count: int) -> Tensor:
    numbers = torch.empty(count, dtype=index_dtype(limit), device="cpu")
    if compiled().read_keys(dicts, index, limit, numbers):
        return numbers
    return declared.dict_keys.portable(dicts, index, limit, count)


@implements(declared.dict_offsets, refuses)
def dict_offsets(dicts: list[Any]) -> Tensor:
    offsets = torch.empty(len(dicts) + 1, dtype=torch.int64, device="cpu")
    return offsets if compiled().read_offsets(dicts, offsets) else declared.dict_offsets.portable(dicts)


@implements(declared.are_numbered, refuses)
def are_numbered(dicts: list[Any]) -> bool:
    found = compiled().are_numbered(dicts)
    return declared.are_numbered.portable(dicts) if found is None else found


@implements(declared.inner_lengths, refuses)
def inner_lengths(dicts: list[Any], count: int) -> tuple[Tensor, bool]:
    lengths = torch.empty(count, dtype=torch.int64, device="cpu")
    found, numbered = compiled().read_inner_lengths(dicts, lengths)
    return (lengths, numbered) if found else declared.inner_lengths.portable(dicts, count)


@implements(declared.dict_values, refuses)
def dict_values(dicts: list[Any], taken: Tensor | None, count: int) -> list[Any]:
    found = compiled().list_values(dicts, _bytes(taken), count)
    return declared.dict_values.portable(dicts, taken, count) if found is None else found


@implements(declared.dict_column, refuses)
def dict_column(dicts: list[Any], name: Any) -> tuple[Tensor | np.ndarray, Tensor | None] | None:
    return _column(declared.dict_column, len(dicts), (dicts, name), compiled().read_column, (dicts, name))


@implements(declared.entry_column, refuses)
def entry_column(
    dicts: list[Any], taken: Tensor | None, count: int, name: Any
) -> tuple[Tensor | np.ndarray, Tensor | None] | None:
    read = compiled().read_entry_column
    return _column(declared.entry_column, count, (dicts, taken, count, name), read, (dicts, _bytes(taken), name))


@implements(declared.inner_column, refuses)
def inner_column(
    dicts: list[Any], taken: Tensor | None, count: int, name: Any
) -> tuple[Tensor | np.ndarray, Tensor | None] | None:
    read = compiled().read_inner_column
    return _column(declared.inner_column, count, (dicts, taken, count, name), read, (dicts, _bytes(taken), name))


def _column(operator: Operator[..., Any], size: int, arguments: tuple, read: Any, own: tuple) -> Any:
    """(values, present) as `read` finds them, by the portable operator where they are not of one kind."""
    values = torch.empty(size, dtype=torch.int64, device="cpu")
    present = torch.empty(size, dtype=torch.bool, device="cpu")
    kind, count = read(*own, values, present)
    if kind == _OTHER:
        return operator.portable(*arguments)
    if count == 0:
        return None
    values = values.bool() if kind == 1 else values.view(_VIEWS[kind])
    return values, None if count == size else present


attach(declared.dicts_of_rows, refuses, kernel="write_dicts")
attach(declared.dicts_of_columns, refuses, kernel="write_columns")


def _bytes(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else mask.view(torch.uint8)
