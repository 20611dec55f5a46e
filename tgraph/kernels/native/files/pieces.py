"""Short pieces of a file by the kernel in `read_pieces.cpp`."""

from __future__ import annotations

import os

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.operators import pieces as declared


def _refuses(file: int, begin: Tensor, *others: object, **named: object) -> str | None:
    return refuses_data(begin)


@implements(declared.read_pieces, _refuses)
def read_pieces(file: int, begin: Tensor, size: int, align: int, *, with_ring: bool = True) -> Tensor:
    """As the portable one, `tgraph.kernels.operators.pieces.read_pieces`, as many reads at a time as the device serves.

    with_ring : whether by io_uring, where the system has it; else by threads.
    """
    found = torch.empty((len(begin), size), dtype=torch.uint8, device="cpu")
    if found.numel():
        kernel = compiled().read_pieces
        if error := kernel(file, begin, size, align, with_ring, found.view(-1)):
            raise OSError(error, os.strerror(error))
    return found
