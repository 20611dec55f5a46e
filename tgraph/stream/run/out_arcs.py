"""A source of blocks that holds the out-arcs of a directed graph alone.

The first access to the in-arcs sorts them by an external sort into a temporary file, which is unlinked once it is open,
and so vanishes with the graph.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.files.atomic_write import room_for
from tgraph.files.temporary import temporary_folder, writable_folder
from tgraph.io.edges import Rules
from tgraph.stream.file.block_sorter import BlockSorter
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.file.external_sort import Edges
from tgraph.stream.memory import page_aligned
from tgraph.stream.run.budget import vertex_bytes


class OutArcs(BlockFile, ABC):
    """Blocks of out-arcs with the interface of a partitioned file; subclasses read and verify one.

    path : in-arcs are sorted beside it, or in TMPDIR where nothing can be written there.
    """

    _memory: int  # the budget within which in-arcs are sorted
    _reverse: BlockFile | None = None
    _own: int  # number of blocks of out-arcs

    @abstractmethod
    def _fetch(self, block: int, memory: Tensor) -> None:
        """As `BlockFile.fetch`, of a block of out-arcs."""

    @abstractmethod
    def _verify(self, block: int, memory: Tensor) -> None:
        """As `BlockFile.verify`, of a block of out-arcs."""

    def close(self) -> None:
        super().close()
        if self._reverse is not None:
            self._reverse.close()

    def makes_blocks(self, section: str) -> bool:
        """Whether `blocks(section)` has to sort the in-arcs first."""
        return section != "rows" and self._reverse is None

    def blocks(self, section: str = "rows") -> range:
        """The numbers of the blocks of a section, in the order of their arcs."""
        if section != "rows" and self.directed:
            self._transpose()
        return super().blocks(section)

    def fetch(self, block: int, memory: Tensor) -> None:
        if block >= self._own and self._reverse is not None:
            self._reverse.fetch(block - self._own, memory)
        else:
            self._fetch(block, memory)

    def verify(self, block: int, memory: Tensor) -> None:
        if block >= self._own and self._reverse is not None:
            self._reverse.verify(block - self._own, memory)
        else:
            self._verify(block, memory)

    def _transpose(self) -> BlockFile:
        """The in-arcs, sorted at the first call."""
        if self._reverse is None:
            needed = f"about {4 * self.num_arcs * (self.neighbor_dtype.itemsize + 4)}"
            beside = writable_folder(self.path)
            with temporary_folder(self.path, beside=beside) as folder, room_for(folder, needed):
                memory = max(self._memory - vertex_bytes(self), 1)
                BlockSorter(_InArcs(self), folder, memory, None, False, None).write(folder / "transpose.tg")
                self._reverse = BlockFile(folder / "transpose.tg")
            self._reverse.path = f"{self.path} (its in-arcs)"
            self.index.extend(extent._replace(section=1) for extent in self._reverse.index)
        return self._reverse


class _InArcs:
    """The reversed arcs of a file, as the source of an external sort."""

    rules = Rules(directed=False)
    vertices: Any = None

    def __init__(self, file: OutArcs):
        self._file, self.num_vertices, self.weight_dtype = file, file.num_vertices, file.weight_dtype
        self.num_runs = file._own
        degree = torch.zeros(self.num_vertices, dtype=torch.int64, device="cpu")
        for neighbors, _, _ in self.arcs(0):
            degree += torch.bincount(neighbors, minlength=self.num_vertices)
        self.degrees = [degree]

    def arcs(self, section: int) -> Iterator[Edges]:
        """(target, source, weight) of all arcs, block by block."""
        memory = page_aligned(max(extent.nbytes for extent in self._file.index))
        for number in range(self.num_runs):
            block = self._file.read(number, memory)
            rows = sorting.expand_rows(block.offset, block.neighbors.dtype) + block.first_row
            yield block.neighbors, rows, block.weights
