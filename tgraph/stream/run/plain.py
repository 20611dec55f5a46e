"""A plain (unpartitioned) .tg file, read as blocks: a range of arcs is a contiguous range of each tensor."""

from __future__ import annotations

import os

import torch
from torch import Tensor

from tgraph.core.building import sorting, validate
from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.checksummed import Contents, contents
from tgraph.files.positioned import open_to_read
from tgraph.stream.file.blocks import MAPPED, drop_pages
from tgraph.stream.file.container import Extent, as_bytes, read_fully
from tgraph.stream.file.writing import ArcRange, GraphInfo, block_size, cut, local_offset
from tgraph.stream.run.budget import block_count
from tgraph.stream.run.out_arcs import OutArcs

_REMEDY = "read it with tgraph.read and write it again, or partition it with tgraph.stream.write_partitioned"


class PlainFile(OutArcs):
    """An open plain .tg file with the interface of a partitioned one.

    path : the file. memory : the budget, in bytes, from which the size of its blocks follows.

    Blocks end at the ends of checksummed pieces, so that each is verified whenever it is read; files of an earlier
    version have no such pieces and are not verified.
    Raises FileFormatError for a file that is damaged, truncated or holds a layout, MemoryBudgetError where the vertex
    data does not fit the budget.
    """

    def __init__(self, path: PathLike, memory: int):
        self.path, self.direct, self._memory = os.fspath(path), False, memory
        self._file = self._direct_file = -1
        self._checked_blocks = set()
        self._contents = file = contents(path, _REMEDY)
        self._notes, self._tensors = file.notes, file.entries
        _check(file)
        try:
            self.num_arcs, self.directed = file.entries["neighbors"]["shape"][0], file.notes["directed"] == "true"
            self.neighbor_dtype = file.dtype("neighbors")
            self.weight_dtype = file.dtype("weights") if "weights" in file.entries else None
            self._resident = {"rows.offset": _offset(file, self.num_arcs)}
            self.num_vertices = len(self.offset()) - 1
            if self.neighbor_dtype != sorting.index_dtype(self.num_vertices):
                raise ValueError(f"neighbors of {self.num_vertices} vertices in {self.neighbor_dtype}")
        except FileFormatError:
            raise
        except (LookupError, TypeError, ValueError, RuntimeError) as fault:
            raise FileFormatError(self.path, f"the tensors are no graph ({fault})", _REMEDY) from fault
        info = GraphInfo(self.num_vertices, self.num_arcs, self.directed, self.neighbor_dtype, self.weight_dtype)
        blocks = cut(self.offset(), self._planned())
        self.index: list[Extent] = [Extent(0, *block, 0, block_size(block, info), 0) for block in blocks]
        self._own = len(self.index)
        self._file = open_to_read(self.path)

    def _planned(self) -> Tensor:
        """The first arc of each block and the number of arcs, int64 [blocks + 1]: blocks of equal size, in whole
        checksummed pieces of both tensors."""
        widths = [dtype.itemsize for dtype in (self.neighbor_dtype, self.weight_dtype) if dtype is not None]
        piece, blocks = (
            self._contents.piece // min(widths),
            block_count(self, self.num_arcs * sum(widths), self._memory),
        )
        size = max(self.num_arcs // blocks // piece, 1) * piece
        firsts = torch.arange(0, max(self.num_arcs, 1), size, device="cpu")
        return torch.cat((firsts, firsts.new_tensor([self.num_arcs])))

    def _tensor(self, name: str) -> Tensor:
        if name == "transpose.offset":
            return self._transpose().offset()
        return self._contents.load(name)

    def _position(self, name: str) -> int:
        return self._contents.position(name)

    def _check_pieces(self, name: str, nbytes: int) -> None:
        piece = self._contents.piece
        for begin, data in self._pieces(name, nbytes, -(-MAPPED // piece) * piece):
            self._contents.check(name, data, begin)

    def identity(self) -> list[Tensor]:
        """Tensors that differ where the arcs of two files do: offsets, and checksums of the others."""
        names = [name for name in ("neighbors", "weights") if name in self._tensors]
        sums = "".join(map(self._contents.digests, names)).encode()
        return [self.offset(), torch.tensor(list(sums), dtype=torch.uint8, device="cpu")]

    # ---- blocks ----------------------------------------------------------------------------------------------------

    def _fetch(self, block: int, memory: Tensor) -> None:
        views, extent = self.views(block, memory), self.index[block]
        views.offset.copy_(local_offset(self.offset(), ArcRange(*extent[1:5])))
        for name, part in (("neighbors", views.neighbors), ("weights", views.weights)):
            if part is not None:
                position = self._contents.position(name) + extent.first_arc * part.element_size()
                data = as_bytes(part)
                if read_fully(self._file, data, position) < len(data):
                    raise self._damaged(block, f"is truncated: the file ends within its {name}")
                drop_pages(self._file, position, len(data))

    def _verify(self, block: int, memory: Tensor) -> None:
        views, first = self.views(block, memory), self.index[block].first_arc
        self._contents.check("neighbors", as_bytes(views.neighbors), first * self.neighbor_dtype.itemsize)
        if views.weights is not None:
            self._contents.check("weights", as_bytes(views.weights), first * views.weights.element_size())
        self._check_entries(block, memory)


def _check(file: Contents) -> None:
    """Raise FileFormatError for a file that does not hold the tensors of a CSR."""
    if file.notes.get("format") != "tgraph":
        raise FileFormatError(file.path, "a safetensors file that holds no graph", "write it with tgraph.write")
    if "layout" in file.notes:
        layout, remedy = file.notes["layout"], "write graph.to_csr() of what tgraph.read gives; that can be cut"
        raise FileFormatError(file.path, f"its arcs are in the layout {layout!r}, which has no rows to cut", remedy)
    lengths = {name: file.entries[name]["shape"] for name in ("neighbors", "weights") if name in file.entries}
    if not {"offset", "neighbors"} <= file.entries.keys() or len({tuple(shape) for shape in lengths.values()}) != 1:
        raise FileFormatError(file.path, "the tensors are no graph", _REMEDY)


def _offset(file: Contents, num_arcs: int) -> Tensor:
    """The offsets, verified. Raises ValueError for invalid ones."""
    offset = file.load("offset")
    if offset.dtype != torch.int64 or offset.dim() != 1 or not len(offset):
        raise ValueError(f"offset of {offset.dtype} {list(offset.shape)}")
    validate.check_offset(offset)
    if int(offset[0]) or int(offset[-1]) != num_arcs:
        raise ValueError(f"offset from {int(offset[0])} to {int(offset[-1])} for {num_arcs} arcs")
    return offset
