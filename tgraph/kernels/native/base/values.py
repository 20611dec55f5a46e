"""Values of all vertices by the kernels in `values.cpp`: see `tgraph.primitives.values`."""

from __future__ import annotations

from types import ModuleType
from typing import cast

import torch
from torch import Tensor

from tgraph.core.system import native
from tgraph.core.system.library import is_plain
from tgraph.kernels.call import Call, not_plain

DTYPES = (torch.int32, torch.int64, torch.float32, torch.float64)


def refuses(call: Call) -> str | None:
    """Why values are not served, None where they are."""
    integers = call.operation in ("number", "convert", "replace")
    if call.data.dtype not in (DTYPES[:2] if integers else DTYPES):
        return f"it has no {call.operation} of {call.data.dtype}"
    if why := not_plain(call):
        return why
    return None if call.data.is_contiguous() else "it writes values that lie side by side, these are a strided view"


def fill(values: Tensor, value: float) -> None:
    """values[i] = value"""
    _kernels().fill_values(values.view(-1), float(value) if values.is_floating_point() else int(value))


def number(values: Tensor) -> None:
    """values[i] = i"""
    _kernels().number_values(values)


def replace(values: Tensor, old: int, by: int) -> None:
    """values[i] = by where it is `old`"""
    _kernels().replace_values(values.view(-1), old, by)


def convert(values: Tensor, to: Tensor) -> None:
    """to[i] = values[i], int32 as int64."""
    _kernels().convert_values(values.view(-1), to.view(-1))


def largest_bound(values: Tensor) -> int | None:
    """An upper bound of the magnitudes of integers in int64, below twice the largest, in a fraction of the time that
    finding it takes; None where the kernel does not serve the tensor."""
    if values.dtype != torch.int64 or not is_plain(values) or not values.is_contiguous():
        return None
    kernels = native.load()
    return None if kernels is None else kernels.bound_magnitudes(values.view(-1))


def _kernels() -> ModuleType:
    return cast(ModuleType, native.load())
