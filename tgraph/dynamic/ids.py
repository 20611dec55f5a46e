"""Original ids of vertices, numbered as they come."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import inputs
from tgraph.core.ids import VertexIds
from tgraph.errors import ArgumentError, UnknownVertexError
from tgraph.kernels.operators.sampling.places import number_vertices

Labels = Sequence[Hashable]


class GrowingIds:
    """The ids of the vertices 0..n-1, all integers or all labels; new ids get the next numbers in their order of
    arrival, and the number of an id never changes."""

    def __init__(self) -> None:
        self._integers: _GrowingIntegers | None = None
        self._labels: dict[Hashable, int] | None = None
        self._values: list[Hashable] = []

    def __len__(self) -> int:
        return len(self._values) if self._integers is None else len(self._integers)

    def number(self, src: Any, dst: Any) -> tuple[Tensor, Tensor]:
        """The numbers of the ids of both ends, int64 [k] each; unknown ids become vertices, until `forget`. Raises
        ArgumentError for ids of the other kind, and for values that are no ids."""
        ends = _as_ids(src, "src"), _as_ids(dst, "dst")
        if not len(ends[0]):  # a batch without arcs does not determine the kind of ids
            return torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64)
        self._check_kind(ends[0], "src")
        self._check_kind(ends[1], "dst")
        if isinstance(ends[0], Tensor) and isinstance(ends[1], Tensor):
            return self._number_integers(ends[0], ends[1])
        if isinstance(ends[0], Tensor) or isinstance(ends[1], Tensor):
            raise ArgumentError("src and dst: the ids of one are integers, those of the other are labels; convert them")
        self._labels = {} if self._labels is None else self._labels
        src_numbers, dst_numbers = [], []
        try:
            for label, other in zip(*ends, strict=True):
                src_numbers.append(self._number_label(label))
                dst_numbers.append(self._number_label(other))
        except TypeError:
            _check_hashable(ends[0], "src")
            _check_hashable(ends[1], "dst")
            raise
        return torch.tensor(src_numbers, dtype=torch.int64), torch.tensor(dst_numbers, dtype=torch.int64)

    def _number_integers(self, src: Tensor, dst: Tensor) -> tuple[Tensor, Tensor]:
        self._integers = _GrowingIntegers() if self._integers is None else self._integers
        numbered = self._integers.number(torch.stack((src, dst), 1).view(-1)).view(-1, 2)
        return numbered[:, 0].contiguous(), numbered[:, 1].contiguous()

    def _number_label(self, label: Hashable) -> int:
        assert self._labels is not None
        index = self._labels.get(label)
        if index is None:
            index = len(self._values)
            self._values.append(label)
            self._labels[label] = index
        return index

    def find(self, ids: Any, name: str, count: int) -> Tensor:
        """The numbers of ids, int64 [k]. Raises UnknownVertexError for an id that is not among the first `count`,
        ArgumentError for ids of the other kind."""
        wanted, integers, labels = _as_ids(ids, name), self._integers, self._labels
        self._check_kind(wanted, name)
        if isinstance(wanted, Tensor):
            found = torch.full_like(wanted, -1) if integers is None else integers.find(wanted)
        else:
            try:
                found = torch.tensor([(labels or {}).get(label, -1) for label in wanted], dtype=torch.int64)
            except TypeError:
                _check_hashable(wanted, name)
                raise
        if len(unknown := ((found < 0) | (found >= count)).nonzero()):
            place = int(unknown[0])
            missing = wanted[place].item() if isinstance(wanted, Tensor) else wanted[place]
            raise UnknownVertexError(
                f"{name}: no vertex is called {missing!r}, at position {place}; insert an arc first"
            )
        return found

    def first(self, count: int) -> VertexIds | None:
        """The ids of the first vertices, which do not change when others come; None where there are no ids."""
        if self._integers is not None:
            return VertexIds(self._integers.values[:count])
        return None if self._labels is None else VertexIds(self._values[:count])

    def since(self, count: int) -> Tensor | list[Hashable]:
        """The ids behind the first `count`, in the order of their numbers."""
        return self._values[count:] if self._integers is None else self._integers.values[count : len(self)]

    def extend(self, ids: Tensor | Labels) -> None:
        """Number new ids, all integers or all labels."""
        if len(ids):
            self.number(ids, ids)

    def forget(self, count: int) -> None:
        """Take back the numbers of all but the first `count`."""
        if self._integers is not None:
            self._integers.forget(count)
        for label in self._values[count:]:
            if self._labels is not None:
                self._labels.pop(label, None)
        del self._values[count:]
        if count == 0:  # the kind of ids is open again
            self._integers = self._labels = None

    def _check_kind(self, ids: Tensor | Labels, name: str) -> None:
        """Raise ArgumentError for ids of another kind than earlier ones."""
        integers = isinstance(ids, Tensor)
        if len(ids) and (self._labels if integers else self._integers) is not None:
            kind, other = ("labels", "integers") if integers else ("integers", "labels")
            raise ArgumentError(f"{name}: the ids of this store are {kind}, these are {other}; convert them")


def _as_ids(ids: Any, name: str) -> Tensor | Labels:
    """Integers as an int64 tensor, labels as a sequence."""
    if isinstance(ids, (str, bytes)):
        raise ArgumentError(f"{name}: expected a sequence of ids, got {ids!r}; pass [{ids!r}]")
    integers = _integers(ids)
    if integers is not None:
        return inputs.as_index(integers, name).to("cpu", torch.int64)
    return [label.item() if isinstance(label, np.generic) else label for label in ids]


def _check_hashable(labels: Labels, name: str) -> None:
    for place, label in enumerate(labels):
        try:
            hash(label)
        except TypeError as fault:
            raise ArgumentError(
                f"{name}: {label!r} at position {place} is no id ({fault}); convert it to text or numbers"
            ) from None


def _integers(ids: Any) -> Any:
    """Ids that are integers, in a tensor, an array or a list; None for others."""
    if isinstance(ids, (Tensor, np.ndarray)):
        kind = ids.dtype.kind if isinstance(ids, np.ndarray) else "i"
        return ids if kind in "iu" else None
    if hasattr(ids, "to_numpy"):
        return _integers(ids.to_numpy())
    return ids if all(isinstance(label, (int, np.integer)) and not isinstance(label, bool) for label in ids) else None


class _GrowingIntegers:
    """Integer ids: `values` with room to grow, and sorted tables of them, each at least twice as long as the next."""

    def __init__(self) -> None:
        self.values = torch.empty(1024, dtype=torch.int64)
        self._count = 0
        self._tables: list[tuple[Tensor, Tensor]] = []  # (ascending ids, the number of each)

    def __len__(self) -> int:
        return self._count

    def find(self, wanted: Tensor) -> Tensor:
        """The number of each id, -1 for unknown ones."""
        found = torch.full_like(wanted, -1)
        for ascending, number in tuple(self._tables):  # a writer may join two of them meanwhile
            place = torch.searchsorted(ascending, wanted).clamp_(max=len(ascending) - 1)
            found = torch.where(ascending[place] == wanted, number[place], found)
        return found

    def number(self, wanted: Tensor) -> Tensor:
        """The number of each id; unknown ones get the next numbers, in the order in which they come."""
        found = self.find(wanted)
        unknown = (found < 0).nonzero().view(-1)
        if not len(unknown):
            return found
        place, new = number_vertices(wanted[:0], wanted[unknown])
        found[unknown] = place + self._count
        ascending, order = new.sort()
        number = order + self._count
        self._append(new)
        self._tables.append((ascending, number))
        while len(self._tables) > 1 and len(self._tables[-2][0]) < 2 * len(self._tables[-1][0]):
            parts = self._tables[-2:]
            ids, places = (torch.cat(columns) for columns in zip(*parts, strict=True))
            ids, order = torch.sort(ids)
            self._tables[-2:] = [(ids, places[order])]
        return found

    def forget(self, count: int) -> None:
        """Take back the numbers of all but the first `count`."""
        tables = [(ids[number < count], number[number < count]) for ids, number in self._tables]
        self._tables, self._count = [table for table in tables if len(table[0])], count

    def _append(self, values: Tensor) -> None:
        end = self._count + len(values)
        if end > len(self.values):  # snapshots keep the tensor that they have
            grown = torch.empty(max(end, 2 * len(self.values)), dtype=torch.int64)
            grown[: self._count] = self.values[: self._count]
            self.values = grown
        self.values[self._count : end] = values
        self._count = end
