"""Short pieces of a file by the kernel in `read_pieces.cpp`."""

from __future__ import annotations

import os
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_data


def read_pieces(file: int, begin: Tensor, size: int, align: int, *, with_ring: bool = True) -> Tensor:
    """As the portable one, `tgraph.kernels.operators.pieces.read_pieces`, as many reads at a time as the device serves.

    with_ring : whether by io_uring, where the system has it; else by threads.
    """
    found = torch.empty((len(begin), size), dtype=torch.uint8)
    if found.numel():
        kernel = cast(Any, native.load()).read_pieces
        if error := kernel(file, begin.contiguous(), size, align, with_ring, found.view(-1)):
            raise OSError(error, os.strerror(error))
    return found


OPERATORS = {
    "read_pieces": Implementation(read_pieces, lambda file, begin, *others: refuses_data(begin)),
}
