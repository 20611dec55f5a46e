"""The partitioned .tg file format: blocks of arcs at page boundaries, their index, resident tensors, and checksums.

It is a safetensors file, so any reader of that format can map it. The header fills the first page. It is followed by

    blocks    uint8, the blocks one after the other, each a whole number of pages
    index     int64 [blocks, 8], an `Extent` for each
    rows.offset, transpose.offset    int64 [n + 1], where the arcs of each vertex begin in that section
    order, vertices, vertex_text, vertex_text_offset    as in any other .tg file
    shapes    int64 [blocks, 12], where blocks are compressed: see `folding.shape_of`
    columns of arcs and vertices, in files of version 5: see `tgraph.io.named_data`

A block is a run of consecutive arcs of the CSR of its section, which may begin and end within a row: its local offsets
int64 [rows + 1] from 0, its neighbours, and its weights, each at a multiple of 64 bytes. "rows" holds the out-arcs;
a directed graph also has the section "transpose", of in-arcs.

Where the metadata contain layout="virtual", each block is compressed (`folding.Folded`): the offsets of its virtual
rows and its rows, int32 [R + rows + 1] (int64 from 2**31 entries on), then the entries, of the dtype of the neighbours.
There are no weights.

Every byte is covered by a checksum (XXH3, 64 bits): those of the blocks are in the index, those of the other tensors
and of the header itself in the metadata.
"""

from __future__ import annotations

import mmap
import struct
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.checksummed import as_bytes as as_bytes  # re-exported
from tgraph.files.checksummed import checksum as checksum
from tgraph.files.checksummed import seal, unseal
from tgraph.files.checksummed import signed as signed
from tgraph.files.positioned import read_at
from tgraph.io import tg
from tgraph.stream.memory import PAGE, aligned

# Format versions without and with compressed blocks; readers of older versions report a newer one as such.
VERSION, COMPRESSED_VERSION = 3, 4
SECTIONS = ("rows", "transpose")
DTYPES = {
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "BOOL": torch.bool,
}  # fmt: skip
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
REMEDY = "the file is truncated or damaged: fetch it again, or write it again with tgraph.stream.write_partitioned"
_ALIGNMENT = 64


class Extent(NamedTuple):
    """The index entry of a block. section : a position in SECTIONS, whose rows and arcs are counted. position : the
    byte in the file where the block begins. nbytes : its size in whole pages."""

    section: int
    first_row: int
    end_row: int
    first_arc: int
    end_arc: int
    position: int
    nbytes: int
    checksum: int


class Places(NamedTuple):
    """Positions in a block, in bytes: of the first neighbour (or entry), of the first weight, and of its end."""

    neighbors: int
    weights: int
    nbytes: int


def places(
    rows: int,
    arcs: int,
    neighbor_dtype: torch.dtype,
    weight_dtype: torch.dtype | None,
    offset_dtype: torch.dtype = torch.int64,
) -> Places:
    """The positions of the parts of a block of `rows` rows and `arcs` arcs; its offsets come first."""
    neighbors = aligned(offset_dtype.itemsize * (rows + 1), _ALIGNMENT)
    weights = aligned(neighbors + arcs * neighbor_dtype.itemsize, _ALIGNMENT)
    return Places(neighbors, weights, aligned(weights + (0 if weight_dtype is None else arcs * weight_dtype.itemsize)))


def pack_header(tensors: dict[str, tuple[torch.dtype, list[int]]], notes: dict[str, str]) -> bytes:
    """The header page for tensors that follow it without gaps."""
    header: dict[str, Any] = {"__metadata__": notes}
    end = 0
    for name, (dtype, shape) in tensors.items():
        begin, end = end, end + torch.Size(shape).numel() * dtype.itemsize
        header[name] = {"dtype": DTYPE_NAMES[dtype], "shape": shape, "data_offsets": [begin, end]}
    page = seal(header)
    if len(page) != PAGE:
        raise ArgumentError(f"graph: its columns need a header of {len(page)} bytes, {PAGE} are there; write fewer")
    return page


def unpack_header(path: PathLike, page: bytes, size: int) -> dict[str, Any]:
    """The header in the first page of a file of `size` bytes. Raises FileFormatError where it is damaged, or the file
    is truncated or not partitioned."""
    length = struct.unpack("<Q", page[:8])[0] if len(page) >= 8 else 0
    if b'"blocks"' not in page and 0 < length < size and page[8:9] == b"{":
        remedy = "open it with tgraph.read, and partition it with tgraph.stream.write_partitioned"
        raise FileFormatError(path, "the file is not partitioned into blocks", remedy)
    try:
        if len(page) != PAGE or length != PAGE - 8:
            raise ValueError("its length is wrong")
        header = unseal(page)
    except ValueError as fault:
        raise FileFormatError(path, f"the header is damaged ({fault})", REMEDY) from fault
    version = int(header["__metadata__"]["version"])
    if version > tg.COLUMNS:
        raise FileFormatError(path, f"format version {version} is newer than {tg.COLUMNS}", "upgrade tgraph")
    whole = PAGE + max(entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__")
    if size != whole:
        raise FileFormatError(path, f"the file has {size} bytes where its header announces {whole}", REMEDY)
    return header


def mapped(file: int, position: int, nbytes: int) -> Tensor:
    """Bytes of an open file, uint8 [nbytes], that are read where they are used; the system has their memory back when
    it is short of it. What is written into them stays in memory. Raises ValueError where the file ends before."""
    low = position - position % mmap.ALLOCATIONGRANULARITY
    held = mmap.mmap(file, position - low + nbytes, access=mmap.ACCESS_COPY, offset=low)
    return torch.frombuffer(held, dtype=torch.uint8, offset=position - low, count=nbytes)


def read_fully(file: int, target: memoryview, position: int) -> int:
    """Fill `target` from byte `position` of an open file on. Returns the bytes read, fewer only where the file ends."""
    done = 0
    while True:
        reached = done + read_at(file, target[done:], position + done)
        again = reached - reached % PAGE  # direct reads resume at a page
        if reached == len(target) or again <= done:
            return reached
        done = again
