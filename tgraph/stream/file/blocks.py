"""Reading a partitioned .tg file: one sequential, page-aligned read per block, verified before it is used."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import torch
import xxhash
from torch import Tensor

from tgraph.core.building import sorting, soundness
from tgraph.core.derived import computed_once
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.positioned import open_to_read, read_at
from tgraph.io import labels, named_data, tg
from tgraph.stream.file.block import Block, CompressedBlock, damaged
from tgraph.stream.file.container import (
    DTYPES,
    REMEDY,
    SECTIONS,
    Extent,
    Places,
    as_bytes,
    checksum,
    mapped,
    places,
    read_fully,
    signed,
    unpack_header,
)
from tgraph.stream.file.folding import Folded, folded_error
from tgraph.stream.file.weights import read_note
from tgraph.stream.memory import PAGE, page_aligned

__all__ = ["Block", "BlockFile", "CompressedBlock"]
MAPPED = 1 << 20  # bytes of a column, from which on it is mapped


class BlockFile:
    """An open partitioned .tg file: its header and index, and its blocks on request.

    Parameters
    ----------
    path : the file.
    direct : True bypasses the page cache (O_DIRECT), False reads through it and drops pages once they are read. None
        bypasses it where the file system supports that, which is determined by trying.

    Close it, or use it in `with`. Blocks are numbered 0..num_blocks-1 over all sections. `read` may be called from
    several threads at once.
    Raises FileFormatError for a file that is damaged, truncated or not partitioned, OSError where it cannot be opened.
    """

    layout: str | None = None  # how the blocks are compressed
    pushes: bool = False  # in-arcs are reduced by pushes along ascending rows (`send_rows`)

    def __init__(self, path: PathLike, *, direct: bool | None = None):
        self.path: str = os.fspath(path)
        self._resident: dict[str, Tensor] = {}
        self._checked_blocks: set[int] = set()
        self._file = open_to_read(self.path)
        self._direct_file = -1
        try:
            head = bytearray(PAGE)
            filled = read_fully(self._file, memoryview(head), 0)
            header = unpack_header(self.path, bytes(head[:filled]), os.fstat(self._file).st_size)
            self._notes: dict[str, str] = header.pop("__metadata__")
            self._tensors: dict[str, Any] = header
            self._sums: dict[str, int] = json.loads(self._notes["sums"])
            self.num_vertices: int = int(self._notes["num_vertices"])
            self.num_arcs: int = int(self._notes["num_arcs"])
            self.directed: bool = self._notes["directed"] == "true"
            self.neighbor_dtype: torch.dtype = DTYPES[self._notes["neighbor_dtype"]]
            self.weight_dtype: torch.dtype | None = DTYPES.get(self._notes["weight_dtype"])
            self.index: list[Extent] = [Extent(*entry) for entry in self._tensor("index").tolist()]
            self.layout = self._notes.get("layout")
            self._shapes = self._tensor("shapes").tolist() if self.layout is not None else []
            self._direct_file = open_direct(self.path) if direct is not False else -1
            self.direct: bool = self._direct_file >= 0
            if direct and not self.direct:
                raise ArgumentError(f"direct: the file system of {self.path} allows no direct reads; leave it None")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> BlockFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; blocks that were read stay valid."""
        for file in (self._file, self._direct_file):
            if file >= 0:
                os.close(file)
        self._file = self._direct_file = -1

    # ---- resident tensors ------------------------------------------------------------------------------------------

    @property
    def num_blocks(self) -> int:
        """The number of blocks of all sections."""
        return len(self.index)

    @property
    def sections(self) -> tuple[str, ...]:
        """("rows",), or ("rows", "transpose") for a directed graph."""
        return SECTIONS if self.directed else SECTIONS[:1]

    def blocks(self, section: str = "rows") -> range:
        """The numbers of the blocks of a section, in the order of their arcs."""
        numbers = [number for number, extent in enumerate(self.index) if extent.section == self._section(section)]
        return range(numbers[0], numbers[-1] + 1)

    def makes_blocks(self, section: str) -> bool:
        """Whether `blocks(section)` has to construct the section first; never in a partitioned file."""
        return False

    def bounds(self, section: str = "rows") -> Tensor:
        """The arc where each block of a section begins, and the number of arcs: int64 [blocks + 1]."""
        firsts = [self.index[number].first_arc for number in self.blocks(section)]
        return torch.tensor([*firsts, self.num_arcs], dtype=torch.int64, device="cpu")

    def offset(self, section: str = "rows") -> Tensor:
        """Offsets of the rows of the section, int64 [n + 1], whose differences are the degrees; cached."""
        return self._cached_tensor(f"{SECTIONS[self._section(section)]}.offset")

    @property
    def weight_statistics(self) -> tuple[float, float, float] | None:
        """(smallest, largest, mean) weight, the first two NaN where any weight is; None without weights, or in files of
        earlier versions."""
        return read_note(self._notes.get("weights"))

    @property
    def order(self) -> Tensor | None:
        """int64 [n], the vertex of the original graph that each vertex is; None for the identity."""
        return self._cached_tensor("order") if self.has_order else None

    @property
    def vertices(self) -> Any:
        """Original ids: int64 [n], an object array of labels [n], or None."""
        if "vertex_text" not in self._tensors:
            return self._cached_tensor("vertices") if "vertices" in self._tensors else None
        text, offset = self._tensor("vertex_text"), self._tensor("vertex_text_offset")
        return labels.unpack(text.numpy(), offset.numpy())

    @property
    def has_order(self) -> bool:
        """Whether there is an `order`."""
        return "order" in self._tensors

    @property
    def has_vertices(self) -> bool:
        """Whether there are original ids."""
        return "vertices" in self._tensors or "vertex_text" in self._tensors

    @property
    def checksums(self) -> dict[str, int]:
        """Checksums of the resident tensors, by name."""
        return dict(self._sums)

    def identity(self) -> list[Tensor]:
        """Tensors that differ if the arcs of two files do: the index, with the checksums of the blocks, and offsets."""
        return [torch.tensor(self.index, dtype=torch.int64, device="cpu"), self.offset()]

    def _section(self, name: str) -> int:
        if name not in self.sections:
            has = " and ".join(map(repr, self.sections))
            raise ArgumentError(f"section: {name!r} is none of {self.path}, which has {has}")
        return SECTIONS.index(name)

    def _cached_tensor(self, name: str) -> Tensor:
        if name not in self._resident:
            self._resident[name] = self._tensor(name)
        return self._resident[name]

    def _tensor(self, name: str) -> Tensor:
        """A resident tensor, verified; read through the page cache, as it need not begin at a page."""
        entry = self._tensors[name]
        tensor = torch.empty(entry["shape"], dtype=DTYPES[entry["dtype"]], device="cpu")
        position, data = PAGE + entry["data_offsets"][0], as_bytes(tensor.view(-1))
        if read_fully(self._file, data, position) < len(data):
            raise FileFormatError(self.path, f"the file ends within the tensor {name!r}", REMEDY)
        if checksum(data) != self._sums[name]:
            raise FileFormatError(self.path, f"the checksum of the tensor {name!r} differs", REMEDY)
        drop_pages(self._file, position, len(data))
        return tensor

    def _position(self, name: str) -> int:
        """Where a tensor begins in the file, in bytes."""
        return PAGE + int(self._tensors[name]["data_offsets"][0])

    def _column(self, name: str) -> Tensor:
        """A tensor, verified in pieces and mapped: what is used of a column counts as pages of the file, which the
        system takes back, and not as memory of the process. Small ones are read."""
        entry = self._tensors[name]
        begin, end = entry["data_offsets"]
        if end - begin < MAPPED:
            return self._tensor(name)
        self._check_pieces(name, end - begin)
        return mapped(self._file, self._position(name), end - begin).view(DTYPES[entry["dtype"]]).view(entry["shape"])

    def _check_pieces(self, name: str, nbytes: int) -> None:
        """Raise FileFormatError for a tensor that is truncated or damaged."""
        sums = xxhash.xxh3_64()
        for _, data in self._pieces(name, nbytes):
            sums.update(data)
        if signed(sums.intdigest()) != self._sums[name]:
            raise FileFormatError(self.path, f"the checksum of the tensor {name!r} differs", REMEDY)

    def _pieces(self, name: str, nbytes: int, size: int = MAPPED) -> Iterator[tuple[int, memoryview]]:
        """The first byte and the bytes of each piece of a tensor, read into the same memory."""
        memory, position = as_bytes(torch.empty(size, dtype=torch.uint8, device="cpu")), self._position(name)
        for begin in range(0, nbytes, size):
            data = memory[: min(size, nbytes - begin)]
            if read_fully(self._file, data, position + begin) < len(data):
                raise FileFormatError(self.path, f"the file ends within the tensor {name!r}", REMEDY)
            drop_pages(self._file, position + begin, len(data))
            yield begin, data

    # ---- blocks ----------------------------------------------------------------------------------------------------

    def places(self, block: int) -> Places:
        """The positions of the parts of a block in its bytes."""
        rows, entries, offset_dtype = self._stored(block)
        return places(rows, entries, self.neighbor_dtype, self.weight_dtype, offset_dtype)

    def _stored(self, block: int) -> tuple[int, int, torch.dtype]:
        """(number of stored rows, virtual ones included; number of their entries; dtype of their offsets)"""
        extent = self.index[block]
        rows, arcs = extent.end_row - extent.first_row, extent.end_arc - extent.first_arc
        if self.layout is None:
            return rows, arcs, torch.int64
        entries, *levels = self._shapes[block]
        return rows + levels[-1], entries, sorting.index_dtype(entries)

    def read(self, block: int, memory: Tensor) -> Block:
        """Read a block by one sequential read into `memory`, verify it, and return views of it.

        `memory` is a buffer, uint8 [at least `index[block].nbytes`], that begins at a page (see `page_aligned`); it
        must not change while the block is in use. Holds the GIL for a few microseconds only.
        Raises FileFormatError, naming file, section and block, for one that is damaged or truncated; ArgumentError
        for an invalid block number or buffer; OSError where the disk fails.
        """
        self.fetch(block, memory)
        self.verify(block, memory)
        return self.views(block, memory)

    def fetch(self, block: int, memory: Tensor) -> None:
        """The first half of `read`: the bytes, not yet verified."""
        if not 0 <= block < self.num_blocks:
            raise ArgumentError(f"block: {block} is none of the {self.num_blocks} blocks of {self.path}")
        extent = self.index[block]
        _check_memory(memory, extent.nbytes)
        target = as_bytes(memory[: extent.nbytes])
        filled = self._read_range(target, extent.position)
        if filled < extent.nbytes:
            raise self._damaged(block, f"is truncated: {filled} of its {extent.nbytes} bytes are there")

    def verify(self, block: int, memory: Tensor) -> None:
        """The second half of `read`, without I/O: verify the checksum of the block, and that its entries are valid."""
        extent = self.index[block]
        if checksum(as_bytes(memory[: extent.nbytes])) != extent.checksum:
            raise self._damaged(block, "is damaged: its checksum differs from that in the index")
        self._check_entries(block, memory)

    def _check_entries(self, block: int, memory: Tensor) -> None:
        """Validate the entries of a block whose checksum is verified; once for each block."""
        extent = self.index[block]
        if block in self._checked_blocks:  # the same bytes were validated before
            return
        why: str | None
        if not 0 <= extent.first_row <= extent.end_row <= self.num_vertices:
            why = f"has the rows {extent.first_row} to {extent.end_row - 1} of {self.num_vertices} vertices"
        elif self.layout is not None:
            why = folded_error(self._folded(block, memory), self.num_vertices)
        else:
            why = _entries_error(*self._rows_in(block, memory), self.num_vertices)
        if why:
            raise self._damaged(block, why)
        self._checked_blocks.add(block)

    def check_all(self) -> None:
        """Read and verify everything. Raises FileFormatError, naming tensor or block, where it is damaged."""
        for name in self._tensors:
            if name != "blocks":
                self._tensor(name)
        memory = page_aligned(max((extent.nbytes for extent in self.index), default=0))
        for block in range(self.num_blocks):
            self.read(block, memory)

    def views(self, block: int, memory: Tensor) -> Block:
        """The block at the beginning of `memory`, from an earlier `read` or a copy, on any device; nothing is
        verified."""
        extent = self.index[block]
        if self.layout is not None:
            return CompressedBlock(block, extent, self._folded(block, memory), self.num_vertices, self.path)
        offset, neighbors = self._rows_in(block, memory)
        weights = None
        if self.weight_dtype is not None:
            first, arcs = self.places(block).weights, len(neighbors)
            weights = memory[first : first + arcs * self.weight_dtype.itemsize].view(self.weight_dtype)
        return Block(block, extent.first_row, extent.end_row, extent.first_arc, offset, neighbors, weights)

    def _rows_in(self, block: int, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(offset, neighbors or entries) as stored."""
        (rows, entries, dtype), first = self._stored(block), self.places(block).neighbors
        offset = memory[: dtype.itemsize * (rows + 1)].view(dtype)
        return offset, memory[first : first + entries * self.neighbor_dtype.itemsize].view(self.neighbor_dtype)

    def _folded(self, block: int, memory: Tensor) -> Folded:
        return Folded(*self._rows_in(block, memory), tuple(self._shapes[block][1:]))

    @computed_once
    def working_bytes(self) -> int:
        """The largest workspace of a compressed block, in bytes: its decoded rows, or one column of vertex data with
        the virtual rows; 0 where blocks are not compressed."""
        if self.layout is None:
            return 0
        most, column = 0, 8 * (self.num_vertices + self.virtual_rows)
        for block, extent in enumerate(self.index):
            rows, arcs = extent.end_row - extent.first_row, extent.end_arc - extent.first_arc
            decoded = 8 * (rows + 1) + arcs * self.neighbor_dtype.itemsize
            offset = 8 * (self._stored(block)[0] + 1)  # in int64
            most = max(most, offset + max(decoded, column))
        return most

    @computed_once
    def virtual_rows(self) -> int:
        """The largest number of virtual rows of a block; 0 where blocks are not compressed."""
        return 0 if self.layout is None else max((shape[-1] for shape in self._shapes), default=0)

    def with_virtual_rows(self, data: Tensor) -> Tensor:
        """Vertex data [n, F] for `Block.reduce`: where blocks are compressed, a copy with rows for `virtual_rows`
        appended, and 16-bit floats as float32, so that partial sums are not rounded."""
        if self.layout is None:
            return data
        dtype = torch.float32 if data.dtype in (torch.float16, torch.bfloat16) else data.dtype
        extended = data.new_empty((len(data) + self.virtual_rows, *data.shape[1:]), dtype=dtype)
        extended[: len(data)] = data
        return extended

    def _read_range(self, target: memoryview, position: int) -> int:
        try:
            if self.direct:
                return read_fully(self._direct_file, target, position)
            filled = read_fully(self._file, target, position)
        except OSError as fault:
            raise OSError(fault.errno, fault.strerror, self.path) from fault
        drop_pages(self._file, position, len(target))
        return filled

    def _damaged(self, block: int, what: str) -> FileFormatError:
        return damaged(self.path, block, self.index[block], what)

    def graph(self, *, weights: bool = True) -> Graph:
        """The whole graph in memory, from the blocks of section "rows"; without weights if `weights=False`."""
        blocks = self.blocks()
        memory = page_aligned(max(self.index[block].nbytes for block in blocks))
        neighbors, values = empty_arcs(self, self.num_arcs, torch.device("cpu"), weights)
        for number in blocks:
            self.read(number, memory).copy_to(neighbors, values)
        graph = Graph(self.offset(), neighbors, values, self.vertices, self.directed).with_order(self.order)
        named_data.attached(graph, self._tensors, self._tensor, self.path)
        _ = [list(each.values()) for each in (graph.arc_columns, graph.vertex_columns)]  # read while the file is open
        return graph

    def with_columns(self, graph: Graph) -> Graph:
        """The graph of this file, just opened, with its columns, which are mapped when they are first used, by opening
        the file again once it is closed."""

        def load(name: str, open_while: Any = graph.layout) -> Tensor:
            if self._file >= 0:
                return self._column(name)
            with BlockFile(self.path) as file:
                return file._column(name)

        return named_data.attached(graph, self._tensors, load, self.path)


def _entries_error(offset: Tensor, neighbors: Tensor, num_vertices: int) -> str | None:
    """The fault in the rows of a block in CPU memory, which kernels would follow out of bounds, and which a checksum
    does not detect where it was there before; None for a valid block. One pass over the entries, without the GIL."""
    try:
        if not soundness.is_sound(offset, neighbors, num_vertices):
            soundness.check(offset, neighbors, num_vertices)
    except ArgumentError as found:
        return f"has entries that no graph has: {found}"
    return None


def empty_arcs(
    file: BlockFile, num_arcs: int, device: torch.device, weighted: bool = True
) -> tuple[Tensor, Tensor | None]:
    """Room for neighbors and, where there are any and they are wanted, weights of so many arcs of a file."""
    neighbors = torch.empty(num_arcs, dtype=file.neighbor_dtype, device=device)
    if file.weight_dtype is None or not weighted:
        return neighbors, None
    return neighbors, torch.empty(num_arcs, dtype=file.weight_dtype, device=device)


def _check_memory(memory: Tensor, nbytes: int) -> None:
    if memory.dtype != torch.uint8 or memory.dim() != 1 or memory.device.type != "cpu" or not memory.is_contiguous():
        got = f"{memory.dtype} {list(memory.shape)} on {memory.device}"
        raise ArgumentError(f"memory: expected contiguous uint8 [bytes] on the CPU, got {got}; use page_aligned(bytes)")
    if len(memory) < nbytes or memory.data_ptr() % PAGE:
        raise ArgumentError(
            f"memory: {len(memory)} bytes at {memory.data_ptr():#x} cannot take the {nbytes} bytes of the block at a "
            f"page boundary; use page_aligned({nbytes})"
        )


def open_direct(path: str) -> int:
    """The file opened for direct reads, or -1 where the system or the file system does not support them."""
    if not hasattr(os, "O_DIRECT"):
        return -1
    file = -1
    try:
        file = open_to_read(path, os.O_DIRECT)
        read_at(file, as_bytes(page_aligned(PAGE)), 0)
    except OSError:
        if file >= 0:
            os.close(file)
        return -1
    return file


def drop_pages(file: int, position: int, nbytes: int) -> None:
    """Drop a range of a file from the page cache, so that data that is read once evicts nothing."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file, position, nbytes, os.POSIX_FADV_DONTNEED)


tg.open_partitioned = BlockFile  # for tgraph.read and tgraph.verify
