"""Short pieces of a file, one read after the other."""

from __future__ import annotations

import errno
import mmap
import os

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.files.positioned import read_at


@operator
def read_pieces(file: int, begin: Tensor, size: int, align: int) -> Tensor:
    """`size` bytes from each of the positions `begin` [k] of a file: uint8 [k, size].

    file : a descriptor, which may be opened with O_DIRECT. align : of the reads and of the memory that they write to,
    in bytes, which then has to be that of the device.
    Raises OSError for what the system refuses, ENODATA where the file ends before.
    """
    found = torch.empty((len(begin), size), dtype=torch.uint8)
    if not found.numel():
        return found
    with mmap.mmap(-1, (size // align + 2) * align) as memory, memoryview(memory) as view:
        for row, position in zip(found, begin.tolist(), strict=True):
            first = position // align * align
            length = -(-(position + size) // align) * align - first
            with view[:length] as part:
                done = read_at(file, part, first)
            if done < position + size - first:
                raise OSError(errno.ENODATA, os.strerror(errno.ENODATA))
            row.numpy()[:] = view[position - first : position - first + size]
    return found
