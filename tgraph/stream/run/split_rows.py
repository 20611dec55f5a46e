"""Reductions of rows block by block, and the combination of the partial results of rows that several blocks share."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.kernels.reductions import Reduction
from tgraph.stream.file.block import Block
from tgraph.stream.run.section import Section

# By the name of a reduction: the operator that combines partial results.
COMBINE: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "sum": torch.add,
    "prod": torch.mul,
    "min": torch.minimum,
    "max": torch.maximum,
}


class SplitRows:
    """Writes the results of the rows of blocks that arrive in any order.

    The results of rows in a single block are written at once. The partial results of a split row wait for `finish`,
    which combines them in the order of the blocks, so that sums of floats are the same in every run.

    write(received, rows) is called with the results of adjacent rows.
    """

    def __init__(
        self, section: Section, reduction: Reduction, dtype: torch.dtype, write: Callable[[Tensor, slice], object]
    ):
        self._splits, self._write, self._dtype = section.splits, write, dtype
        self._combine = COMBINE[reduction.name]
        self._partial: dict[int, list[tuple[int, Tensor]]] = {}

    def add(self, block: Block, received: Tensor) -> None:
        """Take the results of the rows of a block along its arcs, [rows, F]."""
        received = received.to(self._dtype)
        first, end = block.first_row, block.end_row
        begins_before, continues = self._splits[block.number]
        if begins_before or (continues and end - first == 1):
            self._keep(first, block.number, received[0])
            first += 1
        if continues and end > first:
            end -= 1
            self._keep(end, block.number, received[-1])
        if end > first:
            low = first - block.first_row
            self._write(received[low : low + end - first], slice(first, end))

    def _keep(self, row: int, number: int, part: Tensor) -> None:
        self._partial.setdefault(row, []).append((number, part.clone()))

    def finish(self) -> None:
        """Write the split rows."""
        for row, parts in self._partial.items():
            parts.sort(key=lambda part: part[0])
            received = parts[0][1]
            for _, part in parts[1:]:
                received = self._combine(received, part)
            self._write(received[None], slice(row, row + 1))
