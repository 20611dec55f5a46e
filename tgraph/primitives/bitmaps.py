"""Sets of vertices as bitmaps, whose bytes travel between processes as they are, and steps of a search between them.

A bitmap is a tensor uint8 [8 w], the bits of a byte lowest first, so that 64 vertices are a word of a little-endian
machine. What follows the last vertex is zero.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.operators.relaxation.bitmaps import choose_bits as choose
from tgraph.kernels.operators.relaxation.bitmaps import fill_bits as fill
from tgraph.kernels.operators.relaxation.bitmaps import list_bits as members
from tgraph.kernels.operators.relaxation.bitmaps import measure_bits as measure
from tgraph.kernels.operators.relaxation.bitmaps import move_bits as move
from tgraph.kernels.operators.relaxation.bitmaps import pack, unpack
from tgraph.kernels.operators.relaxation.bitmaps import pull_bits as pull
from tgraph.kernels.operators.relaxation.bitmaps import push_bits as push
from tgraph.kernels.operators.relaxation.bitmaps import spread_bits as spread

__all__ = [
    "choose",
    "empty",
    "fill",
    "measure",
    "members",
    "move",
    "of_ids",
    "pack",
    "pull",
    "push",
    "spread",
    "unpack",
]


def empty(size: int, device: torch.device | str = "cpu") -> Tensor:
    """The bitmap of no vertex, of `size`, on a device."""
    return torch.zeros(8 * -(-size // 64), dtype=torch.uint8, device=device)


def of_ids(ids: Tensor, size: int) -> Tensor:
    """The bitmap of some vertices, int64 [k], of `size`."""
    mask = torch.zeros(size, dtype=torch.bool, device=ids.device)
    mask[ids] = True
    return pack(mask)
