"""Writing partitioned .tg files, atomically."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
import xxhash
from torch import Tensor

from tgraph.core.building import validate
from tgraph.core.building.inputs import as_count
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.files import PathLike
from tgraph.files.atomic_write import whole_file
from tgraph.io import labels, named_data, tg
from tgraph.stream.file.container import (
    COMPRESSED_VERSION,
    DTYPE_NAMES,
    VERSION,
    Extent,
    as_bytes,
    checksum,
    pack_header,
    places,
    signed,
)
from tgraph.stream.file.folding import fold, shape_of
from tgraph.stream.file.weights import WeightStatistics
from tgraph.stream.memory import PAGE
from tgraph.stream.partitioning.parts import Parts, equal_shares, round_to_rows

# The layouts that blocks may be compressed by.
LAYOUTS = ("virtual",)


def write_partitioned(
    graph: Graph,
    path: PathLike,
    parts: Parts | int,
    transpose_parts: Parts | int | None = None,
    *,
    layout: str | None = None,
) -> None:
    """Write a graph as blocks of arcs, to be processed out of core.

    `parts` defines the bounds of the blocks and a renumbering of the vertices (`stream.partitioning.cuts`); an int asks
    for that many blocks of nearly equal size, without renumbering. `transpose_parts` does so for the in-arcs of a
    directed graph, whose vertices follow the order of `parts`; None takes as many blocks as `parts` has.
    The file replaces one at `path` once it is complete and on disk: a crash leaves the old one unchanged.

    `layout="virtual"` compresses each block, as that layout does a graph, so that fewer bytes are read: sequences of
    neighbours that repeat in a block are stored once. Takes up to 100 bytes of workspace for each arc of a block, and
    temporarily the disk space of plain blocks.

    Columns of arcs and vertices are stored as wholes beside the blocks, and read when they are first used.

    Raises ArgumentError for parts of another graph, damaged tensors, labels that are not text, more columns than the
    header has room for, another layout, and a compressed one of a graph with weights; OSError, with the bytes needed,
    where the disk is full.

    >>> graph = tg.generators.grid2d(16, 16)
    >>> tg.stream.write_partitioned(graph, "grid.tg", 4)
    >>> tg.algorithms.bfs(tg.open("grid.tg", memory="1MB"), 0).max()
    tensor(30, dtype=torch.int32)
    """
    check_layout(layout, graph.weight_dtype)
    if isinstance(parts, Parts):
        graph = parts.apply(graph)
        bounds = parts.bounds
    else:
        bounds = balanced_bounds(graph.row_offset(), as_count(parts, "parts"))
    graph = graph.to("cpu").to_csr()
    if graph.weight_dtype is not None and graph.weight_dtype not in DTYPE_NAMES:
        raise ArgumentError(f"graph.weights: no .tg file holds {graph.weight_dtype}; convert it to torch.float32")
    sections = [(graph, bounds)]
    if graph.directed:
        reverse = graph.transpose_detached()
        sections.append((reverse, _transpose_bounds(reverse, parts, transpose_parts, len(bounds) - 1)))
    for section, _ in sections:
        validate.check_entries(section.offset, section.neighbors)
    plans = [cut(section.offset, bounds) for section, bounds in sections]
    resident = resident_tensors([section.offset for section, _ in sections], graph.order, graph.vertices)
    columns = {name: tensor.contiguous() for name, tensor in named_data.tensors_of(graph).items()}
    info = GraphInfo(
        graph.num_vertices, graph.num_arcs, graph.directed, graph.neighbors.dtype, graph.weight_dtype, layout
    )
    with whole_file(path, file_size(plans, resident | columns, info)) as file:
        writer = BlockWriter(file, info)
        for number, ((section, _), plan) in enumerate(zip(sections, plans, strict=True)):
            weights = None if section.weights is None else section.weights.detach()
            for block in plan:
                arcs = slice(block.first_arc, block.end_arc)
                own = None if weights is None else weights[arcs]
                writer.block(number, block, local_offset(section.offset, block), section.neighbors[arcs], own)
        writer.finish(resident, columns=columns)


def check_layout(layout: str | None, weight_dtype: torch.dtype | None) -> None:
    """Raise ArgumentError for a layout that blocks do not support, or not with weights."""
    if layout is not None and layout not in LAYOUTS:
        raise ArgumentError(f"layout: blocks are plain (None) or {', '.join(map(repr, LAYOUTS))}, not {layout!r}")
    if layout is not None and weight_dtype is not None:
        raise ArgumentError(
            f"layout: compressed blocks have no room for weights, and the graph has some of {weight_dtype}; leave the "
            "layout None, or the weights out (weights=False, or --weights none, where the graph is read)"
        )


def _transpose_bounds(reverse: Graph, parts: Parts | int, given: Parts | int | None, count: int) -> Tensor:
    if not isinstance(given, Parts):
        return balanced_bounds(reverse.offset, count if given is None else as_count(given, "transpose_parts"))
    order = parts.order if isinstance(parts, Parts) else None
    if given.order is not None and (order is None or not torch.equal(given.order, order)):
        raise ArgumentError("transpose_parts: its order differs from that of parts; give it the same, or None")
    if int(given.bounds[-1]) != reverse.num_arcs:
        raise ArgumentError(f"transpose_parts: parts of {int(given.bounds[-1])} arcs, the graph has {reverse.num_arcs}")
    return given.bounds


def balanced_bounds(offset: Tensor, count: int) -> Tensor:
    """Bounds of `count` blocks of nearly equally many arcs, int64 [count + 1]; only rows longer than half a block are
    split. Raises ArgumentError for count < 1."""
    if count < 1:
        raise ArgumentError(f"parts: a file has 1 block at least, got {count}")
    arcs = int(offset[-1])
    return round_to_rows(offset, equal_shares(arcs, count), -(-arcs // count) // 2)


class ArcRange(NamedTuple):
    """A range of consecutive arcs of a section, and the rows that they lie in."""

    first_row: int
    end_row: int
    first_arc: int
    end_arc: int


def cut(offset: Tensor, bounds: Tensor) -> list[ArcRange]:
    """The ranges between the bounds. Rows without arcs at their ends belong to none; an empty range has no rows."""
    first_arc, end_arc = bounds[:-1].cpu(), bounds[1:].cpu()
    first_row = torch.searchsorted(offset, first_arc, right=True) - 1
    end_row = torch.where(end_arc > first_arc, torch.searchsorted(offset, end_arc), first_row)
    columns = (first_row, end_row, first_arc, end_arc)
    return [ArcRange(*entry) for entry in torch.stack(columns, 1).tolist()]


def local_offset(offset: Tensor, block: ArcRange) -> Tensor:
    """Offsets of the rows of a range within it, int64 [rows + 1] from 0."""
    rows = offset[block.first_row : block.end_row + 1]
    return rows.clamp(block.first_arc, block.end_arc) - block.first_arc


class GraphInfo(NamedTuple):
    """The graph as the header describes it, and the layout that its blocks are compressed by, None for plain ones."""

    num_vertices: int
    num_arcs: int
    directed: bool
    neighbor_dtype: torch.dtype
    weight_dtype: torch.dtype | None
    layout: str | None = None


def resident_tensors(offsets: list[Tensor], order: Tensor | None, vertices: Any) -> dict[str, Tensor]:
    """The tensors beside the blocks. Raises ArgumentError for labels that are not text."""
    tensors = dict(zip(("rows.offset", "transpose.offset"), offsets, strict=False))
    tensors |= labels.tensors_of(order, vertices)
    return {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}


def file_size(plans: list[list[ArcRange]], resident: dict[str, Tensor], info: GraphInfo) -> int:
    """The bytes of a file of such blocks and tensors; nearly always an upper bound where blocks are compressed."""
    sizes = [block_size(block, info) for plan in plans for block in plan]
    index = 8 * len(Extent._fields) * len(sizes)
    return PAGE + sum(sizes) + index + sum(tensor.nbytes for tensor in resident.values())


def block_size(block: ArcRange, info: GraphInfo) -> int:
    """The bytes of the block of a range of arcs, in whole pages."""
    rows, arcs = block.end_row - block.first_row, block.end_arc - block.first_arc
    return places(rows, arcs, info.neighbor_dtype, info.weight_dtype).nbytes


class Written(NamedTuple):
    """A block in a file: its index entry, the shape that is stored where it is compressed, and the statistics of its
    weights where they count."""

    extent: Extent
    shape: Tensor | None
    weights: WeightStatistics | None


class BlockWriter:
    """Writes blocks one after the other into an open file, and at the end index, resident tensors and header.

    Call `block` for every block of section 0, then of section 1, in the order of their arcs, then `finish`.

    blocks : the index entries of the blocks in the file.
    """

    blocks: list[Written]

    def __init__(self, file: Any, info: GraphInfo):
        self._file, self._info, self.blocks = file, info, list[Written]()
        file.seek(PAGE)

    @property
    def position(self) -> int:
        """The byte where blocks end so far."""
        return self.blocks[-1].extent.position + self.blocks[-1].extent.nbytes if self.blocks else PAGE

    def block(self, section: int, arcs: ArcRange, offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> None:
        """Write a block from consistent tensors of the form of `blocks.Block`."""
        shape, statistics = None, None
        if self._info.layout is not None:
            folded = fold(offset, neighbors, self._info.num_vertices)
            offset, neighbors, shape = folded.offset, folded.entries, shape_of(folded)
        rows, entries = len(offset) - 1, len(neighbors)
        at = places(rows, entries, self._info.neighbor_dtype, self._info.weight_dtype, offset.dtype)
        hashed = xxhash.xxh3_64()
        written = 0  # bytes
        for part, end in ((offset, at.neighbors), (neighbors, at.weights), (weights, at.nbytes)):
            data = b"" if part is None else as_bytes(part.contiguous())
            for piece in (data, bytes(end - written - len(data))):
                hashed.update(piece)
                self._file.write(piece)
            written = end
        if weights is not None and section == 0:  # the transpose has the same ones
            statistics = WeightStatistics()
            statistics.add(weights)
        extent = Extent(section, *arcs, self.position, at.nbytes, signed(hashed.intdigest()))
        self.blocks.append(Written(extent, shape, statistics))

    def finish(
        self, resident: dict[str, Tensor], num_arcs: int | None = None, columns: Mapping[str, Tensor] | None = None
    ) -> None:
        """Write the index, the resident tensors, those of `columns` and the header, and truncate the file. `num_arcs`
        is given where there are fewer arcs than planned."""
        index = torch.tensor([block.extent for block in self.blocks], dtype=torch.int64, device="cpu")
        tensors = {"index": index.view(-1, len(Extent._fields))}
        if self._info.layout is not None:
            tensors["shapes"] = torch.stack([block.shape for block in self.blocks if block.shape is not None])
        tensors |= resident | dict(columns or {})
        self._file.seek(self.position)
        for tensor in tensors.values():
            self._file.write(as_bytes(tensor.view(-1)))
        self._file.truncate()
        info = self._info if num_arcs is None else self._info._replace(num_arcs=num_arcs)
        notes = {
            "format": "tgraph",
            "version": str(tg.COLUMNS if columns else VERSION if info.layout is None else COMPRESSED_VERSION),
            "directed": str(info.directed).lower(),
            "num_vertices": str(info.num_vertices),
            "num_arcs": str(info.num_arcs),
            "neighbor_dtype": DTYPE_NAMES[info.neighbor_dtype],
            "weight_dtype": "none" if info.weight_dtype is None else DTYPE_NAMES[info.weight_dtype],
            "sums": json.dumps({name: checksum(as_bytes(tensor.view(-1))) for name, tensor in tensors.items()}),
        }
        if info.layout is not None:
            notes["layout"] = info.layout
        weights = WeightStatistics()
        for block in self.blocks:
            weights.merge(block.weights or WeightStatistics())
        if weights.count:
            notes["weights"] = weights.note()
        shapes = {name: (tensor.dtype, list(tensor.shape)) for name, tensor in tensors.items()}
        blocks = {"blocks": (torch.uint8, [self.position - PAGE])}
        self._file.seek(0)
        self._file.write(pack_header(blocks | shapes, notes))
