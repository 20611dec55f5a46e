"""Sets of vertices as bitmaps, whose bytes travel between processes as they are, and steps of a search between them.

A bitmap is a tensor uint8 [8 w], the bits of a byte lowest first, so that 64 vertices are a word of a little-endian
machine. What follows the last vertex is zero.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import Operator
from tgraph.kernels.operators.relaxation import bitmaps

pack, unpack = bitmaps.pack, bitmaps.unpack

pull = Operator("pull_bits", bitmaps.pull, is_noted=False)
push = Operator("push_bits", bitmaps.push, is_noted=False)
choose = Operator("choose_bits", bitmaps.choose, is_noted=False)
spread = Operator("spread_bits", bitmaps.spread, is_noted=False)
move = Operator("move_bits", bitmaps.move, is_noted=False)
measure = Operator("measure_bits", bitmaps.measure, is_noted=False)
fill = Operator("fill_bits", bitmaps.fill, is_noted=False)
members = Operator("list_bits", bitmaps.members, is_noted=False)


def empty(size: int, device: torch.device | str = "cpu") -> Tensor:
    """The bitmap of no vertex, of `size`, on a device."""
    return torch.zeros(8 * -(-size // 64), dtype=torch.uint8, device=device)


def of_ids(ids: Tensor, size: int) -> Tensor:
    """The bitmap of some vertices, int64 [k], of `size`."""
    mask = torch.zeros(size, dtype=torch.bool, device=ids.device)
    mask[ids] = True
    return pack(mask)
