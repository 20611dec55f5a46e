"""A column: the values of one attribute of all edges or nodes of a networkx graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.kernels.operators.dicts import DTYPES, MISSING, dict_column, dicts_of_columns, objects

EXACT = 2**53  # integers up to this are floats of the same value


@dataclass(frozen=True, eq=False)
class Column:
    """Values in the order of arcs, edges or nodes.

    values : tensor [k] where all are int, all float or all bool, for an exact round trip; else an array of objects,
        MISSING where there is none.
    present : mask of the values of a tensor that exist, bool [k]; None for all.
    """

    values: Tensor | np.ndarray
    present: Tensor | None = None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, positions: Tensor) -> Column:
        """The values at `positions`, int64 [j]."""
        if isinstance(self.values, np.ndarray):
            return Column(self.values[positions.cpu().numpy()])
        present = None if self.present is None else self.present[positions]
        return Column(self.values[positions], present)

    def tolist(self, positions: Any = slice(None)) -> list[Any]:
        """The values at `positions`, a slice or an array of indices, as Python objects; MISSING where there is none."""
        if isinstance(self.values, np.ndarray):
            return self.values[positions].tolist()
        if isinstance(positions, np.ndarray):
            positions = torch.from_numpy(positions)
        values = self.values[positions].tolist()
        if self.present is None:
            return values
        return [
            value if there else MISSING for value, there in zip(values, self.present[positions].tolist(), strict=True)
        ]

    def given(self) -> Tensor | list[Any]:
        """The tensor where every value exists, else Python objects, with None where there is none."""
        if isinstance(self.values, Tensor) and self.present is None:
            return self.values
        return [None if value is MISSING else value for value in self.tolist()]

    def numbers(self, default: Any = 1) -> Tensor:
        """The values as a tensor, `default` where missing: int64 if all are integers, bool if all are, else float64.

        Raises TypeError for values that are not numbers, OverflowError for integers that the dtype cannot represent.
        """
        if isinstance(self.values, Tensor) and self.present is None:
            return self.values
        if isinstance(self.values, Tensor) and self.present is not None and type(default) in DTYPES:
            filled = torch.tensor(default, dtype=DTYPES[type(default)])
            dtype = torch.promote_types(self.values.dtype, filled.dtype)
            return torch.where(self.present, self.values.to(dtype), filled.to(dtype))
        return _numbers([default if value is MISSING else value for value in self.tolist()])


def columns_of(dicts: list[dict[Any, Any]], names: Iterable[Any] | None) -> dict[Any, Column]:
    """The attributes of these `names`, or all, that occur in the `dicts`."""
    if names is None:
        names = dict.fromkeys(chain.from_iterable(dicts)) if any(dicts) else ()
    found = {name: dict_column(dicts, name) for name in names}
    return {
        name: Column(objects([each.get(name, MISSING) for each in dicts])) if _has_nan(column[0]) else Column(*column)
        for name, column in found.items()
        if column is not None
    }


def scattered(pieces: list[tuple[np.ndarray, Column]], count: int) -> Column:
    """A column [count] of pieces, each with the rows of its values, int64 [k]; what comes last counts."""
    arrays = [each.values if isinstance(each.values, np.ndarray) else each.values.numpy() for _, each in pieces]
    kinds = {each.dtype for each in arrays}
    kind = kinds.pop() if len(kinds) == 1 else np.dtype(object)
    whole = np.full(count, MISSING, dtype=object) if kind.hasobject else np.zeros(count, dtype=kind)
    there = np.zeros(count, dtype=bool)
    for (rows, column), values in zip(pieces, arrays, strict=True):
        if column.present is not None:
            rows, values = rows[column.present.numpy()], values[column.present.numpy()]
        elif values.dtype.hasobject:
            held = np.fromiter((value is not MISSING for value in values), bool, len(values))
            rows, values = (rows, values) if held.all() else (rows[held], values[held])
        whole[rows] = values
        there[rows] = True
    if kind.hasobject:
        return Column(whole)
    return Column(torch.from_numpy(whole), None if there.all() else torch.from_numpy(there))


def _has_nan(values: Tensor | np.ndarray) -> bool:
    """Whether floats have a NaN, whose identity as an object matters in networkx's dicts."""
    return isinstance(values, Tensor) and values.is_floating_point() and bool(values.isnan().any())


def dicts_of(columns: Mapping[Any, Column], count: int, positions: Any = slice(None), kind: type = dict) -> list[Any]:
    """A dict of attributes, of class `kind`, for each of the `count` `positions`, a slice or an array of indices."""
    if not columns:
        return [kind() for _ in range(count)]
    return dicts_of_columns(list(columns), [column.tolist(positions) for column in columns.values()], kind, MISSING)


def _numbers(values: list[Any]) -> Tensor:
    for value in values:
        if not isinstance(value, (int, float, np.integer, np.floating, np.bool_)):
            raise TypeError(f"{value!r} is not a number")
    if all(isinstance(value, (int, np.integer, np.bool_)) for value in values):
        return torch.from_numpy(np.array(values, dtype=np.int64))
    if any(isinstance(value, (int, np.integer)) and abs(value) > EXACT for value in values):
        raise OverflowError("an integer beyond 2**53 among numbers that are not integers")
    return torch.from_numpy(np.array(values, dtype=np.float64))
