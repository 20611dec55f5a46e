"""The last two steps of a conversion: arcs scattered to buckets of whole rows, and each bucket sorted into blocks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.rows import offset_of
from tgraph.errors import ArgumentError
from tgraph.files import PathLike
from tgraph.files.atomic_write import whole_file
from tgraph.progress import track
from tgraph.stream.file.container import SECTIONS
from tgraph.stream.file.edge_reader import ArcSource, table_bytes
from tgraph.stream.file.external_sort import Buckets, Edges
from tgraph.stream.file.writing import (
    BlockWriter,
    GraphInfo,
    balanced_bounds,
    check_layout,
    cut,
    file_size,
    local_offset,
    resident_tensors,
)

# Peak memory in bytes for an arc that is sorted, without and with weights, and more where its block is compressed.
_PER_ARC = {False: 48, True: 96}
_FOR_COMPRESSING = 100


@dataclass(frozen=True)
class _Section:
    """The plan of a section: its offsets int64 [n + 1], the bounds of its blocks int64 [p + 1], and the first block of
    each bucket, int64 [buckets + 1]; every bucket begins with a whole row."""

    offset: Tensor
    bounds: Tensor
    firsts: Tensor

    @property
    def rows(self) -> Tensor:
        """The first row of each bucket, int64 [buckets + 1]."""
        rows = torch.searchsorted(self.offset, self.bounds[self.firsts])
        rows[0], rows[-1] = 0, len(self.offset) - 1
        return rows

    @property
    def sizes(self) -> Tensor:
        """The arcs in each bucket, int64 [buckets]."""
        return self.bounds[self.firsts].diff()

    def merged_bounds(self, bucket: int, first: int, offset: Tensor) -> Tensor:
        """The bounds of the blocks of a bucket after parallel arcs were merged: `offset` are the new offsets of its
        rows, from row `first` on."""
        bounds = self.bounds[int(self.firsts[bucket]) : int(self.firsts[bucket + 1]) + 1]
        if len(offset) == 1:
            return bounds
        planned = self.offset[first : first + len(offset)]
        row = (torch.searchsorted(planned, bounds, right=True) - 1).clamp_(max=len(offset) - 2)
        return (offset[row] + bounds - planned[row]).minimum(offset[row + 1])


def _planned(offset: Tensor, parts: int, capacity: int) -> _Section:
    """Blocks of nearly equal size, grouped into buckets of at most `capacity` arcs, or one block."""
    bounds = balanced_bounds(offset, parts)
    cuts = (offset[torch.searchsorted(offset, bounds)] == bounds).nonzero().squeeze(1).tolist()
    arcs = bounds.tolist()
    firsts = [0]
    for block, following in itertools.pairwise(cuts):
        if arcs[following] - arcs[firsts[-1]] > capacity and arcs[block] > arcs[firsts[-1]]:
            firsts.append(block)
    return _Section(offset, bounds, torch.tensor([*firsts, parts], dtype=torch.int64, device="cpu"))


class BlockSorter:
    """The arcs of each section to buckets, and each bucket to blocks.

    folder : of the buckets. memory : bytes that may be used. parts : how many blocks a section has; None takes as few
    as can be sorted, and a multiple of `workers`. workers : how many processes share the buckets.
    """

    copies = 2  # of the degrees of all vertices at once

    def __init__(
        self,
        reading: ArcSource,
        folder: Path,
        memory: int,
        parts: int | None,
        progress: bool,
        layout: str | None,
        workers: int = 1,
    ):
        self._reading, self._folder, self._progress = reading, folder, progress
        n, weight = reading.num_vertices, reading.weight_dtype
        offsets = [offset_of(degree) for degree in reading.degrees]
        reading.degrees.clear()
        check_layout(layout, weight)
        self._info = GraphInfo(n, int(offsets[0][-1]), reading.rules.directed, sorting.index_dtype(n), weight, layout)
        per_arc, tables = _PER_ARC[weight is not None], table_bytes(n, len(offsets), self.copies)
        per_arc += 0 if layout is None else _FOR_COMPRESSING
        capacity = max((memory - tables) // 2 // per_arc, 1)
        if parts is None:  # the largest block has at most twice the mean, as `balanced_bounds` cuts
            parts = workers * max(1, -(-2 * self._info.num_arcs // (capacity * workers)))
        share = -(-self._info.num_arcs // workers)
        self._sections = [_planned(offset, parts, min(capacity, share)) for offset in offsets]
        for section in self._sections:
            if (largest := int(section.sizes.max())) > capacity:
                needed = tables + 2 * per_arc * largest
                raise ArgumentError(
                    f"memory: {memory} bytes are too few to sort {largest} arcs, those of one vertex or one of {parts} "
                    f"blocks; give at least {needed}, or ask for more parts"
                )

    def write(self, path: PathLike) -> None:
        """Write the file. Where parallel arcs are merged it is shorter than reserved, and truncated."""
        info = self._info
        plans = [cut(section.offset, section.bounds) for section in self._sections]
        vertices = self._reading.vertices
        planned = resident_tensors([section.offset for section in self._sections], None, vertices)
        with whole_file(path, file_size(plans, planned, info)) as file:
            writer = BlockWriter(file, info)
            offsets = [self._write_section(number, writer) for number in range(len(self._sections))]
            writer.finish(resident_tensors(offsets, None, vertices), num_arcs=int(offsets[0][-1]))

    def _write_section(self, number: int, writer: BlockWriter) -> Tensor:
        """Write the blocks of a section; returns its offsets, after parallel arcs were merged."""
        section = self._sections[number]
        with self._buckets(self._folder / "buckets", section.sizes) as buckets:
            self._scatter(number, buckets)
            return self._sort(number, range(len(section.sizes)), buckets.read, writer)

    def _buckets(self, path: Path, sizes: Tensor, filled: bool = False) -> Buckets:
        return Buckets(path, sizes, self._info.neighbor_dtype, self._info.weight_dtype, filled)

    def _scatter(self, number: int, buckets: Buckets) -> None:
        """Scatter the arcs of a section to their buckets."""
        ends = self._sections[number].rows[1:-1]
        arcs, what = self._reading.arcs(number), f"scatter {SECTIONS[number]}"
        for src, dst, weights in self._with_progress(arcs, what, self._reading.num_runs):
            buckets.scatter(torch.searchsorted(ends, src, right=True), (src, dst, weights))

    def _sort(self, number: int, chosen: range, read: Callable[[int], Edges], writer: BlockWriter) -> Tensor:
        """Write the blocks of some buckets; returns the offsets of their rows among those of the section, int64
        [n + 1]. Where parallel arcs are merged they begin at 0."""
        section, rows = self._sections[number], self._sections[number].rows
        merge = self._reading.rules.multi != "keep"
        offset = torch.zeros_like(section.offset) if merge else section.offset
        for bucket in self._with_progress(chosen, f"sort {SECTIONS[number]}", len(chosen)):
            first, end = rows[bucket : bucket + 2].tolist()
            neighbors, weights = self._sorted(read(bucket), offset[first : end + 1], first)
            bounds = section.merged_bounds(bucket, first, offset[first : end + 1])
            self._write_blocks(number, first, offset[first : end + 1], bounds, neighbors, weights, writer)
        return offset

    def _sorted(self, edges: Edges, offset: Tensor, first: int) -> tuple[Tensor, Tensor | None]:
        """(neighbors, weights) of the sorted arcs of the rows from `first` on. Where parallel arcs are merged, `offset`
        is overwritten with the new offsets, starting from its first entry."""
        src, dst, weights = edges
        found, neighbors, order = sorting.sort_edges(src, dst, self._info.num_vertices, permutation=weights is not None)
        if weights is not None and order is not None:
            weights = sorting.take(weights, order)
        if (multi := self._reading.rules.multi) != "keep":
            found, neighbors, weights = sorting.merge_parallel(found, neighbors, weights, multi)
            torch.add(found[first : first + len(offset)], int(offset[0]), out=offset)
        return neighbors, weights

    def _write_blocks(
        self, number: int, first: int, offset: Tensor, bounds: Tensor, neighbors: Tensor, weights: Tensor | None,
        writer: BlockWriter,
    ) -> None:  # fmt: skip
        begin = int(offset[0])
        for block in cut(offset, bounds):
            arcs = slice(block.first_arc - begin, block.end_arc - begin)
            own = None if weights is None else weights[arcs]
            in_section = block._replace(first_row=first + block.first_row, end_row=first + block.end_row)
            writer.block(number, in_section, local_offset(offset, block), neighbors[arcs], own)

    def _with_progress(self, items: Iterable[Any], name: str, total: int) -> Iterable[Any]:
        return track(items, name, total=total, asked=self._progress)
