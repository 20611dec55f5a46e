"""Functions of rows of features, from files to a file: dense layers, activations, sums of two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from tgraph.core.build import check_choice
from tgraph.errors import ArgumentError, MemoryBudgetError
from tgraph.files import PathLike
from tgraph.stream.features.column_slabs import stretches
from tgraph.stream.features.matrix import FLOATS, FeatureFile, HeldFeatures, Source, check_target, created, opened
from tgraph.stream.memory import give_back, parse_memory
from tgraph.stream.run.budget import budget_for, runtime_bytes

ORDERS = ("columns", "rows")

# Rows at a time, or else bytes of all: more makes nothing faster.
_ROWS = 1 << 14
_ENOUGH = 24 << 20


def apply(
    sources: Source | Sequence[Source],
    function: Callable[..., Tensor],
    path: PathLike,
    *,
    memory: str | int = "500MB",
    order: str = "columns",
) -> FeatureFile:
    """Write function(features) of all vertices to a file, so many rows at a time, and open it.

    Parameters
    ----------
    sources : a .npy or .safetensors file, a `FeatureFile` or a tensor, [n, ...]; or several of these, which are the
        arguments of the function. Tensors in memory, such as one number for each vertex, are not counted.
    function : from rows [r, F] of each source to floating numbers [r, G], row by row: it is called on some rows after
        others, and once on the first row alone before. A torch module in evaluation is one. No gradient is recorded.
    path : the file that is written, .npy or .safetensors; it may be one of the sources.
    memory : what may be used for rows, such as "500MB", or bytes as an int: those read, those written, and what the
        function makes on the way, which is taken to be as much again.
    order : "columns", as `aggregate` reads fastest, or "rows", for who looks single rows up.

    The file takes the place of `path` once it is whole. `apply(source, lambda x: x, path, order=...)` converts.
    Raises ArgumentError for sources of different lengths, for a function that gives anything else than a row for a row,
    and for a path that cannot hold its dtype; MemoryBudgetError where a row does not fit; FileFormatError for a damaged
    file; OSError, with the bytes needed, where the disk is full.
    """
    budget = parse_memory(memory)
    check_choice(order, "order", ORDERS)
    several = sources if isinstance(sources, (list, tuple)) else (sources,)
    held = [opened(each, f"sources[{number}]" if several is sources else "sources") for number, each in _count(several)]
    n = _length(held)
    with torch.no_grad():
        first = _checked(function(*_rows(held, slice(0, min(n, 1)))), min(n, 1), None)
        check_target(path, first.dtype)
        give_back()
        step = _rows_at_a_time(held, first, budget)
        with created(path, (n, first.shape[1]), first.dtype, by_column=order == "columns") as writer:
            for rows in stretches(n, step):
                writer.write(_checked(function(*_rows(held, rows)), rows.stop - rows.start, first), rows.start)
    return FeatureFile(path)


def _count(sources: Sequence[Source]) -> Iterator[tuple[int, Source]]:
    if not sources:
        raise ArgumentError("sources: expected one at least, got none")
    return enumerate(sources)


def _length(held: list[FeatureFile | HeldFeatures]) -> int:
    lengths = [each.shape[0] if each.shape else 0 for each in held]
    if len(set(lengths)) > 1 or not all(each.shape for each in held):
        got = ", ".join(str(list(each.shape)) for each in held)
        raise ArgumentError(f"sources: expected a row for each vertex in all of them, got shapes {got}")
    return lengths[0]


def _rows(held: list[FeatureFile | HeldFeatures], rows: slice) -> list[Tensor]:
    return [each.read(rows).contiguous() for each in held]


def _rows_at_a_time(held: list[FeatureFile | HeldFeatures], first: Tensor, budget: int) -> int:
    """Rows are read, turned and worked on; results are made, worked on and turned."""
    read = sum(each.row_bytes(each.shape[1]) for each in held if isinstance(each, FeatureFile))
    per_row = max(1, 3 * (read + first.shape[1] * first.dtype.itemsize))
    room = budget - runtime_bytes(budget)
    if per_row > room:
        raise MemoryBudgetError("a row of the sources and of the result", budget_for(per_row), budget, "give more")
    return min(room // per_row, max(_ENOUGH // per_row, _ROWS))


def _checked(result: Tensor, rows: int, first: Tensor | None) -> Tensor:
    """What the function gave for some rows, where `first` is what it gave for the first one."""
    wanted = "floating numbers [r, G]" if first is None else f"{first.dtype} [r, {first.shape[1]}] as for the first"
    if not isinstance(result, Tensor) or result.dim() != 2 or len(result) != rows or result.dtype not in FLOATS:
        got = f"{result.dtype} {list(result.shape)}" if isinstance(result, Tensor) else type(result).__name__
        raise ArgumentError(f"function: expected {wanted} for r = {rows} rows, got {got}")
    if first is not None and (result.shape[1], result.dtype) != (first.shape[1], first.dtype):
        raise ArgumentError(f"function: expected {wanted}, got {result.dtype} {list(result.shape)}")
    return result
