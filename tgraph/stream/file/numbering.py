"""The mapping from the vertex ids of an edge list, read piece by piece, to the numbers 0..n-1.

First `note` is called with the ends of all edges, piece by piece, then `close`; `number` then maps the values that
`note` returned. Where several processes read pieces, each calls `unite` in between, with the `noted` of all processes
in the order of the pieces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.errors import ArgumentError

# Peak bytes for each id when the new ids of a piece are merged into the sorted ones.
_MERGING = 48


class KeptIds:
    """Ids that are used as vertex numbers: 0 to the largest."""

    vertices: Tensor | None = None

    def __init__(self) -> None:
        self.num_vertices = 0

    def note(self, src: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if len(src):
            self.num_vertices = max(self.num_vertices, int(src.max()) + 1, int(dst.max()) + 1)
        return src, dst

    def noted(self) -> int:
        return self.num_vertices

    def unite(self, noted: int) -> None:
        self.num_vertices = max(self.num_vertices, noted)

    def close(self) -> None:
        """End of the edges."""

    def number(self, src: Tensor, dst: Tensor) -> tuple[Tensor, Tensor]:
        return src, dst


class CompactIds:
    """Integer ids, numbered in ascending order.

    They are marked in a table of all values while none is negative and the largest is below `memory` / 16, so that
    ranks and table together stay below half of the `memory`, in bytes; beyond that, sorted ids are binary-searched.
    """

    def __init__(self, memory: int):
        self._memory = memory
        self._marks: Tensor | None = torch.zeros(0, dtype=torch.bool, device="cpu")
        self._ids = np.empty(0, np.int64)
        self._new: list[np.ndarray] = []
        self._rank: Tensor | None = None
        self.vertices: Tensor | None = None
        self.num_vertices = 0

    def note(self, src: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if len(src):
            self._note(src, dst, max(int(src.max()), int(dst.max())) + 1)
        return src, dst

    def _note(self, src: np.ndarray, dst: np.ndarray, span: int) -> None:
        if self._marks is not None and (span > self._memory // 16 or min(int(src.min()), int(dst.min())) < 0):
            self._list()
        if self._marks is not None:
            self._grow(span)
            for ends in (src, dst):
                self._marks[torch.from_numpy(ends)] = True
            return
        self._new += (np.unique(src), np.unique(dst))
        self._merge_if_many()

    def _grow(self, span: int) -> None:
        assert self._marks is not None
        if span > len(self._marks):  # at least doubled: amortised O(1)
            grown = min(max(span, 2 * len(self._marks)), self._memory // 16) - len(self._marks)
            self._marks = torch.cat((self._marks, self._marks.new_zeros(grown)))

    def _list(self) -> None:
        """Change from the table to sorted ids."""
        if self._marks is not None:
            self._ids, self._marks = self._marks.nonzero().squeeze(1).numpy(), None

    def noted(self) -> tuple[np.ndarray, bool]:
        """(the marks as bits, True), or (the sorted ids, False)"""
        if self._marks is not None:
            return np.packbits(self._marks.numpy()), True
        self._merge()
        return self._ids, False

    def unite(self, noted: tuple[np.ndarray, bool]) -> None:
        found, are_marks = noted
        if not are_marks:
            self._list()
        if self._marks is None:
            self._new.append(np.flatnonzero(np.unpackbits(found)) if are_marks else found)
            self._merge_if_many()
        else:
            marks = torch.from_numpy(np.unpackbits(found)).bool()[: self._memory // 16]  # whole bytes were packed
            self._grow(len(marks))
            self._marks[: len(marks)] |= marks

    def _merge_if_many(self) -> None:
        if sum(map(len, self._new)) > max(len(self._ids), self._memory // 1000):
            self._merge()

    def _merge(self) -> None:
        self._ids = np.unique(np.concatenate((self._ids, *self._new)))
        self._new = []
        if _MERGING * len(self._ids) > self._memory:
            raise ArgumentError(
                f"memory: {self._memory} bytes cannot hold the ids of more than {len(self._ids)} vertices; give at "
                f"least {2 * _MERGING * len(self._ids)}, or number the vertices 0..n-1 and pass ids='keep'"
            )

    def close(self) -> None:
        """End of the edges."""
        if self._marks is not None:
            ids = self._marks.nonzero().squeeze(1)
            identity = not len(ids) or int(ids[-1]) == len(ids) - 1
            if not identity:
                self._rank = self._marks.cumsum(0, dtype=torch.int32).sub_(1)
            self._marks = None
        else:
            self._merge()
            ids, identity = torch.from_numpy(self._ids), False
        self.num_vertices = len(ids)
        self.vertices = None if identity else ids

    def number(self, src: Tensor, dst: Tensor) -> tuple[Tensor, Tensor]:
        if self.vertices is None:
            return src, dst
        if self._rank is not None:
            return self._rank.index_select(0, src), self._rank.index_select(0, dst)
        return torch.searchsorted(self.vertices, src), torch.searchsorted(self.vertices, dst)

    def drop(self) -> None:
        """Free the table, once all ends are numbered."""
        self._rank = None


class Labels:
    """Text labels, numbered in order of first appearance, sources first, as `tgraph.read` does. All labels are held as
    Python strings of about 250 bytes each."""

    def __init__(self) -> None:
        self._code: dict[str, int] = {}
        self._is_source = bytearray()
        self._sources: list[int] = []
        self._united: tuple[dict[str, None], dict[str, None]] = ({}, {})  # sources, and targets only, in their order
        self._rank: Tensor | None = None
        self.vertices: np.ndarray | None = None
        self.num_vertices = 0

    def note(self, src: Any, dst: Any) -> tuple[np.ndarray, np.ndarray]:
        """Arrow columns of labels to provisional numbers, int64."""
        codes, used = self._codes(src)
        for code in used:
            if not self._is_source[code]:
                self._is_source[code] = 1
                self._sources.append(code)
        return codes, self._codes(dst)[0]

    def _codes(self, column: Any) -> tuple[np.ndarray, list[int]]:
        coded = column.combine_chunks().dictionary_encode()
        coded = coded.combine_chunks() if hasattr(coded, "chunks") else coded
        used = [self._code.setdefault(label, len(self._code)) for label in coded.dictionary.to_pylist()]
        self._is_source.extend(bytes(len(self._code) - len(self._is_source)))
        numbers = np.asarray(used, np.int64)
        return numbers[coded.indices.to_numpy(zero_copy_only=False)] if len(column) else numbers, used

    def noted(self) -> tuple[list[str], list[str]]:
        """(sources, labels that are targets only), each in order of first appearance"""
        labels = list(self._code)
        targets = [label for label, is_source in zip(labels, self._is_source, strict=True) if not is_source]
        return [labels[code] for code in self._sources], targets

    def unite(self, noted: tuple[list[str], list[str]]) -> None:
        for united, labels in zip(self._united, noted, strict=True):
            united.update(dict.fromkeys(labels))

    def close(self) -> None:
        """End of the edges."""
        if not any(self._united):
            self.unite(self.noted())
        sources, targets = self._united
        number = {label: number for number, label in enumerate(sources | targets)}
        self.num_vertices = len(number)
        self._rank = torch.tensor([number[label] for label in self._code], dtype=torch.int64)
        self.vertices = np.empty(len(number), dtype=object)
        self.vertices[:] = list(number)
        self._code, self._united = {}, ({}, {})

    def number(self, src: Tensor, dst: Tensor) -> tuple[Tensor, Tensor]:
        assert self._rank is not None, "close comes first"
        return self._rank[src], self._rank[dst]


Numbering = KeptIds | CompactIds | Labels


def narrowed(src: Tensor, dst: Tensor, num_vertices: int) -> tuple[Tensor, Tensor]:
    """Both ends in the dtype of the neighbours of a graph of n vertices."""
    dtype = sorting.index_dtype(num_vertices)
    return src.to(dtype), dst.to(dtype)
