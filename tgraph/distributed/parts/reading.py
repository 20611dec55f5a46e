"""Reading of a rank from a partitioned file: the ownership, its part, and at first use original ids."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from tgraph.core.ids import VertexIds
from tgraph.distributed.parts.cutting import Cut, part_by
from tgraph.distributed.parts.part import Part
from tgraph.distributed.parts.splitting import Rows
from tgraph.distributed.ranks.ownership import Ownership
from tgraph.distributed.streaming.within import Within
from tgraph.files import PathLike
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.memory import page_aligned, trim_heap
from tgraph.stream.partitioning.parts import equal_shares


def owners(file: BlockFile, group: Any) -> Ownership:
    """The assignment of vertices to ranks, by the blocks of the rows: equally many blocks for each rank where their
    number allows that, else about equally many arcs. To be called by all ranks."""
    ranks, rank = dist.get_world_size(group), dist.get_rank(group)
    blocks = [file.index[number] for number in file.blocks("rows")]
    if len(blocks) >= ranks and len(blocks) % ranks == 0:
        share = len(blocks) // ranks
        starts = [blocks[each * share].first_row for each in range(ranks)]
        return Ownership((0, *starts[1:], file.num_vertices), group)
    mine = torch.tensor(first_row_from(file, int(equal_shares(file.num_arcs, ranks)[rank])), device="cpu")
    found = [torch.empty_like(mine) for _ in range(ranks)]
    dist.all_gather(found, mine, group=group)
    return Ownership((0, *(int(each) for each in found[1:]), file.num_vertices), group)


def first_row_from(file: BlockFile, arc: int) -> int:
    """The first row that begins at an arc of the rows or after it; only the block where that lies is read."""
    for number in file.blocks("rows"):
        extent = file.index[number]
        if extent.first_arc < arc <= extent.end_arc:
            block = file.read(number, page_aligned(extent.nbytes))
            return block.first_row + int(torch.searchsorted(block.offset, arc - block.first_arc))
    return 0


def read_part(
    path: PathLike,
    section: str,
    ownership: Ownership,
    device: torch.device,
    cut: Cut | None = None,
    within: Within | None = None,
) -> Part:
    """The part of this rank on a device, from the blocks of a section that hold its rows, one at a time; `cut` as of
    `open`.
    within : the budget of the parts of this rank, None for memory without limit."""
    with BlockFile(path) as file:
        section = section if file.directed else "rows"
        held = [
            number
            for number in file.blocks(section)
            if file.index[number].first_row < ownership.end and file.index[number].end_row > ownership.first
        ]
        memory = page_aligned(max((file.index[number].nbytes for number in held), default=0))

        def rows() -> Iterator[Rows]:
            for number in held:
                block = file.read(number, memory)
                low, high = max(block.first_row, ownership.first), min(block.end_row, ownership.end)
                offset = block.offset[low - block.first_row : high - block.first_row + 1]
                yield Rows(low, offset, block.neighbors, block.weights)

        take = None if within is None else partial(within.take, section)
        part = part_by(cut, ownership, rows, file.neighbor_dtype, file.weight_dtype, file.directed, take, device)
    trim_heap()
    return part


class IdsInFile(VertexIds):
    """The original ids in a partitioned file, which are read when they are asked for."""

    def __init__(self, path: PathLike):
        self._path = path

    @cached_property
    def values(self) -> Any:  # type: ignore[override]
        """See `VertexIds`; the same on every rank."""
        with BlockFile(self._path) as file:
            return VertexIds(file.vertices).values

    @property
    def nbytes(self) -> int:
        """See `VertexIds`; 0 before they are read."""
        return self.values.nbytes if "values" in self.__dict__ else 0


def read_order(path: PathLike, device: torch.device) -> Tensor | None:
    """See `BlockFile.order`; on a device."""
    with BlockFile(path) as file:
        return None if file.order is None else file.order.to(device)
