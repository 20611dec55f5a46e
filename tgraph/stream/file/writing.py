"""Writing partitioned .tg files: whole under their name or not at all."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import torch
import xxhash
from torch import Tensor

from tgraph.core import validate
from tgraph.core.build import as_count
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.files import PathLike
from tgraph.files.atomic_write import whole_file
from tgraph.io import labels
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
from tgraph.stream.partition.parts import Parts, equal_shares, round_to_rows

# What blocks may be compressed by.
LAYOUTS = ("virtual",)


def write_partitioned(
    graph: Graph,
    path: PathLike,
    parts: Parts | int,
    transpose_parts: Parts | int | None = None,
    *,
    layout: str | None = None,
) -> None:
    """Write a graph as blocks of arcs, for a graph that is larger than the memory of what computes on it.

    `parts` says where the blocks end and how vertices are renumbered first (see `tgraph.stream.partition.cuts`); a
    number asks for so many blocks of nearly equal size, vertices as they stand. `transpose_parts` does so for the in-
    arcs of a directed graph, whose vertices follow the order of `parts`; None takes as many blocks as `parts` has.
    The result takes the place of a file at `path` once it is whole and on the disk: a crash leaves that one as it
    was.

    `layout="virtual"` compresses each block, as that layout does a graph, for fewer bytes to be read: sequences of
    neighbours that repeat are stored once in a block. Takes up to 100 bytes for each arc of a block meanwhile, and the
    room of plain blocks on the disk.

    Raises ArgumentError for parts of another graph, damaged tensors, labels that are not text, another layout, and a
    compressed one of a graph with weights; OSError, with the bytes needed, where the disk is full.
    """
    check_layout(layout, graph.weight_dtype)
    if isinstance(parts, Parts):
        graph = parts.apply(graph)
        bounds = parts.bounds
    else:
        bounds = balanced_bounds(graph.offset, as_count(parts, "parts"))
    graph = graph.to("cpu")
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
    facts = Facts(graph.num_vertices, graph.num_arcs, graph.directed, graph.neighbors.dtype, graph.weight_dtype, layout)
    with whole_file(path, file_size(plans, resident, facts)) as file:
        writer = BlockWriter(file, facts)
        for number, ((section, _), plan) in enumerate(zip(sections, plans, strict=True)):
            weights = None if section.weights is None else section.weights.detach()
            for stretch in plan:
                arcs = slice(stretch.first_arc, stretch.end_arc)
                held = None if weights is None else weights[arcs]
                writer.block(number, stretch, local_offset(section.offset, stretch), section.neighbors[arcs], held)
        writer.finish(resident)


def check_layout(layout: str | None, weight_dtype: torch.dtype | None) -> None:
    """Raise ArgumentError for a layout that blocks do not have, or not with weights."""
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
    """Bounds of `count` blocks of nearly equally many arcs, int64 [count + 1], inside a row only where it is longer
    than a block. Raises ArgumentError for count < 1."""
    if count < 1:
        raise ArgumentError(f"parts: a file has 1 block at least, got {count}")
    arcs = int(offset[-1])
    return round_to_rows(offset, equal_shares(arcs, count), -(-arcs // count) // 2)


class Stretch(NamedTuple):
    """A run of consecutive arcs of a section, and the rows that they lie in."""

    first_row: int
    end_row: int
    first_arc: int
    end_arc: int


def cut(offset: Tensor, bounds: Tensor) -> list[Stretch]:
    """The stretches between the bounds. Rows without arcs at their ends belong to none; an empty one has no rows."""
    first_arc, end_arc = bounds[:-1].cpu(), bounds[1:].cpu()
    first_row = torch.searchsorted(offset, first_arc, right=True) - 1
    end_row = torch.where(end_arc > first_arc, torch.searchsorted(offset, end_arc), first_row)
    columns = (first_row, end_row, first_arc, end_arc)
    return [Stretch(*entry) for entry in torch.stack(columns, 1).tolist()]


def local_offset(offset: Tensor, stretch: Stretch) -> Tensor:
    """Where the arcs of the rows of a stretch begin in it, int64 [rows + 1] from 0."""
    rows = offset[stretch.first_row : stretch.end_row + 1]
    return rows.clamp(stretch.first_arc, stretch.end_arc) - stretch.first_arc


class Facts(NamedTuple):
    """What the header says of the graph, and the layout that its blocks are compressed by, None where they are not."""

    num_vertices: int
    num_arcs: int
    directed: bool
    neighbor_dtype: torch.dtype
    weight_dtype: torch.dtype | None
    layout: str | None = None


def resident_tensors(offsets: list[Tensor], order: Tensor | None, vertices: Any) -> dict[str, Tensor]:
    """The tensors beside the blocks. Raises ArgumentError for labels that are not text."""
    tensors = dict(zip(("rows.offset", "transpose.offset"), offsets, strict=False))
    if order is not None:
        tensors["order"] = order
    if isinstance(vertices, Tensor):
        tensors["vertices"] = vertices
    elif vertices is not None:
        text, offset = map(torch.from_numpy, labels.pack(vertices))
        tensors |= {"vertex_text_offset": offset, "vertex_text": text}  # the widest first, so that all are aligned
    return {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}


def file_size(plans: list[list[Stretch]], resident: dict[str, Tensor], facts: Facts) -> int:
    """The bytes of a file of such blocks and tensors; hardly ever fewer than it takes where they are compressed."""
    stretches = [stretch for plan in plans for stretch in plan]
    blocks = sum(block_size(stretch, facts) for stretch in stretches)
    index = 8 * len(Extent._fields) * len(stretches)
    return PAGE + blocks + index + sum(tensor.nbytes for tensor in resident.values())


def block_size(stretch: Stretch, facts: Facts) -> int:
    """The bytes of the block of a stretch, in whole pages."""
    rows, arcs = stretch.end_row - stretch.first_row, stretch.end_arc - stretch.first_arc
    return places(rows, arcs, facts.neighbor_dtype, facts.weight_dtype).nbytes


class BlockWriter:
    """Writes blocks one after the other into an open file, and in the end what makes them readable.

    Call `block` for every block of section 0, then of section 1, in the order of their arcs, then `finish`.
    """

    def __init__(self, file: Any, facts: Facts):
        self._file, self._facts, self._index, self._position = file, facts, list[Extent](), PAGE
        self._shapes: list[Tensor] = []
        self._weights = WeightStatistics()
        file.seek(PAGE)

    def block(self, section: int, stretch: Stretch, offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> None:
        """Write a block; the tensors are those of `blocks.Block`, and fit each other."""
        if self._facts.layout is not None:
            folded = fold(offset, neighbors, self._facts.num_vertices)
            offset, neighbors = folded.offset, folded.entries
            self._shapes.append(shape_of(folded))
        rows, entries = len(offset) - 1, len(neighbors)
        at = places(rows, entries, self._facts.neighbor_dtype, self._facts.weight_dtype, offset.dtype)
        hashed = xxhash.xxh3_64()
        written = 0  # bytes
        for part, end in ((offset, at.neighbors), (neighbors, at.weights), (weights, at.nbytes)):
            data = b"" if part is None else as_bytes(part.contiguous())
            for piece in (data, bytes(end - written - len(data))):
                hashed.update(piece)
                self._file.write(piece)
            written = end
        if weights is not None and section == 0:  # the transpose has the same ones
            self._weights.add(weights)
        self._index.append(Extent(section, *stretch, self._position, at.nbytes, signed(hashed.intdigest())))
        self._position += at.nbytes

    def finish(self, resident: dict[str, Tensor], num_arcs: int | None = None) -> None:
        """Write the index, the resident tensors and the header, and cut off what was reserved beyond. `num_arcs`, where
        there turned out to be fewer."""
        index = torch.tensor(self._index, dtype=torch.int64, device="cpu")
        tensors = {"index": index.view(-1, len(Extent._fields))}
        if self._facts.layout is not None:
            tensors["shapes"] = torch.stack(self._shapes)
        tensors |= resident
        for tensor in tensors.values():
            self._file.write(as_bytes(tensor.view(-1)))
        self._file.truncate()
        facts = self._facts if num_arcs is None else self._facts._replace(num_arcs=num_arcs)
        notes = {
            "format": "tgraph",
            "version": str(VERSION if facts.layout is None else COMPRESSED_VERSION),
            "directed": str(facts.directed).lower(),
            "num_vertices": str(facts.num_vertices),
            "num_arcs": str(facts.num_arcs),
            "neighbor_dtype": DTYPE_NAMES[facts.neighbor_dtype],
            "weight_dtype": "none" if facts.weight_dtype is None else DTYPE_NAMES[facts.weight_dtype],
            "sums": json.dumps({name: checksum(as_bytes(tensor.view(-1))) for name, tensor in tensors.items()}),
        }
        if facts.layout is not None:
            notes["layout"] = facts.layout
        if self._weights.count:
            notes["weights"] = self._weights.note()
        shapes = {name: (tensor.dtype, list(tensor.shape)) for name, tensor in tensors.items()}
        blocks = {"blocks": (torch.uint8, [self._position - PAGE])}
        self._file.seek(0)
        self._file.write(pack_header(blocks | shapes, notes))
