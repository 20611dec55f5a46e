"""Runs merged with each other and into arcs block by block, so that neither what they are made of nor what is made has
to fit the memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from tgraph.dynamic.runs import Arcs, Run, Schema, merged, spliced

BLOCK = 1 << 22  # arcs and changes that are in memory at a time, but where a row is longer
_LEAST = 1 << 12
_WORK = 256  # bytes for each of them, generously


def block_size(memory: int) -> int:
    """How many arcs and changes are merged at a time within so many bytes, about."""
    return min(BLOCK, max(memory // _WORK, _LEAST))


def merged_blocks(schema: Schema, runs: Sequence[Run], size: int) -> Iterator[Run]:
    """The run that the `runs` make, oldest first, in parts one behind the other, each made of about `size` changes."""
    bounds = _rows_at(torch.empty(0, dtype=torch.int64), runs, size)
    for first, last in zip([0, *bounds], [*bounds, 1 << 31], strict=True):
        parts = [part for run in runs if (part := _between(run, first, last)).size]
        if parts:
            yield merged(schema, parts)


def spliced_blocks(schema: Schema, arcs: Arcs, runs: Sequence[Run], num_rows: int, size: int) -> Iterator[Arcs]:
    """The arcs with the runs applied, as CSR of consecutive rows, each with offsets from 0, made of about `size` arcs
    and changes."""
    bounds = [row for row in _rows_at(arcs.offset, runs, size) if row < num_rows]
    for first, last in zip([0, *bounds], [*bounds, num_rows], strict=True):
        parts = [_moved(part, first) for run in runs if (part := _between(run, first, last)).size]
        run = merged(schema, parts) if parts else Run(torch.empty(0, dtype=torch.int64), _none(arcs), 0)
        yield spliced(schema, _rows(arcs, first, last), run, last - first)


def _none(arcs: Arcs) -> tuple[Tensor, ...]:
    return tuple(column[:0] for column in arcs.data)


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


def _between(run: Run, first: int, last: int) -> Run:
    """The changes of some rows."""
    bounds = torch.searchsorted(run.changes, torch.tensor([first << 32, (last << 32) - 1]))
    begin, end = bounds.tolist()
    return Run(run.changes[begin:end], tuple(column[begin:end] for column in run.data), run.num_vertices)


def _moved(run: Run, row: int) -> Run:
    """The run with rows counted from `row`."""
    return Run(run.changes - (row << 32), run.data, run.num_vertices)


def _rows(arcs: Arcs, first: int, last: int) -> Arcs:
    """Some rows, of which those that are not there are empty."""
    rows = len(arcs.offset) - 1
    offset = arcs.offset[min(first, rows) : min(last, rows) + 1]
    begin, end = int(offset[0]), int(offset[-1])
    return Arcs(offset - begin, arcs.neighbors[begin:end], tuple(column[begin:end] for column in arcs.data))
