"""Row-wise functions of features, from files to a file: dense layers, activations, sums of two matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from tgraph.core.building.inputs import check_choice
from tgraph.errors import ArgumentError, MemoryBudgetError
from tgraph.files import PathLike
from tgraph.stream.features.column_slabs import slices
from tgraph.stream.features.matrix import (
    FLOATS,
    FeatureFile,
    Source,
    TensorFeatures,
    check_target,
    create_features,
    open_features,
)
from tgraph.stream.memory import parse_memory, trim_heap
from tgraph.stream.run.budget import budget_for, runtime_bytes

ORDERS = ("columns", "rows")

# The most rows at a time, or bytes if these are more rows: larger steps are not faster.
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
    """Write function(features) of all vertices to a file, some rows at a time, and open it.

    Parameters
    ----------
    sources : a .npy or .safetensors file, a `FeatureFile` or a tensor, [n, ...]; or several of these, which are the
        arguments of the function. Tensors in memory, such as one number for each vertex, do not count against the
        budget.
    function : from rows [r, F] of each source to floating-point rows [r, G], independently of each other, such as a
        torch module in evaluation mode. It is first called on the first row alone, to find G and the dtype, and then on
        all rows, some at a time. No gradient is recorded.
    path : the file that is written, .npy or .safetensors; it may be one of the sources.
    memory : the memory budget, such as "500MB", or bytes as an int: for rows that are read and written, and for the
        temporaries of the function, which are assumed to take as much again.
    order : "columns" (column-major), which `aggregate` reads fastest, or "rows" (row-major), for access to single rows.

    The file replaces `path` once it is complete. `apply(source, lambda x: x, path, order=...)` converts the order.
    Raises ArgumentError for sources of different lengths, for a function that does not return one row for each row, and
    for a path that cannot hold its dtype; MemoryBudgetError where a row does not fit; FileFormatError for a damaged
    file; OSError, with the bytes needed, where the disk is full.

    >>> layer = torch.nn.Linear(2, 4)
    >>> hidden = tg.stream.apply(torch.ones(3, 2), layer, "hidden.npy")
    >>> hidden.shape
    (3, 4)
    """
    budget = parse_memory(memory)
    check_choice(order, "order", ORDERS)
    several = sources if isinstance(sources, (list, tuple)) else (sources,)
    readers = [
        open_features(each, f"sources[{number}]" if several is sources else "sources")
        for number, each in _count(several)
    ]
    n = _length(readers)
    with torch.no_grad():
        first = _checked(function(*_rows(readers, slice(0, min(n, 1)))), min(n, 1), None)
        check_target(path, first.dtype)
        trim_heap()
        step = _rows_at_a_time(readers, first, budget)
        with create_features(path, (n, first.shape[1]), first.dtype, by_column=order == "columns") as writer:
            for rows in slices(n, step):
                writer.write(_checked(function(*_rows(readers, rows)), rows.stop - rows.start, first), rows.start)
    return FeatureFile(path)


def _count(sources: Sequence[Source]) -> Iterator[tuple[int, Source]]:
    if not sources:
        raise ArgumentError("sources: expected one at least, got none")
    return enumerate(sources)


def _length(readers: list[FeatureFile | TensorFeatures]) -> int:
    lengths = [each.shape[0] if each.shape else 0 for each in readers]
    if len(set(lengths)) > 1 or not all(each.shape for each in readers):
        got = ", ".join(str(list(each.shape)) for each in readers)
        raise ArgumentError(f"sources: expected a row for each vertex in all of them, got shapes {got}")
    return lengths[0]


def _rows(readers: list[FeatureFile | TensorFeatures], rows: slice) -> list[Tensor]:
    return [each.read(rows).contiguous() for each in readers]


def _rows_at_a_time(readers: list[FeatureFile | TensorFeatures], first: Tensor, budget: int) -> int:
    """Number of rows in the budget. Each counts three times: input and result, each transposed, and temporaries."""
    read = sum(each.row_bytes(each.shape[1]) for each in readers if isinstance(each, FeatureFile))
    per_row = max(1, 3 * (read + first.shape[1] * first.dtype.itemsize))
    available = budget - runtime_bytes(budget)
    if per_row > available:
        raise MemoryBudgetError("a row of the sources and of the result", budget_for(per_row), budget, "give more")
    return min(available // per_row, max(_ENOUGH // per_row, _ROWS))


def _checked(result: Tensor, rows: int, first: Tensor | None) -> Tensor:
    """The result of the function for some rows, checked; `first` is its result for the first row."""
    wanted = "floating numbers [r, G]" if first is None else f"{first.dtype} [r, {first.shape[1]}] as for the first"
    if not isinstance(result, Tensor) or result.dim() != 2 or len(result) != rows or result.dtype not in FLOATS:
        got = f"{result.dtype} {list(result.shape)}" if isinstance(result, Tensor) else type(result).__name__
        raise ArgumentError(f"function: expected {wanted} for r = {rows} rows, got {got}")
    if first is not None and (result.shape[1], result.dtype) != (first.shape[1], first.dtype):
        raise ArgumentError(f"function: expected {wanted}, got {result.dtype} {list(result.shape)}")
    return result
