"""Conversion of edge lists to a file of blocks by all ranks, which share files to read and blocks to sort.

The steps are those of `tgraph.stream.file.convert`. Each rank reads its own files into runs, and scatters their arcs to
buckets of its own; the ranks exchange the ids seen and the degrees. A bucket is sorted by one rank, from the arcs of
all ranks in the order of the files, so that the result is that of one process. All ranks write blocks to the one file.
Larger data than these numbers are exchanged through a folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from tgraph.core.building.inputs import as_count
from tgraph.core.rows import offset_of
from tgraph.distributed.ranks.failures import together
from tgraph.distributed.ranks.process_group import made
from tgraph.files import PathLike
from tgraph.files.atomic_write import room_for, whole_file
from tgraph.files.temporary import temporary_folder
from tgraph.stream.file.block_sorter import BlockSorter
from tgraph.stream.file.container import Extent
from tgraph.stream.file.convert import needed, planned
from tgraph.stream.file.edge_reader import EdgeReader, PlannedFile
from tgraph.stream.file.external_sort import Edges
from tgraph.stream.file.writing import BlockWriter, Written, check_layout, resident_tensors
from tgraph.stream.memory import PAGE, parse_memory

_COPIED = 1 << 22  # bytes at a time, from a file of a rank to that of all


def convert(
    paths: PathLike | Sequence[PathLike],
    path_out: PathLike,
    *,
    parts: int | None = None,
    memory: str | int = "500MB",
    layout: str | None = None,
    progress: bool = False,
    group: Any = None,
    **options: Any,
) -> None:
    """Convert edge lists or CSV files to one partitioned .tg file by all ranks of a process group, which all call this.
    The result equals that of `tgraph.stream.convert` from the same files in the same order.

    paths : the files; each rank reads consecutive ones, of about equally many bytes.
    parts : how many blocks a section has; None takes as few as can be sorted in memory, and a multiple of the ranks.
    memory : the memory budget of each rank beside Python itself and its modules; see `tgraph.stream.convert`. One more
        table of 8 bytes for each vertex and section is held.
    progress : True shows progress bars on rank 0.
    group : a process group of torch.distributed that exchanges tensors on the CPU; None is the default one.

    layout, options : as of `tgraph.stream.convert`. All ranks must see the same files and the folder of `path_out`,
    whose disk must hold the result twice, in addition to the bytes named there. Raises as that function does, on the
    rank where it happens, and RankError on the others; ArgumentError where no process group was made.

    >>> tg.write(tg.generators.grid2d(30, 30), "grid.el")
    >>> tg.distributed.convert("grid.el", "blocks.tg", directed=False)  # on all ranks
    >>> tg.distributed.open("blocks.tg").num_edges
    1740
    """
    team = _Team(made(group))
    given = {"paths": paths, "path_out": path_out, "parts": parts, "memory": memory, "layout": layout} | options
    what = {"the call": "tgraph.distributed.convert"} | {name: str(value) for name, value in given.items()}
    with together(team.group, what):
        budget = parse_memory(memory)
        check_layout(layout, None)
        files = planned(paths, options, path_out)
        parts = None if parts is None else as_count(parts, "parts")
        progress = progress and team.rank == 0
        with (
            team.folder(path_out) as folder,
            room_for(path_out, needed(files)),
            _Reader(files, folder / f"runs-{team.rank}", budget, team) as reading,
        ):
            reading.read(_share(files, team), progress)
            _Sorter(reading, folder, budget, parts, progress, layout, team).write(path_out)


class _Team:
    """The ranks of a process group."""

    def __init__(self, group: Any):
        self.group, self.rank, self.size = group, dist.get_rank(group), dist.get_world_size(group)

    def gather(self, value: Any) -> list[Any]:
        """The values of all ranks, by rank; a barrier."""
        found: list[Any] = [None] * self.size
        dist.all_gather_object(found, value, group=self.group)
        return found

    def each(self, value: Any) -> Iterator[Any]:
        """The values of all ranks one after the other, so that one is in memory at a time."""
        for rank in range(self.size):
            yield self.value_of(rank, value)

    def value_of(self, rank: int, value: Any) -> Any:
        """The value of one rank."""
        found = [value]
        dist.broadcast_object_list(found, group=self.group, group_src=rank)
        return found[0]

    def sum(self, counts: Tensor) -> Tensor:
        """The sum of integers over the ranks; `counts` stays as it is."""
        total = counts.clone()
        dist.all_reduce(total, group=self.group)
        return total

    @contextmanager
    def folder(self, path: PathLike) -> Iterator[Path]:
        """A temporary folder beside `path` that rank 0 makes, and removes when all ranks have left it."""
        with ExitStack() as stack:
            made = stack.enter_context(temporary_folder(path)) if self.rank == 0 else None
            yield Path(self.value_of(0, made))
            self.gather(None)


def _share(files: Sequence[PlannedFile], team: _Team) -> list[PlannedFile]:
    """The files that this rank reads: the order by rank is that of the files."""
    sizes = [os.path.getsize(file.path) for file in files]
    total, before, mine = max(sum(sizes), 1), 0, []
    for file, size in zip(files, sizes, strict=True):
        if min((2 * before + size) * team.size // (2 * total), team.size - 1) == team.rank:
            mine.append(file)
        before += size
    return mine


class _Reader(EdgeReader):
    """The edges of the files of this rank, by the numbers of all vertices. degrees : of all edges. own_degrees : of the
    edges of this rank."""

    copies, alone = 3, False

    def __init__(self, files: Sequence[PlannedFile], path: Path, memory: int, team: _Team):
        super().__init__(files, path, memory)
        self._team = team

    def __enter__(self) -> _Reader:
        return self

    def read(self, files: Sequence[PlannedFile], progress: bool) -> None:
        super().read(files, progress)
        self.own_degrees = self.degrees
        self.degrees = [self._team.sum(degree) for degree in self.own_degrees]

    def _conclude(self) -> None:
        for noted in self._team.each(self.numbering.noted()):
            self.numbering.unite(noted)
        super()._conclude()
        if self.mirror is not None:
            self.mirror.total = sum(self._team.gather(self.mirror.total))

    def _common(self, dtypes: set[torch.dtype]) -> torch.dtype | None:
        return super()._common(set().union(*self._team.gather(dtypes)))


class _Sorter(BlockSorter):
    """Sorts arcs that all ranks have read into blocks, some of them on this rank."""

    copies = 3

    def __init__(
        self,
        reading: _Reader,
        folder: Path,
        memory: int,
        parts: int | None,
        progress: bool,
        layout: str | None,
        team: _Team,
    ):
        super().__init__(reading, folder, memory, parts, progress, layout, team.size)
        self._team, self._own = team, [offset_of(degree) for degree in reading.own_degrees]
        reading.own_degrees.clear()

    def write(self, path: PathLike) -> None:
        blocks, offsets = [], []
        for number in range(len(self._sections)):
            written, offset = self._write_own(number)
            blocks.append(self._team.gather(written))
            offsets.append(offset)
        self._join(path, blocks, offsets)

    def _write_own(self, number: int) -> tuple[list[Written], Tensor]:
        """Write the blocks of a section that are this rank's to a file of its own; returns these, and the offsets of
        all blocks of the section, int64 [n + 1]."""
        team, section = self._team, self._sections[number]
        sizes = self._own[number][section.rows].diff()
        with self._buckets(self._path("buckets", number), sizes) as buckets:
            self._scatter(number, buckets)
        chosen = _range_of(section.sizes, team)
        with ExitStack() as stack, open(self._path("blocks", number), "wb") as file:
            scattered = [
                stack.enter_context(self._buckets(self._path("buckets", number, rank), sizes, filled=True))
                for rank, sizes in enumerate(team.gather(sizes))
            ]
            writer = BlockWriter(file, self._info)
            offset = self._sort(number, chosen, lambda bucket: _joined([of.read(bucket) for of in scattered]), writer)
        team.gather(None)  # all have read the buckets
        self._path("buckets", number).unlink()
        if self._reading.rules.multi == "keep":
            return writer.blocks, offset
        return self._merged(number, chosen, writer.blocks, offset)

    def _merged(
        self, number: int, chosen: range, blocks: list[Written], offset: Tensor
    ) -> tuple[list[Written], Tensor]:
        """As `_sort`, for merged parallel arcs, whose numbers are known only after all ranks have sorted."""
        rows = self._sections[number].rows
        first, end = int(rows[chosen.start]), int(rows[chosen.stop])
        before = sum(self._team.gather(int(offset[end]))[: self._team.rank])
        degree = torch.zeros(self._info.num_vertices, dtype=torch.int64, device="cpu")
        degree[first:end] = offset[first : end + 1].diff()
        moved = [
            block._replace(
                extent=block.extent._replace(
                    first_arc=block.extent.first_arc + before, end_arc=block.extent.end_arc + before
                )
            )
            for block in blocks
        ]
        return moved, offset_of(self._team.sum(degree))

    def _join(self, path: PathLike, blocks: list[list[list[Written]]], offsets: list[Tensor]) -> None:
        """Copy the blocks, by section and rank, from the files of the ranks to the one of all."""
        team, placed, own = self._team, list[Written](), list[int]()
        for section in blocks:
            for rank, written in enumerate(section):
                start = PAGE if not placed else _end(placed[-1])
                own += [start] if rank == team.rank else []
                placed += [
                    block._replace(extent=block.extent._replace(position=block.extent.position + start - PAGE))
                    for block in written
                ]
        resident = resident_tensors(offsets, None, self._reading.vertices) if team.rank == 0 else {}
        size = _end(placed[-1]) + 8 * len(Extent._fields) * len(placed) + sum(each.nbytes for each in resident.values())
        with ExitStack() as stack:
            file = stack.enter_context(whole_file(path, size)) if team.rank == 0 else None
            target = team.value_of(0, None if file is None else os.path.abspath(file.name))
            for number, start in enumerate(own):
                _copy(self._path("blocks", number), target, start)
            team.gather(None)
            if file is not None:
                writer = BlockWriter(file, self._info)
                writer.blocks = placed
                writer.finish(resident, num_arcs=int(offsets[0][-1]))
        team.gather(None)

    def _path(self, what: str, number: int, rank: int | None = None) -> Path:
        """The file of a rank, of a section; without `rank` of this one."""
        return self._folder / f"{what}-{number}-{self._team.rank if rank is None else rank}"


def _range_of(sizes: Tensor, team: _Team) -> range:
    """The buckets that this rank sorts: consecutive ones, of about equally many arcs on each rank."""
    middle, total = sizes.cumsum(0) * 2 - sizes, max(int(sizes.sum()), 1)
    rank = (middle * team.size // (2 * total)).clamp_(max=team.size - 1)
    first, end = torch.searchsorted(rank, torch.tensor([team.rank, team.rank + 1], device="cpu")).tolist()
    return range(first, end)


def _joined(pieces: list[Edges]) -> Edges:
    """The edges that several ranks have scattered to a bucket, in the order of the ranks."""
    sources, targets, weights = zip(*pieces, strict=True)
    return torch.cat(sources), torch.cat(targets), None if weights[0] is None else torch.cat(weights)


def _end(block: Written) -> int:
    return block.extent.position + block.extent.nbytes


def _copy(source: Path, target: str, position: int) -> None:
    """The blocks of a file, which begin at its second page, to another from `position` on, and to disk."""
    with open(source, "rb") as blocks, open(target, "r+b") as file:
        blocks.seek(PAGE)
        file.seek(position)
        while data := blocks.read(_COPIED):
            file.write(data)
        file.flush()
        os.fsync(file.fileno())
