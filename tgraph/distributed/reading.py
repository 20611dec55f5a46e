"""The part of a rank, read from a partitioned file."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.distributed.ownership import Ownership
from tgraph.distributed.part import Part, part_of
from tgraph.files import PathLike
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.memory import page_aligned


def read_part(path: PathLike, section: str, ownership: Ownership) -> Part:
    """The rows of this rank, from the blocks of a section that hold them."""
    first, end = ownership.first, ownership.end
    degree = torch.zeros(end - first, dtype=torch.int64)
    neighbors: list[Tensor] = []
    weights: list[Tensor] = []
    with BlockFile(path) as file:
        section = section if file.directed else "rows"
        held = [
            number
            for number in file.blocks(section)
            if file.index[number].first_row < end and file.index[number].end_row > first
        ]
        memory = page_aligned(max((file.index[number].nbytes for number in held), default=0))
        for number in held:
            block = file.read(number, memory)
            low, high = max(block.first_row, first), min(block.end_row, end)
            offset = block.offset[low - block.first_row : high - block.first_row + 1]
            degree[low - first : high - first] += offset.diff()
            arcs = slice(int(offset[0]), int(offset[-1]))
            neighbors.append(block.neighbors[arcs].clone())
            if block.weights is not None:
                weights.append(block.weights[arcs].clone())
        empty = torch.empty(0, dtype=file.neighbor_dtype)
        offset = torch.nn.functional.pad(degree.cumsum(0), (1, 0))
        arc_weights = None
        if file.weight_dtype is not None:
            arc_weights = torch.cat([torch.empty(0, dtype=file.weight_dtype), *weights])
        return part_of(ownership, offset, torch.cat([empty, *neighbors]), arc_weights, file.directed)
