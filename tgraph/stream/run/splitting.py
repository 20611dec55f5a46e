"""What rows receive that fall into several blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tgraph.kernels.reductions import Reduction
from tgraph.stream.file.blocks import Block

if TYPE_CHECKING:
    from tgraph.stream.run.streamed import Streamed

_TWO: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "sum": torch.add,
    "prod": torch.mul,
    "min": torch.minimum,
    "max": torch.maximum,
}


class RowsJoined:
    """What the rows of one block after another receive, in any order of the blocks.

    Rows that lie in one block are handed on at once. What the parts of a split row receive is kept until `finish`,
    which joins it in the order of the blocks, so that sums of floats are the same in every run.

    write(received, rows) is handed what adjacent rows have received.
    """

    def __init__(
        self, layout: Streamed, reduction: Reduction, dtype: torch.dtype, write: Callable[[Tensor, slice], object]
    ):
        self._index, self._write, self._dtype = layout.index, write, dtype
        self._join = _TWO[reduction.name]
        self._split = layout.splits
        self._parts: dict[int, list[tuple[int, Tensor]]] = {}

    def add(self, block: Block, received: Tensor) -> None:
        """What the rows of a block receive along its arcs, [rows, F]."""
        received = received.to(self._dtype)
        first, end = block.first_row, block.end_row
        begins_before, goes_on = self._split[block.number]
        if begins_before or (goes_on and end - first == 1):
            self._keep(first, block.number, received[0])
            first += 1
        if goes_on and end > first:
            end -= 1
            self._keep(end, block.number, received[-1])
        if end > first:
            low = first - block.first_row
            self._write(received[low : low + end - first], slice(first, end))

    def _keep(self, row: int, number: int, part: Tensor) -> None:
        self._parts.setdefault(row, []).append((number, part.clone()))

    def finish(self) -> None:
        """Write the split rows."""
        for row, parts in self._parts.items():
            parts.sort(key=lambda part: part[0])
            received = parts[0][1]
            for _, part in parts[1:]:
                received = self._join(received, part)
            self._write(received[None], slice(row, row + 1))
