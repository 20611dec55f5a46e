"""Columns: named data with a row for each arc, or each vertex, of a graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import inputs, memory, sorting
from tgraph.core.derived import detached_cache_scope
from tgraph.errors import ArgumentError

if TYPE_CHECKING:
    import pyarrow

Column = Union[Tensor, "pyarrow.Array"]
# int64 [k], or what gives them at first use, or None for all in order.
Positions = Tensor | Callable[[], Tensor] | None


class Columns(Mapping[str, Column]):
    """Columns by name, read-only: tensors [k, ...] of numbers and bools, Arrow's arrays [k] of anything else.

    held : columns, or functions that give them, which are called at first use.
    """

    def __init__(self, held: Mapping[str, Column | Callable[[], Column]] | None = None):
        self._held = dict(held or {})

    def __getitem__(self, name: str) -> Column:
        column = self._held[name]
        if callable(column):
            with detached_cache_scope():
                column = self._held[name] = column()
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, name: object) -> bool:
        return name in self._held

    def __reduce__(self) -> Any:
        return Columns, (dict(self),)

    def __repr__(self) -> str:
        return f"Columns({', '.join(self)})"

    @property
    def nbytes(self) -> int:
        """Bytes of those that are in memory; others come at first use."""
        return sum(column.nbytes for column in self._held.values() if not callable(column))

    def name_of(self, column: Tensor) -> str | None:
        """The name of this very tensor, None if it is not among them."""
        return next((name for name, held in self._held.items() if held is column), None)

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient is recorded for one of them."""
        return any(isinstance(column, Tensor) and column.requires_grad for column in self._held.values())

    def number(self, name: str, argument: str) -> Tensor:
        """The tensor of this name. Raises ArgumentError, naming the `argument`, for text and for unknown names."""
        if name not in self._held:
            known = f"the columns are {', '.join(map(repr, self))}" if self else "there are no columns"
            raise ArgumentError(f"{argument}: no column is called {name!r}; {known}; graph.with_columns adds one")
        column = self[name]
        if not isinstance(column, Tensor):
            raise ArgumentError(f"{argument}: the column {name!r} holds {column.type}, not numbers; number its values")
        return column

    def take(self, positions: Positions) -> Columns:
        """The rows at these positions, taken when a column is first used: few algorithms use those of the graphs that
        they make. A column for which a gradient is recorded is taken at once, or detached where a function gives the
        positions."""
        if positions is None or not self:
            return self
        return Columns(
            {
                name: taken(column, positions)
                if isinstance(positions, Tensor) and isinstance(column, Tensor) and column.requires_grad
                else partial(_taken_later, self, name, positions)
                for name, column in self._held.items()
            }
        )

    def to(self, device: torch.device) -> Columns:
        """The same with all tensors on a device."""
        return Columns({name: each.to(device) if isinstance(each, Tensor) else each for name, each in self.items()})

    def changed(self, given: Mapping[str, Any] | None, count: int, device: torch.device, argument: str) -> Columns:
        """With the `given` columns of `count` rows in place of those of the same names; without those that are None.
        Raises ArgumentError for other lengths, names and devices, and for values that neither torch nor Arrow holds."""
        held = dict(self._held)
        for name, values in (given or {}).items():
            if not isinstance(name, str) or not name:
                raise ArgumentError(f"{argument}: columns are named by text, got {name!r}")
            if values is not None:
                held[name] = as_column(values, count, device, f"{argument}[{name!r}]")
            elif held.pop(name, None) is None:
                raise ArgumentError(f"{argument}: no column is called {name!r}, which None removes")
        return Columns(held)


NONE = Columns()


def warn_of_columns(what: str, *columns: Columns) -> None:
    """Warn of columns that something leaves out."""
    if lost := [name for each in columns for name in each]:
        warnings.warn(f"{what}: the columns {', '.join(lost)} are left out; .tg keeps them", stacklevel=3)


def _taken_later(columns: Columns, name: str, positions: Tensor | Callable[[], Tensor]) -> Column:
    column = columns[name]
    places = positions if isinstance(positions, Tensor) else positions()
    return taken(column.detach() if isinstance(column, Tensor) else column, places)


def taken(column: Column, positions: Tensor) -> Column:
    """The rows of a column at these positions, int64 [k].

    >>> from tgraph.core.columns import taken
    >>> taken(torch.tensor([5, 6, 7]), torch.tensor([2, 0]))
    tensor([7, 5])
    """
    if isinstance(column, Tensor):
        return column.index_select(0, positions) if column.requires_grad else sorting.take(column, positions)
    return column.take(_arrow().array(positions.cpu().numpy()))


