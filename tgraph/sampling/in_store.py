"""Arcs that stay in a store: those that a hop needs are read from it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.rows import gather_rows
from tgraph.core.storage import Stretches
from tgraph.errors import ArgumentError
from tgraph.stores.blocks import BlockStore, Stat


class StoreRows:
    """The arcs of a type of edges in a `BlockStore`, in rows by destination; made by `GraphStore.rows`.

    In memory are the offsets of the rows; `neighbors[index]` reads from the store, in one request.

    store : the store. stat : of a tensor of the neighbours [m], followed by the offsets [n + 1]. num_sources : a bound
    of the neighbours.
    """

    streams = True  # the rows of a hop are read together

    def __init__(self, store: BlockStore, stat: Stat, split: int, num_sources: int):
        self._store, self._stat = store, stat
        self.num_sources = self.num_vertices = num_sources
        self.offset: Tensor = store.get_rows(stat, torch.arange(split, stat.shape[0])).long()

    @property
    def num_rows(self) -> int:
        """The number of destinations."""
        return len(self.offset) - 1

    def rows(self, vertices: Tensor) -> tuple[Tensor, Tensor, None]:
        """(offset int64 [k + 1], neighbors, None) of some rows, int64 [k]."""
        bounds, arcs = gather_rows(self.offset, vertices)
        return bounds, self[arcs], None

    def stretches(self, vertices: Tensor) -> Stretches:
        """Where the arcs of some rows are, to read single ones."""
        first = self.offset[vertices]
        reader: Any = self
        return Stretches(first, self.offset[vertices + 1] - first, 1, reader)

    def __getitem__(self, index: Tensor) -> Tensor:
        """The neighbours at positions int64 [e]. Raises ArgumentError for one that is no vertex."""
        found = self._store.get_rows(self._stat, index)
        if len(found) and not 0 <= int(found.min()) <= int(found.max()) < self.num_sources:
            at = int(((found < 0) | (found >= self.num_sources)).nonzero()[0])
            raise ArgumentError(
                f"{self._stat.key}: arc {int(index[at])} leads to {int(found[at])}, of {self.num_sources} vertices; "
                "put the edges again"
            )
        return found
