"""Original vertex ids of the vertices 0..n-1, and the lookup of indices by id."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.errors import ArgumentError, UnknownVertexError


class VertexIds:
    """The ids of vertices 0..n-1: an int64 tensor [n], or an object array [n] of hashable labels."""

    def __init__(self, values: Tensor | np.ndarray | Sequence[Hashable]):
        self.values: Tensor | np.ndarray[Any, np.dtype[Any]] = _as_ids(values)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def are_integers(self) -> bool:
        return isinstance(self.values, Tensor)

    @property
    def nbytes(self) -> int:
        """Bytes of the ids; of labels, those of the references to them."""
        return self.values.nbytes

    def take(self, index: Tensor) -> Tensor | list[Any]:
        """The ids at the given indices: a tensor where ids are integers, else a list."""
        if isinstance(self.values, Tensor):
            return self.values[index.to(self.values.device)]
        return list(self.values[index.cpu().numpy()])

    def find(self, wanted: Tensor | Sequence[Any]) -> Tensor:
        """The index of every wanted id, int64. Raises UnknownVertexError for the first unknown one."""
        if self.are_integers:
            return self._find_integers(wanted)
        try:
            return torch.tensor([self._table[label] for label in wanted], dtype=torch.int64)
        except KeyError as missing:
            raise UnknownVertexError(f"ids: no vertex is called {missing.args[0]!r}; {self._examples()}") from None

    def _find_integers(self, wanted: Tensor | Sequence[Any]) -> Tensor:
        ascending, order = self._ascending
        try:
            given = torch.as_tensor(wanted, device=ascending.device)
            if given.is_floating_point() and given.numel():
                raise TypeError
        except (TypeError, ValueError, RuntimeError) as fault:
            raise UnknownVertexError(f"ids: {wanted!r} are not integers as the ids of this graph are") from fault
        wanted = given.to(torch.int64)
        place = torch.searchsorted(ascending, wanted).clamp(max=max(len(self) - 1, 0))
        known = ascending[place] == wanted if len(self) else torch.zeros_like(wanted, dtype=torch.bool)
        if not bool(known.all()):
            missing = int(wanted[~known][0])
            raise UnknownVertexError(f"ids: no vertex is called {missing}; {self._examples()}")
        return place if order is None else order[place]

    def _examples(self) -> str:
        if not len(self):
            return "the graph has no vertices"
        some = self.values[:3].tolist()
        return f"the graph has {len(self)} vertices, the first are {', '.join(map(repr, some))}"

    @cached_property
    def _table(self) -> dict[Any, int]:
        return {label: index for index, label in enumerate(self.values)}

    @cached_property
    def _ascending(self) -> tuple[Tensor, Tensor | None]:
        """The ids in ascending order, and the permutation that sorts them (None where they already are)."""
        assert isinstance(self.values, Tensor)
        if bool((self.values[1:] > self.values[:-1]).all()):
            return self.values, None
        return torch.sort(self.values)

    def check_unique(self) -> None:
        """Raise ArgumentError where two vertices carry the same id."""
        if isinstance(self.values, Tensor):
            ascending, _ = self._ascending
            twice = (ascending[1:] == ascending[:-1]).nonzero()
            repeated = int(ascending[twice[0, 0]]) if len(twice) else None
        else:
            seen: set[Hashable] = set()
            repeated = next((label for label in self.values if label in seen or seen.add(label)), None)  # type: ignore[func-returns-value]
        if repeated is not None:
            raise ArgumentError(f"vertices: the id {repeated!r} stands twice; give every vertex an id of its own")


def _as_ids(values: Tensor | np.ndarray | Sequence[Hashable]) -> Tensor | np.ndarray:
    if isinstance(values, Tensor):
        if values.dim() != 1 or values.is_floating_point() or values.is_complex() or values.dtype == torch.bool:
            raise ArgumentError(
                f"vertices: a tensor of ids is 1-D and of an integer dtype, this is {values.dtype} {list(values.shape)}"
            )
        return values.to(torch.int64).contiguous()
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        if values.dtype == np.uint64 and values.size and values.max() > np.iinfo(np.int64).max:
            raise ArgumentError(f"vertices: the id {values.max()} does not fit int64; pass such ids as strings")
        return torch.from_numpy(values.astype(np.int64))
    labels = np.empty(len(values), dtype=object)
    labels[:] = list(values)  # slice assignment keeps tuples whole
    if len(labels) and all(type(label) is int and -(2**63) <= label < 2**63 for label in labels):
        return torch.from_numpy(labels.astype(np.int64))
    return labels
