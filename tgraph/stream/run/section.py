"""One section of a block file during a run: the blocks of each row, and visits to them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core.rows import gather_stretches
from tgraph.stream.file.block import Block
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.run.scheduler import Pipeline
from tgraph.stream.run.sharing import Pass


class Section:
    """The blocks of a section that have arcs, with the resident offsets of its rows.

    Parameters
    ----------
    source : the open file, or a graph in memory that is read as one.
    name : "rows" (out-arcs) or "transpose" (in-arcs).
    device : where blocks are computed on.
    pipeline : loads the blocks; the sections of a file may share one.

    Attributes
    ----------
    index : an `Extent` for each block of the file, by its number.
    blocks : the numbers of the blocks of this section that have arcs, in the order of these.
    offset : int64 [n + 1], where the arcs of each row begin.
    first_arc : int64 [blocks], the first arc of each block.
    splits : for the number of each block, whether its first row begins in an earlier block, and whether its last row
        continues in a later one.
    has_split_rows : whether any row lies in several blocks.
    """

    splits: dict[int, tuple[bool, bool]]

    def __init__(self, source: BlockFile, name: str, device: torch.device, pipeline: Pipeline):
        self.name: str = name
        self.pipeline: Pipeline = pipeline
        self.index = source.index
        self.blocks: list[int] = [
            block for block in source.blocks(name) if self.index[block].end_arc > self.index[block].first_arc
        ]
        self.offset: Tensor = source.offset(name).to(device)
        extents = torch.tensor(
            [self.index[block][1:5] for block in self.blocks], dtype=torch.int64, device=device
        ).reshape(-1, 4)
        first_row, end_row, first_arc, end_arc = extents.unbind(1)
        self.first_arc: Tensor = first_arc.contiguous()
        begins_before = (self.offset.index_select(0, first_row) < first_arc).tolist()
        continues = (self.offset.index_select(0, end_row) > end_arc).tolist()
        self.splits = dict(zip(self.blocks, zip(begins_before, continues, strict=True), strict=True))
        self.has_split_rows: bool = any(begins_before) or any(continues)

    def degree(self, rows: Tensor) -> Tensor:
        """The number of arcs of each of the rows [k], int64 [k]."""
        return self.offset.index_select(0, rows + 1) - self.offset.index_select(0, rows)

    def visit(self, work: Callable[[Block], None], in_order: bool = False) -> None:
        """Call work(block) once for every block with arcs, if `in_order` in the order of these, else cached ones
        first."""
        Pass(self.name, self.blocks, work, in_order).make(self.pipeline)

    def visit_rows(self, rows: Tensor, work: Callable[[Block], None]) -> None:
        """Call work(block) once for every block that holds arcs of any of the rows, int64 [k]; no other is read."""
        needed = torch.zeros(len(self.blocks), dtype=torch.bool, device=rows.device)
        needed[self.locate(rows)[1]] = True
        blocks = (self.blocks[place] for place in needed.nonzero().flatten().tolist())
        Pass(self.name, blocks, work).make(self.pipeline)

    def locate(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The blocks that hold arcs of the rows, int64 [k]: a pair (row, position in `blocks`) for each, as two tensors
        int64. A row without arcs is in no pair, a split row in several."""
        first = self.offset.index_select(0, rows)
        last = self.offset.index_select(0, rows + 1) - 1
        low = torch.searchsorted(self.first_arc, first, right=True) - 1
        if not self.has_split_rows:
            has_arcs = last >= first
            return (rows, low) if bool(has_arcs.all()) else (rows[has_arcs], low[has_arcs])
        count = torch.where(last >= first, torch.searchsorted(self.first_arc, last, right=True) - low, 0)
        _, place = gather_stretches(low, count)
        return rows.repeat_interleave(count, output_size=len(place)), place
