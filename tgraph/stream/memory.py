"""Memory amounts such as "500MB", page-aligned buffers, and hints to the system about memory."""

from __future__ import annotations

import ctypes
import mmap
import re
import sys
from collections.abc import Iterable
from contextlib import suppress

import torch
from torch import Tensor

from tgraph.errors import ArgumentError

PAGE = 4096
HUGE_PAGE = 1 << 21
_PAGEOUT = 21  # of madvise; Python has no name for it
_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


def parse_memory(memory: str | int, name: str = "memory") -> int:
    """The bytes of an amount such as "500MB" or "1.5GiB" (kB, MB, GB, TB by thousands, KiB and so on by 1024), or of an
    int. `name` is the argument that error messages name.

    Raises ArgumentError for anything else, and for less than one byte.
    """
    if isinstance(memory, str):
        found = _AMOUNT.fullmatch(memory)
        if found is None or (found[3] and not found[2]):
            raise ArgumentError(f'{name}: {memory!r} is no amount of memory; write "500MB", "4GiB" or bytes as an int')
        unit = _UNITS[found[2].lower()] if not found[3] else 1024 ** ("kmgt".index(found[2].lower()) + 1)
        nbytes = int(float(found[1]) * unit)
    elif isinstance(memory, int) and not isinstance(memory, bool):
        nbytes = memory
    else:
        raise ArgumentError(f'{name}: expected an amount such as "500MB", or bytes as an int, got {memory!r}')
    if nbytes < 1:
        raise ArgumentError(f"{name}: {memory!r} is no room at all; give the bytes that may be used")
    return nbytes


def aligned(nbytes: int, step: int = PAGE) -> int:
    """The least multiple of `step` that is not below `nbytes`."""
    return -(-nbytes // step) * step


def page_aligned(nbytes: int) -> Tensor:
    """An uninitialised buffer, uint8 [nbytes], that begins at a page, as direct reads require. A large one begins at a
    huge page where the system has these, which makes direct reads faster. It is a mapping of its own, unmapped with its
    last view.
    """
    step = HUGE_PAGE if nbytes >= HUGE_PAGE else PAGE
    mapping = _mapped(nbytes + step)
    buffer = torch.frombuffer(mapping, dtype=torch.uint8)
    skip = -buffer.data_ptr() % step
    if nbytes >= HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # kernels may be built without
            mapping.madvise(mmap.MADV_HUGEPAGE, skip, nbytes // HUGE_PAGE * HUGE_PAGE)
    return buffer[skip : skip + nbytes]


def _mapped(nbytes: int) -> mmap.mmap:
    """An anonymous private mapping, committed page by page at the first write."""
    if not hasattr(mmap, "MAP_PRIVATE"):  # Windows
        return mmap.mmap(-1, nbytes)
    return mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def let_go(tensors: Iterable[Tensor]) -> None:
    """Drop the pages of memory maps of files from memory, where the system can (Linux 5.4), so that data that is read
    once evicts nothing. The contents stay."""
    if not sys.platform.startswith("linux"):
        return
    for tensor in tensors:
        begin = tensor.data_ptr() // mmap.PAGESIZE * mmap.PAGESIZE
        size = tensor.data_ptr() + tensor.nbytes - begin
        if tensor.nbytes:
            ctypes.CDLL(None).madvise(ctypes.c_void_p(begin), ctypes.c_size_t(size), _PAGEOUT)


def trim_heap() -> None:
    """Return freed memory from the allocator to the system, where it can (glibc); otherwise it counts as used."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
