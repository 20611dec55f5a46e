"""Batches of arcs as callers have them: in lists, tensors, arrays or columns of tables."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import inputs
from tgraph.dynamic.ids import GrowingIds
from tgraph.dynamic.moments import nanoseconds
from tgraph.dynamic.runs import TIMES, WEIGHTS, Schema
from tgraph.errors import ArgumentError
from tgraph.io import ColumnsLeftOut
from tgraph.io.arrow import column_names
from tgraph.io.text.names import find_columns

_ARGUMENTS = ("src", "dst", WEIGHTS, TIMES, "data")  # of `Store.insert`


def plain(values: Any, name: str) -> Any:
    """Columns of Arrow as an array or a list of text, other values unchanged. Raises ArgumentError for missing values
    in a column of Arrow or pandas."""
    if hasattr(values, "null_count") and hasattr(values, "to_pylist"):
        missing = values.is_null().to_numpy(zero_copy_only=False) if values.null_count else None
    else:
        missing = np.asarray(values.isna()) if hasattr(values, "isna") else None
    if missing is not None and missing.any():
        raise ArgumentError(f"{name}: there is no value at position {int(missing.argmax())}; fill it, or drop the arc")
    if not hasattr(values, "to_pylist"):
        return values
    array = np.asarray(values)
    return array if array.dtype.kind in "iufb" else values.to_pylist()


def of_chunk(schema: Schema, chunk: Any) -> dict[str, Any]:
    """The arguments of `Store.insert` from a tuple of them, or from a table of columns: a mapping, a frame of pandas or
    polars, a table or batch of Arrow. Raises ArgumentError for others, and for tables without these columns."""
    if isinstance(chunk, (tuple, list)):
        if not 2 <= len(chunk) <= len(_ARGUMENTS):
            raise ArgumentError(f"chunks: expected tuples of {', '.join(_ARGUMENTS)}, got one of {len(chunk)}")
        return dict(zip(_ARGUMENTS, chunk, strict=False))
    names = list(chunk) if isinstance(chunk, Mapping) else column_names(chunk)
    ends = find_columns("the chunk", names, None, None, None, weighted=WEIGHTS in schema.columns)
    taken = dict(zip(("src", "dst", WEIGHTS), ends, strict=True))
    found = {name: chunk[column] for name, column in taken.items() if column is not None}
    others = {name: chunk[name] for name in schema.columns if name in names and name != WEIGHTS}
    if left := [name for name in names if name not in {*ends, *others}]:
        warnings.warn(f"the chunk: columns {left} left out; arc_data= of the store keeps numbers", ColumnsLeftOut, 4)
    times = {TIMES: others.pop(TIMES)} if TIMES in others else {}
    return found | times | {"data": others}


def columns_of_batch(schema: Schema, given: Mapping[str, Any], count: int) -> tuple[Tensor, ...]:
    """The arc data [count] of a batch, a tensor for each column of the store. Raises ArgumentError for a column that is
    missing or unknown, of another length, or of numbers that its dtype does not hold."""
    given = {name: values for name, values in given.items() if values is not None}
    if unknown := given.keys() - schema.columns.keys():
        columns = ", ".join(schema.columns) or "none"
        raise ArgumentError(f"{min(unknown)}: the store keeps no such arc data, it keeps {columns}; leave it out")
    return tuple(_column(name, dtype, given.get(name), count) for name, dtype in schema.columns.items())


def _column(name: str, dtype: torch.dtype, values: Any, count: int) -> Tensor:
    if values is None:
        raise ArgumentError(f"{name}: the store keeps {dtype} for each arc; give {count} of them")
    moments = nanoseconds(values, name)
    if moments is not values and dtype.is_floating_point:
        raise ArgumentError(f"{name}: the store keeps {dtype}, which rounds times; make it with torch.int64")
    tensor = inputs.as_tensor(plain(moments, name), name)
    if tensor.shape != (count,):
        raise ArgumentError(f"{name}: expected one for each arc, shape [{count}], got {list(tensor.shape)}")
    if tensor.dtype == dtype or not count:
        return tensor.detach().to(dtype)
    if tensor.is_complex() or (tensor.is_floating_point() and not dtype.is_floating_point):
        raise ArgumentError(f"{name}: the store keeps {dtype}, these are {tensor.dtype}; convert them")
    converted = tensor.detach().to(dtype)
    if not dtype.is_floating_point and bool((wrong := converted.to(tensor.dtype) != tensor).any()):
        raise _does_not_fit(name, tensor, wrong, dtype)
    if dtype.is_floating_point and bool((wrong := converted.isinf() & ~tensor.isinf()).any()):
        raise _does_not_fit(name, tensor, wrong, dtype)
    return converted


def _does_not_fit(name: str, tensor: Tensor, wrong: Tensor, dtype: torch.dtype) -> ArgumentError:
    place = int(wrong.nonzero()[0])
    return ArgumentError(f"{name}: {tensor[place].item()} at position {place} does not fit {dtype}")


def ends_of_batch(src: Any, dst: Any, ids: GrowingIds | None, known: int | None) -> tuple[Tensor, Tensor]:
    """Vertex numbers of both ends, integers [k] each. ids : of the store, None for vertex numbers. known : n, where
    other vertices raise UnknownVertexError; None where unknown ids become vertices."""
    length_of(src, dst)
    src, dst = plain(src, "src"), plain(dst, "dst")
    if ids is None:
        src, dst = inputs.as_index(src, "src"), inputs.as_index(dst, "dst")
        if src.dtype != dst.dtype:
            src, dst = src.to(torch.int64), dst.to(torch.int64)
        src, dst = src.cpu(), dst.cpu()
    if ids is not None:
        if known is None:
            return ids.number(src, dst)
        src, dst = ids.find(src, "src", known), ids.find(dst, "dst", known)
    return src, dst


def length_of(src: Any, dst: Any) -> int:
    """Number of arcs. Raises ArgumentError for ends of different lengths."""
    lengths = []
    for name, ends in (("src", src), ("dst", dst)):
        try:
            lengths.append(len(ends))
        except TypeError:
            raise ArgumentError(f"{name}: expected a sequence, got {ends!r}; pass [{ends!r}]") from None
    if lengths[0] != lengths[1]:
        raise ArgumentError(f"src and dst: expected equal lengths, got {lengths[0]} and {lengths[1]}")
    return lengths[0]
