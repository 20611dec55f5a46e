"""Conversion of an edge list larger than memory to a partitioned .tg file: an external sort by row.

    read       the text once, piece by piece, into runs of edges on disk, collecting the vertex ids
    count      renumber the vertices in the runs, and count the arcs of each: the bounds of blocks and buckets follow
    scatter    the arcs of each section to buckets of whole rows, small enough to be sorted in memory
    sort       each bucket, as `sorting.sort_edges` does, and write its blocks

Method: the two-level distribution sort of Knuth, TAOCP 3, section 5.4.
"""

from __future__ import annotations

import inspect
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from tgraph import io
from tgraph.core.building import sorting
from tgraph.core.building.inputs import as_count
from tgraph.core.building.symmetry import Mirror
from tgraph.core.rows import offset_of
from tgraph.errors import ArgumentError
from tgraph.files import PathLike
from tgraph.files.atomic_write import remove_leftovers, room_for, whole_file
from tgraph.io.edges import Rules
from tgraph.io.text import csv, edgelist
from tgraph.io.text.columns import fold_columns
from tgraph.io.text.edgelist import Plan
from tgraph.stream.file.container import SECTIONS
from tgraph.stream.file.external_sort import Buckets, Edges, Runs
from tgraph.stream.file.numbering import CompactIds, KeptIds, Labels, Numbering, narrowed
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
from tgraph.stream.memory import parse_memory

# Peak memory of each step in bytes: for an edge that is read or scattered, and for an arc that is sorted.
_PER_EDGE = 192
_PER_ARC = {False: 48, True: 96}  # without and with weights
_FOR_COMPRESSING = 100  # additional, for an arc whose block is compressed
_READING = 112 << 20  # of pyarrow, for any file


def convert(
    path_in: PathLike,
    path_out: PathLike,
    *,
    parts: int | None = None,
    memory: str | int = "500MB",
    layout: str | None = None,
    progress: bool = False,
    **options: Any,
) -> None:
    """Convert an edge list or CSV file of any size to a partitioned .tg file, which equals what
    `write_partitioned(tgraph.read(path_in, **options), path_out, parts, layout=layout)` would write.

    parts : how many blocks a section has; None takes as few as can be sorted in memory.
    memory : the memory budget beside Python itself and its modules, "500MB" or bytes as an int. It must hold a few
        tables of 8 bytes for each vertex (and the text of labels, where vertices have labels) and all arcs of any one
        vertex.
    layout : "virtual" compresses the blocks (see `write_partitioned`), which takes more memory for each arc.
    progress : True shows progress bars.
    options : those of `tgraph.read` for these formats: directed, weights, multi, self_loops, ids, delimiter, skip, and
        for CSV source, target and weight.

    The disk must hold, beside the result, 16 bytes for each edge and at most as much again (8 more with weights), in a
    temporary folder beside `path_out` that is removed at the end, also after an exception; what a killed conversion
    left of it is removed by the next one to the same path. An interrupted conversion starts over. A list of undirected
    edges that contains each in both directions is recognised by a 64-bit hash of all arcs, which errs once in 2**64
    files.
    Raises FileFormatError for a file that cannot be read, ArgumentError for options that do not fit the format and for
    too little memory, saying how much is needed; OSError, with the bytes needed, where the disk is full.
    """
    budget = parse_memory(memory)
    check_layout(layout, None)
    plan = _plan(path_in, options)
    parts = None if parts is None else as_count(parts, "parts")
    needed = f"about {4 * os.path.getsize(path_in)}"
    with (
        temporary_folder(path_out) as folder,
        room_for(path_out, needed),
        EdgeReader(plan, folder / "runs", budget) as reading,
    ):
        reading.read(path_in, progress)
        BlockSorter(reading, folder, budget, parts, progress, layout).write(path_out)


def _plan(path: PathLike, options: dict[str, Any]) -> Plan:
    module = io.format_module(path, None)
    if module not in (edgelist, csv):
        raise ArgumentError(f"path_in: {path} is no edge list or CSV file; read it with tgraph.read")
    planning = csv.plan if module is csv else edgelist.plan
    known = inspect.signature(planning).parameters
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ArgumentError(f"{unknown[0]}: no option for {path}; it takes {', '.join(list(known)[1:])}")
    return planning(path, **options)


