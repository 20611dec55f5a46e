"""Large tensors in huge pages. Where pages are small, rows gathered from all over a tensor miss the processor's table
of recent pages, and the first touch of a fresh tensor traps for every 4 KiB: both take as long as the work itself."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from tgraph.core.system import native

LARGE = 1 << 22  # bytes; a processor remembers where about twice as much lies in small pages
MAPPED = 1 << 20  # bytes; the system then takes less time for a mapping than its pages do
WORTH = 12  # a tensor is read so many times where its pages are worth moving, at once: they are copied

_SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def fresh(shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """An uninitialised tensor [shape] of the CPU, in huge pages where it is large and the system has them."""
    tensor = torch.empty(shape, dtype=dtype, device="cpu")
    if tensor.nbytes >= LARGE and (kernels := native.load()):
        kernels.advise_huge_pages(tensor.view(-1).view(torch.uint8))
    return tensor


def mapped(shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """As `fresh`, of which large memory is a mapping of its own, freed without the lock of the interpreter: the system
    has it back at once, where an allocator keeps it until it trims its heap, for which all threads that allocate wait.
    """
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes < MAPPED or (kernels := native.load()) is None:
        return fresh(shape, dtype)
    return torch.from_numpy(kernels.map_memory(nbytes)).view(dtype).view(shape)


class Room:
    """Memory for at most `size` numbers, of which those that turn out to be needed become a tensor, uncopied: the rest
    goes back to the system, which has never had to provide it."""

    def __init__(self, size: int, dtype: torch.dtype):
        self._held = np.empty(size, dtype=torch.empty(0, dtype=dtype, device="cpu").numpy().dtype)
        self.tensor: Tensor = torch.from_numpy(self._held)
        if self.tensor.nbytes >= LARGE and (kernels := native.load()):
            kernels.advise_huge_pages(self.tensor.view(torch.uint8))

    def cut(self, size: int) -> Tensor:
        """The first `size` of them; the room is gone."""
        del self.tensor
        self._held.resize(size, refcheck=False)
        return torch.from_numpy(self._held)


def settle(data: Tensor, rows_read: int) -> None:
    """Move large data [n, ...], of which `rows_read` rows are going to be gathered, into huge pages where that pays.

    Neither the data nor its address changes. Memory that is mapped from a file stays as it is.
    """
    if data.nbytes < LARGE or rows_read < WORTH * len(data) or not data.is_contiguous() or not _are_allowed():
        return
    if kernels := native.load():
        kernels.collapse_pages(data.detach().view(-1).view(torch.uint8))


@functools.cache
def _are_allowed() -> bool:
    """False where the system does not offer huge pages, or is configured never to use them."""
    try:
        return "[never]" not in _SETTING.read_text()
    except OSError:
        return False
