"""Values of all vertices by the kernels in `values.cpp`: see `tgraph.primitives.values`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.system.library import is_plain
from tgraph.kernels.native.base.support import attach, compiled, implements, refuses_data, refuses_tensors
from tgraph.kernels.operators import values as declared

DTYPES = (torch.int32, torch.int64, torch.float32, torch.float64)


def _refuses(dtypes: tuple[torch.dtype, ...], values: Tensor) -> str | None:
    if values.dtype not in dtypes:
        return f"it has no kernel for {values.dtype}"
    if not values.is_contiguous():
        return "it writes values that lie side by side, these are a strided view"
    return refuses_tensors(values)


def refuses_filling(values: Tensor, value: float) -> str | None:
    """Why `fill` does not support a call, None if it does."""
    return _refuses(DTYPES, values)


def refuses_integers(values: Tensor, *others: object) -> str | None:
    """The same for the operators on integers."""
    return _refuses(DTYPES[:2], values)


@implements(declared.fill, refuses_filling)
def fill(values: Tensor, value: float) -> None:
    """values[i] = value"""
    compiled().fill_values(values.view(-1), float(value) if values.is_floating_point() else int(value))


attach(declared.number, refuses_integers, kernel="number_values")


@implements(declared.replace, refuses_integers)
def replace(values: Tensor, old: int, by: int) -> None:
    """values[i] = by where it is `old`"""
    compiled().replace_values(values.view(-1), old, by)


@implements(declared.convert, refuses_integers)
def convert(values: Tensor, to: Tensor) -> None:
    """to[i] = values[i], int32 as int64."""
    compiled().convert_values(values.view(-1), to.view(-1))


def refuses_writing(values: Tensor, vertices: Tensor, rows: Tensor, degree: Tensor) -> str | None:
    """The same for `write_changed`."""
    if values.dtype not in DTYPES or rows.dtype != values.dtype or vertices.dtype != torch.int64:
        return "it writes values of one dtype at int64 vertices"
    return refuses_data(values) if values.is_contiguous() else "it writes values that lie side by side"


@implements(declared.write_changed, refuses_writing)
def write_changed(values: Tensor, vertices: Tensor, rows: Tensor, degree: Tensor) -> tuple[Tensor, int]:
    """As the portable one, in one pass over the rows."""
    changed = torch.empty_like(vertices)
    size, arcs = compiled().write_changed(values, vertices, rows, degree, changed)
    torch.autograd.graph.increment_version(values)
    return changed.narrow(0, 0, size), arcs


def largest_bound(values: Tensor) -> int | None:
    """An upper bound of the magnitudes of integers in int64, below twice the largest, in a fraction of the time that
    finding it takes; None where the kernel does not serve the tensor."""
    if values.dtype != torch.int64 or not is_plain(values) or not values.is_contiguous():
        return None
    kernels = compiled()
    return None if kernels is None else kernels.bound_magnitudes(values.view(-1))
