"""Operators on lists of dicts, those of a networkx graph: all loops are the interpreter's own iterators here, and
compiled in `tgraph.kernels.native.dicts`."""

from __future__ import annotations

from itertools import chain, compress, islice
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


MISSING: Any = _Missing()  # what has no value in an array of objects

DTYPES = {bool: torch.bool, int: torch.int64, float: torch.float64}  # of the values that a tensor holds as they are


@setup_operator
def dict_keys(dicts: list[Any], index: dict[Any, int] | None, limit: int, count: int) -> Tensor:
    """The keys of all dicts, one dict after the other, as vertices, [count].

    index : the vertex of each key; None where keys are the vertices 0..limit-1 themselves, or equal to them.
    """
    dtype = np.dtype(str(index_dtype(limit)).removeprefix("torch."))
    keys = chain.from_iterable(dicts)
    try:
        return torch.from_numpy(np.fromiter(keys if index is None else map(index.__getitem__, keys), dtype, count))
    except (TypeError, ValueError):  # a number that equals an integer, such as 1+0j
        table = {number: number for number in range(limit)}
        return torch.from_numpy(np.fromiter(map(table.__getitem__, chain.from_iterable(dicts)), dtype, count))


@setup_operator
def dict_lengths(dicts: list[Any]) -> Tensor:
    """The number of entries of each dict, int64 [len(dicts)]."""
    return torch.from_numpy(np.fromiter(map(len, dicts), np.int64, len(dicts)))


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
    """The values of all dicts, one dict after the other: all, or the `count` that the mask `taken` names."""
    values = chain.from_iterable(map(methodcaller("values"), dicts))
    return list(values if taken is None else compress(values, taken.to(torch.uint8).numpy().tobytes()))


@setup_operator
def dict_column(dicts: list[Any], name: Any) -> tuple[Tensor | np.ndarray, Tensor | None] | None:
    """The value that each dict has under `name`, and which have one; None where none has.

    A tensor where all are int, all float or all bool, with a mask where some are missing; else an array of objects,
    MISSING where there is none.
    """
    if not dicts:
        return None
    try:
        return _packed(list(map(itemgetter(name), dicts))), None
    except KeyError:
        values = [each.get(name, MISSING) for each in dicts]
    absent = [value is MISSING for value in values]
    if all(absent):
        return None
    kinds = set(map(type, values)) - {type(MISSING)}
    if len(kinds) == 1 and (kind := kinds.pop()) in DTYPES:
        filled = _packed([kind() if value is MISSING else value for value in values])
        if isinstance(filled, Tensor):
            return filled, ~torch.tensor(absent)
    return objects(values), None


@setup_operator
def entry_column(
    dicts: list[Any], taken: Tensor | None, count: int, name: Any
) -> tuple[Tensor | np.ndarray, Tensor | None] | None:
    """`dict_column` of the values of dicts, which are dicts: all, or the `count` that the mask `taken` names."""
    return dict_column(dict_values(dicts, taken, count), name)


@setup_operator
def inner_lengths(dicts: list[Any], count: int) -> tuple[Tensor, bool]:
    """Of the `count` dicts that are the values of dicts: the number of entries of each, int64 [count], and whether the
    keys of each are the integers 0, 1, 2, ... in this order."""
    inner = dict_values(dicts, None, count)
    return dict_lengths(inner), are_numbered(inner)


@setup_operator
def inner_column(
    dicts: list[Any], taken: Tensor | None, count: int, name: Any
) -> tuple[Tensor | np.ndarray, Tensor | None] | None:
    """`entry_column` of the dicts that are the values of dicts: of all, or of those that the mask `taken` names, which
    have `count` entries."""
    number = sum(map(len, dicts)) if taken is None else int(taken.sum())
    return entry_column(dict_values(dicts, taken, number), None, count, name)


@setup_operator
def dicts_of_rows(
    offset: Tensor, keys: list[Any], key_of: Tensor, values: list[Any], value_of: Tensor
) -> list[dict[Any, Any]]:
    """A dict for each row, of keys[key_of[i]] with the value values[value_of[i]] for the entries i of the row."""
    names = map(keys.__getitem__, key_of.tolist())
    entries = zip(names, map(values.__getitem__, value_of.tolist()), strict=True)
    return [dict(islice(entries, count)) for count in offset.diff().tolist()]


@setup_operator
def dicts_of_columns(names: list[Any], columns: list[list[Any]], kind: type, missing: Any) -> list[Any]:
    """A dict of class `kind` for each place of the columns, without what is `missing` there."""
    return [
        kind((name, value) for name, value in zip(names, values, strict=True) if value is not missing)
        for values in zip(*columns, strict=True)
    ]


def _packed(values: list[Any]) -> Tensor | np.ndarray:
    kinds = set(map(type, values))
    if len(kinds) == 1 and (dtype := DTYPES.get(kinds.pop())):
        try:
            return torch.from_numpy(np.array(values, dtype=str(dtype).removeprefix("torch.")))
        except OverflowError:  # an integer beyond int64 stays an object
            pass
    return objects(values)


def objects(values: list[Any]) -> np.ndarray:
    """An array of these objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
