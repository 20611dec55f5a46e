"""Streaming writes of a file of one tensor with checksums, as in `checksummed`, without the tensor in memory."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import xxhash
from torch import Tensor

from tgraph.files import PathLike, Pause
from tgraph.files.atomic_write import whole_file
from tgraph.files.checksummed import DTYPE_NAMES, PIECE, Contents, as_bytes, seal
from tgraph.files.past_cache import PastCache


@contextmanager
def writing(
    path: PathLike, name: str, dtype: torch.dtype, most: int, notes: dict[str, str], pause: Pause | None = None
) -> Iterator[Callable[[Tensor], None]]:
    """A function that appends [k] numbers to the tensor `name` of a new file, atomic and synced at the end.

    most : the largest number of elements. notes : text metadata. pause : called after each MiB.
    Raises OSError, with the bytes needed, where the disk is full.
    """
    sums: list[str] = []
    head = len(_header(name, dtype, most, ["0" * 16] * -(-most * dtype.itemsize // PIECE), notes))
    digest, count = xxhash.xxh3_64(), 0
    with whole_file(path, head + most * dtype.itemsize) as file:
        with PastCache(file, head, pause) as written:

            def append(tensor: Tensor) -> None:
                nonlocal digest, count
                data, begin = as_bytes(tensor.contiguous()), count * dtype.itemsize
                written.write(data)
                for first, last in _pieces(begin, begin + len(data)):
                    digest.update(data[first - begin : last - begin])
                    if last % PIECE == 0:
                        sums.append(digest.hexdigest())
                        digest = xxhash.xxh3_64()
                count += len(tensor)

            yield append
        if count * dtype.itemsize % PIECE:
            sums.append(digest.hexdigest())
        file.truncate(head + count * dtype.itemsize)
        file.seek(0)
        file.write(_header(name, dtype, count, sums, notes, head))


def _pieces(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of a range of bytes, split at the bounds of pieces."""
    while begin < end:
        last = min((begin // PIECE + 1) * PIECE, end)
        yield begin, last
        begin = last


def _header(name: str, dtype: torch.dtype, count: int, sums: list[str], notes: dict[str, str], size: int = 0) -> bytes:
    header: dict[str, Any] = {
        "__metadata__": notes | {"piece": str(PIECE), "sums": json.dumps({name: "".join(sums)})},
        name: {"dtype": DTYPE_NAMES[dtype], "shape": [count], "data_offsets": [0, count * dtype.itemsize]},
    }
    return seal(header, size)


def mapped(contents: Contents, name: str) -> Tensor:
    """A tensor of a file on a private memory map, readable even after the file is removed or replaced, not verified.
    Unlike mmap.mmap, it holds no descriptor. Raises OSError where it cannot be mapped."""
    entry = contents.entries[name]
    count = entry["data_offsets"][1] - entry["data_offsets"][0]
    if not count:
        return torch.empty(entry["shape"], dtype=contents.dtype(name))
    begin = contents.position(name)
    try:
        data = torch.from_file(os.fspath(contents.path), shared=False, size=begin + count, dtype=torch.uint8)
    except RuntimeError as fault:
        number = re.search(r"\((\d+)\)", str(fault).rpartition(":")[2])
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), os.fspath(contents.path)) from fault
    return data[begin:].view(contents.dtype(name)).view(entry["shape"])