@contextmanager
def temporary_folder(path: PathLike) -> Iterator[Path]:
    """A temporary folder beside `path`, removed at the end; the leftovers of killed processes are removed first."""
    path = Path(path).absolute()
    remove_leftovers(path, "converting")
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.{os.getpid()}.", suffix=".converting", dir=path.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class ArcSource(Protocol):
    """The arcs to be sorted. `degrees` : of the rows of each section, int64 [n]; there are two sections if
    `rules.directed`. `num_runs` : how many times `arcs` yields."""

    num_vertices: int
    rules: Rules
    degrees: list[Tensor]

    @property
    def weight_dtype(self) -> torch.dtype | None: ...

    @property
    def vertices(self) -> Any: ...

    @property
    def num_runs(self) -> int: ...

    def arcs(self, section: int) -> Iterator[Edges]:
        """The arcs of a section as (row, neighbour, weight); parallel arcs in their order."""


class EdgeReader:
    """The first two steps, read and count: the edges of a file as runs, renumbered, and the degrees. Used in `with`."""

    def __init__(self, plan: Plan, path: Path, memory: int):
        self.plan, self.rules, self._path, self._memory = plan, plan.rules, path, memory
        batch = (memory - min(_READING, memory // 2)) // 2 // _PER_EDGE
        self._batch = max(batch, 1 << 10)
        self.numbering: Numbering = KeptIds()
        self.mirror: Mirror | None = None
        self.runs = Runs(path, self._batch)

    def __enter__(self) -> EdgeReader:
        return self

    def __exit__(self, *fault: object) -> None:
        self.runs.__exit__()

    @property
    def weight_dtype(self) -> torch.dtype | None:
        return self.runs.weight_dtype

    @property
    def vertices(self) -> Any:
        return self.numbering.vertices

    @property
    def num_runs(self) -> int:
        return len(self.runs)

    def read(self, path: PathLike, progress: bool) -> None:
        """Read all edges of the text and number their vertices."""
        if self.plan.layout is not None:
            fold_columns(path, self.plan.layout, self._note_all, progress)
        self.numbering.close()
        self.runs.flush()
        edges_both_ways = self.mirror is not None and self.mirror.complete
        plain = self.rules.multi == "keep" and self.rules.self_loops == "keep"
        self.both_ways = not self.rules.directed and not (edges_both_ways and plain)
        self._once = self.both_ways and edges_both_ways
        n = self.num_vertices = self.numbering.num_vertices
        sections = 2 if self.rules.directed else 1
        _check_tables(n, sections, self._memory)
        self.degrees = [torch.zeros(n, dtype=torch.int64, device="cpu") for _ in range(sections)]
        self.runs.rewrite(self._counted)
        if isinstance(self.numbering, CompactIds):
            self.numbering.drop()

    def _note_all(self, pieces: Iterator[list[Any]]) -> None:
        """Called again from the first piece where the types assumed for the columns turn out to be wrong."""
        self.runs.__exit__()
        self.runs = Runs(self._path, self._batch)
        self.numbering = self._new_numbering()
        self.mirror = None if self.rules.directed else Mirror()
        for arrays in pieces:
            src, dst, weights = self.plan.columns(arrays)
            src, dst = self.numbering.note(src, dst)
            if self.mirror is not None:
                self.mirror.note(src, dst, weights)
            self.runs.add(src, dst, weights)

    def _new_numbering(self) -> Numbering:
        assert self.plan.layout is not None, "there are edges"
        if self.plan.layout.fields[self.plan.source] == "label":
            return Labels()
        return KeptIds() if self.rules.ids == "keep" else CompactIds(self._memory)

    def _counted(self, src: Tensor, dst: Tensor, weights: Tensor | None) -> Edges:
        src, dst = narrowed(*self.numbering.number(src, dst), self.num_vertices)
        kept = None
        if self._once:
            kept = src <= dst
        if self.rules.self_loops == "drop":
            kept = (src != dst) if kept is None else kept & (src != dst)
        if kept is not None:
            src, dst, weights = src[kept], dst[kept], None if weights is None else weights[kept]
        ones = torch.ones(1, dtype=torch.int64, device="cpu").expand(len(src))
        self.degrees[0].index_add_(0, src, ones)
        if self.rules.directed:
            self.degrees[1].index_add_(0, dst, ones)
        elif self.both_ways:
            self.degrees[0].index_add_(0, dst, (src != dst).long())
        return src, dst, weights

    def arcs(self, section: int) -> Iterator[Edges]:
        """The arcs of a section in the order of the file, run by run."""
        for src, dst, weights in self.runs:
            if section:
                yield dst, src, weights
            elif self.both_ways:
                yield _with_reverses(src, dst, weights)
            else:
                yield src, dst, weights


def _with_reverses(src: Tensor, dst: Tensor, weights: Tensor | None) -> Edges:
    """Each edge followed by its reverse, so that parallel arcs keep the order of their edges; a self-loop once."""
    both = torch.stack((src, dst, dst, src), 1).view(-1, 2)
    arc = torch.stack((torch.ones_like(src, dtype=torch.bool), src != dst), 1).view(-1)
    both = both[arc]
    if weights is not None:
        weights = weights.repeat_interleave(2)[arc]
    return both[:, 0].contiguous(), both[:, 1].contiguous(), weights


def _tables(num_vertices: int, sections: int) -> int:
    """Peak bytes of vertex data: degrees and offsets of every section, at times twice; ids; and the offsets of the
    bucket being sorted."""
    return 8 * (2 * sections + 2) * num_vertices


def _check_tables(num_vertices: int, sections: int, memory: int) -> None:
    needed = _tables(num_vertices, sections)
    if 2 * needed > memory:
        raise ArgumentError(
            f"memory: {memory} bytes are too few for {num_vertices} vertices, whose tables take {needed}; "
            f"give at least {2 * needed}"
        )


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
    """The last two steps, scatter and sort: the arcs of each section into buckets, and each bucket into blocks."""

    def __init__(
        self, reading: ArcSource, folder: Path, memory: int, parts: int | None, progress: bool, layout: str | None
    ):
        self._reading, self._folder, self._progress = reading, folder, progress
        n, weight = reading.num_vertices, reading.weight_dtype
        offsets = [offset_of(degree) for degree in reading.degrees]
        reading.degrees.clear()
        check_layout(layout, weight)
        self._info = GraphInfo(n, int(offsets[0][-1]), reading.rules.directed, sorting.index_dtype(n), weight, layout)
        per_arc, tables = _PER_ARC[weight is not None], _tables(n, len(offsets))
        per_arc += 0 if layout is None else _FOR_COMPRESSING
        capacity = max((memory - tables) // 2 // per_arc, 1)
        if parts is None:  # the largest block has at most twice the mean, as `balanced_bounds` cuts
            parts = max(1, -(-2 * self._info.num_arcs // capacity))
        self._sections = [_planned(offset, parts, capacity) for offset in offsets]
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
            offsets = [self._write_section(number, section, writer) for number, section in enumerate(self._sections)]
            writer.finish(resident_tensors(offsets, None, vertices), num_arcs=int(offsets[0][-1]))

    def _write_section(self, number: int, section: _Section, writer: BlockWriter) -> Tensor:
        """Write the blocks of a section; returns its offsets, after parallel arcs were merged."""
        info, rows, runs = self._info, section.rows, self._reading.num_runs
        merge = self._reading.rules.multi != "keep"
        offset = torch.zeros_like(section.offset) if merge else section.offset
        with Buckets(self._folder / "buckets", section.sizes, info.neighbor_dtype, info.weight_dtype) as buckets:
            for src, dst, weights in self._with_progress(
                self._reading.arcs(number), f"scatter {SECTIONS[number]}", runs
            ):
                buckets.scatter(torch.searchsorted(rows[1:-1], src, right=True), (src, dst, weights))
            for bucket in self._with_progress(range(len(rows) - 1), f"sort {SECTIONS[number]}", len(rows) - 1):
                first, end = rows[bucket : bucket + 2].tolist()
                neighbors, weights = self._sorted(buckets.read(bucket), offset[first : end + 1], first)
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
        if not self._progress:
            return items
        from tqdm import tqdm

        return tqdm(items, desc=name, total=total)