def as_column(values: Any, count: int, device: torch.device, name: str) -> Column:
    """A tensor on the device where the values are numbers or bools, none missing; else an array of Arrow. Raises
    ArgumentError, with the `name`, for another length, or device of a tensor, and for values that neither holds."""
    column = values if isinstance(values, Tensor) else _read(values, name)
    if isinstance(column, Tensor):
        column = memory.readable(column, name)
        if isinstance(values, Tensor) and column.device != device:
            raise ArgumentError(f"{name}: on {column.device} while the graph is on {device}; use .to")
        column = column.to(device)
    if (isinstance(column, Tensor) and not column.dim()) or len(column) != count:
        shape = list(column.shape) if isinstance(column, Tensor) else [len(column)]
        raise ArgumentError(f"{name}: expected {count} rows, got shape {shape}")
    return column


def _read(values: Any, name: str) -> Column:
    pa = _arrow()
    if isinstance(values, (pa.Array, pa.ChunkedArray)) and str(values.type) in ("string_view", "binary_view"):
        values = values.cast(pa.large_string() if str(values.type) == "string_view" else pa.large_binary())
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
        values = pa.concat_arrays(values.chunks) if isinstance(values, pa.ChunkedArray) else values
    if isinstance(values, pa.Array):
        kind = values.type
        if values.null_count:
            return values
        if pa.types.is_fixed_size_list(kind) and isinstance(numbers := _read(values.flatten(), name), Tensor):
            return numbers.view(len(values), kind.list_size, *numbers.shape[1:])
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            return values
        values = values.to_numpy(zero_copy_only=False)
    try:
        return inputs.as_tensor(values, name) if _are_numbers(values) else pa.array(values, from_pandas=True)
    except (TypeError, ValueError, OverflowError, pa.ArrowException) as fault:
        raise ArgumentError(f"{name}: neither torch nor Arrow holds these values: {fault}") from fault


def check_mirrored(columns: Columns, order: Tensor) -> None:
    """Raise ArgumentError where the arcs of an undirected edge differ; `order` : `Graph.transpose_permutation`."""
    for name, column in columns.items():
        place = differs_at(column, taken(column, order))
        if place is not None:
            raise ArgumentError(
                f"arcs[{name!r}]: the arc at position {place} differs from its reverse at {int(order[place])}; "
                "give both arcs of an undirected edge the same, as Graph.from_edges(..., columns=) does"
            )


def flat(columns: Columns, taken_by: Any = ()) -> dict[str, Any]:
    """The columns for a table: arrays of numpy [k], of Arrow where they are no numbers; a tensor [k, j] is the columns
    name_0 .. name_{j-1}. Raises ArgumentError for a name that is `taken_by` another column of the table."""
    table: dict[str, Any] = {}
    for name, column in columns.items():
        whole = not isinstance(column, Tensor) or column.dim() == 1
        parts = [column] if not isinstance(column, Tensor) or whole else column.flatten(1).unbind(1)
        for i, part in enumerate(parts):
            key = name if whole else f"{name}_{i}"
            if key in table or key in taken_by:
                raise ArgumentError(f"columns: the table has two columns {key!r}; rename one by with_columns")
            table[key] = as_numpy(part) if isinstance(part, Tensor) else part
    return table


def as_numpy(values: Tensor) -> np.ndarray:
    """The numbers as an array, 16-bit floats in 32 bits, as numpy has no bfloat16 and Arrow writes no half as text."""
    values = values.detach().cpu()
    return (values.float() if values.dtype in (torch.float16, torch.bfloat16) else values).numpy()


def _are_numbers(values: Any) -> bool:
    try:
        return np.asarray(values).dtype.kind in "biuf"
    except ValueError:  # lists of different lengths
        return False


def differs_at(column: Column, other: Column) -> int | None:
    """The first row in which two columns of one kind and length differ, None where they are equal; NaN equals NaN."""
    if isinstance(column, Tensor) or isinstance(other, Tensor):
        differ = (column != other) & ~((column != column) & (other != other))
        rows = (differ if differ.dim() == 1 else differ.flatten(1).any(1)).nonzero()
        return int(rows[0]) if len(rows) else None
    if column.equals(other):
        return None
    return next((i for i, (one, two) in enumerate(zip(column, other, strict=True)) if not one.equals(two)), None)


def _arrow() -> Any:
    import pyarrow

    return pyarrow
