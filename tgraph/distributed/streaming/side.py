"""The arcs of own vertices of a rank to own vertices, or to mirrors, read block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.distributed.streaming.blocks import PartBlocks
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.relaxation.blocks import join_blocks
from tgraph.kernels.reductions import Reduction
from tgraph.primitives import bitmaps
from tgraph.stream.file.block import Block
from tgraph.stream.file.weights import WeightStatistics
from tgraph.stream.run.scheduler import Pipeline
from tgraph.stream.run.section import Section
from tgraph.stream.run.streamed import Streamed


class Side(Streamed):
    """The rows of k own vertices, by local numbers, as a layout of `num_vertices`: k, or, where arcs lead to mirrors,
    k + h, in which mirrors have no rows. Results and offsets are of own vertices alone.

    within : the budget that all sides share, and the pipeline. statistics : of the weights.
    """

    name = "a side of a part in blocks"

    def __init__(
        self,
        within: Any,
        source: PartBlocks,
        pipeline: Pipeline,
        name: str,
        num_vertices: int,
        statistics: WeightStatistics,
    ):
        self.within, self.source, self.memory = within, source, pipeline.memory
        self._device, self.pipeline, self._statistics = pipeline.device, pipeline, statistics
        self.section = Section(source, name, pipeline.device, pipeline)
        self.num_vertices, self.num_arcs = num_vertices, int(self.section.offset[-1])

    @property
    def nbytes(self) -> int:
        """Bytes of the resident offsets; the buffers belong to all sides."""
        return self.section.offset.nbytes

    def transposed(self) -> NoReturn:
        """Raises ArgumentError: in-arcs are the rows of another part."""
        raise ArgumentError("graph: the blocks of a part have no transpose; take that of the whole graph")

    def weight_statistics(self) -> tuple[float, float, float] | None:
        return self._statistics.summary() if self._statistics.count else None

    def reduced(self, data: Tensor, reduction: Reduction, edge: str) -> Tensor:
        """The results of the own vertices along their rows, [k, F], of `data` [num_vertices, F]."""
        shape = (len(self.section.offset) - 1, *data.shape[1:])
        result = data.new_full(shape, reduction.identity(data.dtype))
        self.pull_rows(data, reduction, edge, lambda received, rows: result[rows].copy_(received))
        return result

    def join_to(self, graph: Graph, label: Tensor) -> None:
        """Merge the trees of `label` [num_vertices] at the two ends of every arc."""
        join_blocks(self.section, graph, label)

    # ---- rows by a bitmap ----------------------------------------------------------------------------------------

    def push_bits(self, active: Tensor, reached: Tensor) -> None:
        """See `bitmaps.push`: add the neighbors of the `active` own vertices to `reached`."""
        self._visit_bits(active, lambda block, rows: bitmaps.push(block.offset, block.neighbors, rows, reached))

    def pull_bits(self, front: Tensor, wanted: Tensor, reached: Tensor) -> None:
        """See `bitmaps.pull`: add the `wanted` own vertices that have a neighbor in `front` to `reached`."""

        def pull(block: Block, rows: Tensor) -> None:
            found = bitmaps.empty(block.end_row - block.first_row, reached.device)
            bitmaps.pull(block.offset, block.neighbors, front, rows, found)
            bitmaps.move(found, 0, block.end_row - block.first_row, reached, block.first_row)

        self._visit_bits(wanted, pull)

    def _visit_bits(self, chosen: Tensor, work: Callable[[Block, Tensor], None]) -> None:
        """Call work(block, which of its rows are chosen) for the blocks that have any of the rows of a bitmap."""
        rows = {}
        for block in self.section.blocks:
            first, end = self.section.index[block][1:3]
            bits = bitmaps.empty(end - first, chosen.device)
            bitmaps.move(chosen, first, end - first, bits, 0)
            if bool(bits.any()):
                rows[block] = bits
        self.pipeline.visit_all(list(rows), lambda block: work(block, rows[block.number]))
