"""Block-wise merging of runs with each other and into arcs: neither the input nor the result has to fit the memory.
The next block is read while one is merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial

import torch
from torch import Tensor

from tgraph.dynamic.columns import Column, Place, columns_of, read_ranges
from tgraph.dynamic.runs import Arcs, Run, Schema, merged, no_changes, spliced

BLOCK = 1 << 22  # arcs and changes that are in memory at a time, but where a row is longer
_LEAST = 1 << 12
_WORK = 256  # bytes for each of them, generously
_BEHIND = (1 << 63) - 1  # all changes

PlacesOf = Callable[["Arcs | Run"], list[Place]]
Range = tuple[Column, int, int]


def in_memory(part: Arcs | Run) -> list[Place]:
    """No places: arcs and runs lie in memory."""
    return []


def block_size(memory: int) -> int:
    """Number of arcs and changes to merge at a time within `memory` bytes, about."""
    return min(BLOCK, max(memory // _WORK, _LEAST))


def merged_blocks(schema: Schema, runs: Sequence[Run], size: int, places_of: PlacesOf = in_memory) -> Iterator[Run]:
    """The merged `runs`, oldest first, in consecutive parts of about `size` changes each. places_of : the places of
    mapped tensors in their files."""
    bounds = _rows_at(torch.empty(0, dtype=torch.int64), runs, size)
    with ExitStack() as files:
        changes = [_Changes(run, [0, *bounds, 1 << 31], places_of, files) for run in runs]
        for number, tensors in enumerate(_each_read([_of(changes, number) for number in range(len(bounds) + 1)])):
            if parts := _runs(changes, number, tensors):
                yield merged(schema, parts)


def spliced_blocks(
    schema: Schema, arcs: Arcs, runs: Sequence[Run], num_rows: int, size: int, places_of: PlacesOf = in_memory
) -> Iterator[Arcs]:
    """The arcs with the runs applied, as CSR of consecutive rows with offsets from 0, each part of about `size` arcs
    and changes. places_of : the places of mapped tensors in their files."""
    bounds = [0, *(row for row in _rows_at(arcs.offset, runs, size) if row < num_rows), num_rows]
    with ExitStack() as files:
        changes = [_Changes(run, bounds, places_of, files) for run in runs]
        columns = _opened((arcs.neighbors, *arcs.data), places_of(arcs), files)
        ends = arcs.offset[torch.tensor(bounds).clamp(max=len(arcs.offset) - 1)].tolist()
        wanted = [
            [(column, ends[number], ends[number + 1]) for column in columns] + _of(changes, number)
            for number in range(len(bounds) - 1)
        ]
        for number, tensors in enumerate(_each_read(wanted)):
            first, last = bounds[number : number + 2]
            rows = min(first, len(arcs.offset) - 1), min(last, len(arcs.offset) - 1)
            offset = arcs.offset[rows[0] : rows[1] + 1] - ends[number]
            block = Arcs(offset, tensors[0], tuple(tensors[1 : len(columns)]))
            parts = [
                Run(part.changes - (first << 32), part.data, part.num_vertices)  # with rows from `first` on
                for part in _runs(changes, number, tensors[len(columns) :])
            ]
            run = merged(schema, parts) if parts else no_changes(arcs)
            yield spliced(schema, block, run, last - first)


class _Changes:
    """The columns of a run, and where the changes of each block begin. bounds : the first row of each, and the end."""

    def __init__(self, run: Run, bounds: Sequence[int], places_of: PlacesOf, files: ExitStack):
        self.columns = _opened((run.changes, *run.data), places_of(run), files)
        self.num_vertices = run.num_vertices
        keys = [min(row << 32, _BEHIND) for row in bounds]
        self.begins = torch.searchsorted(run.changes, torch.tensor(keys)).tolist()


def _opened(tensors: Sequence[Tensor], places: Sequence[Place], files: ExitStack) -> list[Column]:
    columns = columns_of(tensors, places)
    for column in columns:
        files.enter_context(closing(column))
    return columns


def _of(changes: Sequence[_Changes], number: int) -> list[Range]:
    """The ranges of a block, of the runs with changes there."""
    return [
        (column, run.begins[number], run.begins[number + 1])
        for run in changes
        if run.begins[number] < run.begins[number + 1]
        for column in run.columns
    ]


def _runs(changes: Sequence[_Changes], number: int, tensors: Sequence[Tensor]) -> list[Run]:
    """The parts of runs that were read."""
    found, read = list[Run](), iter(tensors)
    for run in changes:
        if run.begins[number] < run.begins[number + 1]:
            first, *data = (next(read) for _ in run.columns)
            found.append(Run(first, tuple(data), run.num_vertices))
    return found


def _each_read(wanted: Sequence[list[Range]]) -> Iterator[list[Tensor]]:
    """The tensors of each block, valid until the next one is asked for, which is read meanwhile."""
    memory: list[Tensor | None] = [None, None]
    with ThreadPoolExecutor(1, "tgraph merging") as reader:
        coming = [reader.submit(partial(read_ranges, ranges, None)) for ranges in wanted[:1]]
        for number in range(len(wanted)):
            tensors, memory[number % 2] = coming.pop().result()
            if number + 1 < len(wanted):
                coming.append(reader.submit(partial(read_ranges, wanted[number + 1], memory[(number + 1) % 2])))
            yield tensors


def _rows_at(offset: Tensor, runs: Sequence[Run], size: int) -> list[int]:
    """Rows above 0, ascending, between which there are at most about `size` arcs and changes, unless they are of one
    row: of each source the row of every `step`-th number is taken, and of all these together one in as many as there
    are sources."""
    total, count = int(offset[-1]) if len(offset) else 0, len(runs) + 1
    step = max(size // (2 * count), 1)
    rows = [run.changes[step::step] >> 32 for run in runs]
    rows.append(torch.searchsorted(offset, torch.arange(step, max(total, step), step)))
    found = torch.unique(torch.cat(rows).sort().values[count - 1 :: count])
    return found[found > 0].tolist()
