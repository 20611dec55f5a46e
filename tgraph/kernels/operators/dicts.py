"""Operators on lists of the dicts of a networkx graph: with the interpreter's own iterators as loops here, and compiled
in `tgraph.kernels.native.dicts`."""

from __future__ import annotations

from itertools import accumulate, chain, compress, islice
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building.sorting import index_dtype
from tgraph.core.dispatch import setup_operator


class _Missing:
    def __reduce__(self) -> str:
        return "MISSING"  # the same object wherever it is unpickled or copied

    __repr__ = __reduce__


MISSING: Any = _Missing()  # a missing value in an array of objects

DTYPES = {bool: torch.bool, int: torch.int64, float: torch.float64}  # of exact values in tensors


@setup_operator
def dict_keys(dicts: list[Any], index: dict[Any, int] | None, limit: int, count: int) -> Tensor:
    """The keys of all dicts, one dict after the other, as vertices, [count].

    index : the vertex of each key; None where keys equal the vertices 0..limit-1.
    """
    dtype = np.dtype(str(index_dtype(limit)).removeprefix("torch."))
    keys = chain.from_iterable(dicts)
    try:
        return torch.from_numpy(np.fromiter(keys if index is None else map(index.__getitem__, keys), dtype, count))
    except (TypeError, ValueError):  # a key that equals an integer, such as 1+0j
        table = {number: number for number in range(limit)}
        return torch.from_numpy(np.fromiter(map(table.__getitem__, chain.from_iterable(dicts)), dtype, count))


@setup_operator
def dict_offsets(dicts: list[Any]) -> Tensor:
    """Where the entries of each dict begin among those of all, int64 [len(dicts) + 1]."""
    sums = accumulate(map(len, dicts), initial=0)
    return torch.from_numpy(np.fromiter(sums, np.int64, len(dicts) + 1))


@setup_operator
def are_numbered(dicts: list[Any]) -> bool:
    """Whether the keys of every dict are the integers 0, 1, 2, ... in this order."""
    found = chain.from_iterable(dicts)
    return all(
        type(key) is int and key == number
        for number, key in zip(chain.from_iterable(map(range, map(len, dicts))), found, strict=True)
    )


@setup_operator
def dict_values(dicts: list[Any], taken: Tensor | None, count: int) -> list[Any]:
    """The values of all dicts, one dict after the other: all, or the `count` ones in the mask `taken`."""
    values = chain.from_iterable(map(methodcaller("values"), dicts))
    return list(values if taken is None else compress(values, taken.to(torch.uint8).numpy().tobytes()))


@setup_operator
def dict_column(dicts: list[Any], name: Any) -> tuple[Tensor | np.ndarray, Tensor | None] | None:
    """(the value of each dict under `name`, mask of existing values or None for all); None where no dict has one.

    Values are a tensor if all int, all float or all bool; else an array of objects, MISSING where there is none.
    """
    if not dicts:
        return None
    try:
        return packed(list(map(itemgetter(name), dicts))), None
    except KeyError:
        values = [each.get(name, MISSING) for each in dicts]
    absent = [value is MISSING for value in values]
    if all(absent):
        return None
    kinds = set(map(type, values)) - {type(MISSING)}
    if len(kinds) == 1 and (kind := kinds.pop()) in DTYPES:
        filled = packed([kind() if value is MISSING else value for value in values])
        if isinstance(filled, Tensor):
            return filled, ~torch.tensor(absent)
    return objects(values), None


@setup_operator
def entry_column(
    dicts: list[Any], taken: Tensor | None, count: int, name: Any
) -> tuple[Tensor | np.ndarray, Tensor | None] | None:
    """`dict_column` of the inner dicts: all, or the `count` ones in the mask `taken`."""
    return dict_column(dict_values(dicts, taken, count), name)


@setup_operator
def inner_lengths(dicts: list[Any], count: int) -> tuple[Tensor, bool]:
    """(the number of entries of each of the `count` inner dicts, int64 [count], whether the keys of each are the
    integers 0, 1, 2, ... in this order)"""
    inner = dict_values(dicts, None, count)
    return dict_offsets(inner).diff(), are_numbered(inner)


@setup_operator
def inner_column(
    dicts: list[Any], taken: Tensor | None, count: int, name: Any
) -> tuple[Tensor | np.ndarray, Tensor | None] | None:
    """`entry_column` of the inner dicts: all, or the ones in the mask `taken`, with `count` entries."""
    number = sum(map(len, dicts)) if taken is None else int(taken.sum())
    return entry_column(dict_values(dicts, taken, number), None, count, name)


@setup_operator
def dicts_of_rows(
    offset: Tensor, keys: list[Any], key_of: Tensor, values: list[Any], value_of: Tensor
) -> list[dict[Any, Any]]:
    """A dict {keys[key_of[i]]: values[value_of[i]]} for each row, over its entries i."""
    names = map(keys.__getitem__, key_of.tolist())
    entries = zip(names, map(values.__getitem__, value_of.tolist()), strict=True)
    return [dict(islice(entries, count)) for count in offset.diff().tolist()]


@setup_operator
def dicts_of_columns(names: list[Any], columns: list[list[Any]], kind: type, missing: Any) -> list[Any]:
    """A dict of class `kind` for each position of the columns, without `missing` values."""
    return [
        kind((name, value) for name, value in zip(names, values, strict=True) if value is not missing)
        for values in zip(*columns, strict=True)
    ]


def packed(values: list[Any]) -> Tensor | np.ndarray:
    """A tensor where all values are int, all float or all bool, else an array of objects."""
    kinds = set(map(type, values))
    if len(kinds) == 1 and (dtype := DTYPES.get(kinds.pop())):
        try:
            return torch.from_numpy(np.array(values, dtype=str(dtype).removeprefix("torch.")))
        except OverflowError:  # an integer beyond int64 stays an object
            pass
    return objects(values)


def objects(values: list[Any]) -> np.ndarray:
    """An array of objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
