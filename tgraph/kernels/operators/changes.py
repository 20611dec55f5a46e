"""Changes of the arcs of a graph, in torch operators.

A change is one number, so that sorted changes lie by row, then column: the row in bits 32 to 62, the column in bits 1
to 31, and bit 0 says that the arc is there. A deletion comes before the arcs of its pair that were inserted after it:
what follows a deletion is all that is left of the pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from tgraph.core.building import sorting, validate
from tgraph.core.dispatch import operator
from tgraph.core.rows import gather_stretches, offset_of
from tgraph.errors import ArgumentError

Parallel = Literal["last", "sum", "keep"]
PARALLEL: tuple[Parallel, ...] = ("last", "sum", "keep")

LARGEST_VERTEX = 2**31 - 2  # the number of vertices is an int32, too
_COLUMN = 2**31 - 1


class Located(NamedTuple):
    """Where sorted changes int64 [k] apply to the m arcs of a CSR.

    place : int64 [k], the arc before which. skip : int32 [k], how many arcs from there are left out. target : int64
    [k], the place of what is inserted in the changed CSR. size : its number of arcs.
    """

    changes: Tensor
    place: Tensor
    skip: Tensor
    target: Tensor
    size: int

    def added_to(self) -> Tensor:
        """The changes whose arc takes the place of one that is there, int64 [c]."""
        return ((self.skip > 0) & inserts(self.changes)).nonzero().view(-1)


def inserts(changes: Tensor) -> Tensor:
    """Which changes insert an arc, bool [k]; the others delete all arcs of their pair."""
    return (changes & 1).bool()


def rows_of(changes: Tensor) -> Tensor:
    """The row of each change, int64 [k]."""
    return changes >> 32


def columns_of(changes: Tensor) -> Tensor:
    """The column of each change, int64 [k]."""
    return (changes >> 1) & _COLUMN


@operator
def sort_changes(
    rows: Tensor, columns: Tensor, there: bool, parallel: Parallel, numbered: bool
) -> tuple[Tensor, Tensor | None, int]:
    """The sorted changes of a batch that inserts or deletes the arcs rows[i] -> columns[i], integers [k], as
    `merge_changes` leaves them.

    Returns the changes, if `numbered` the place of each in the batch, int32, and one more than the largest vertex.
    Raises ArgumentError for a vertex that is negative or above 2^31 - 2.
    """
    num_vertices = int(torch.maximum(rows, columns).max()) + 1 if len(rows) else 0
    if num_vertices > LARGEST_VERTEX + 1 or bool(((rows | columns) < 0).any()):
        refuse_vertex(rows, columns)
    changes = rows.to(torch.int64) << 32 | columns.to(torch.int64) << 1 | int(there)
    return *_in_order(changes, parallel, numbered), num_vertices


def refuse_vertex(rows: Tensor, columns: Tensor) -> None:
    """Raise the ArgumentError for the first number that is no vertex."""
    wrong = (rows < 0) | (columns < 0) | (rows > LARGEST_VERTEX) | (columns > LARGEST_VERTEX)
    if not wrong.any():
        return
    place = int(wrong.nonzero()[0])
    of_row = not 0 <= int(rows[place]) <= LARGEST_VERTEX
    name, vertex = ("src", int(rows[place])) if of_row else ("dst", int(columns[place]))
    raise ArgumentError(
        f"{name}: {vertex} at position {place} is no vertex: they are numbers from 0 to {LARGEST_VERTEX}; "
        'open the store with ids="any" for other ids'
    )


@operator
def are_vertices(vertices: Tensor, num_vertices: int) -> bool:
    """Whether int64 [k] are all in 0..num_vertices-1."""
    return validate.are_below(vertices, num_vertices)


@operator
def merge_changes(runs: Sequence[Tensor], parallel: Parallel, numbered: bool) -> tuple[Tensor, Tensor | None]:
    """Runs of sorted changes int64 [k], at least one, oldest first, as one run that says the same: of each pair the
    last deletion and the arcs inserted after it, or, where the `last` of parallel arcs stays, the last change alone. If
    `numbered`, also the place of each among those of the runs, one behind the other, int32."""
    return _in_order(torch.cat(tuple(runs)), parallel, numbered)


def _in_order(runs: Tensor, parallel: Parallel, numbered: bool) -> tuple[Tensor, Tensor | None]:
    """Changes in the order of time, as one sorted run."""
    place = torch.sort(runs >> 1, stable=True).indices
    changes = runs[place]
    ends = torch.ones_like(changes, dtype=torch.bool)
    ends[:-1] = (changes[1:] >> 1) != (changes[:-1] >> 1)
    stays = ends
    if parallel != "last":
        group = torch.cumsum(ends, 0) - ends.to(torch.int64)
        number = torch.arange(len(changes), device=changes.device)
        deletion = torch.zeros(int(ends.sum()), dtype=torch.int64, device=changes.device)
        deletion.scatter_reduce_(0, group, torch.where(inserts(changes), 0, number), "amax")
        stays = number >= deletion[group]
    return changes[stays], place[stays].to(torch.int32) if numbered else None


@operator
def inserted_rows(runs: Sequence[Tensor], num_rows: int) -> tuple[Tensor, Tensor] | None:
    """The rows of the arcs that runs of sorted changes int64 [k], at least one, insert, of each row one run after the
    other: (offset int64 [num_rows + 1], neighbors int32). None where one deletes."""
    changes = torch.cat(tuple(runs))
    if not bool(inserts(changes).all()):
        return None
    order = torch.sort(rows_of(changes), stable=True).indices
    degree = torch.bincount(rows_of(changes), minlength=num_rows)
    return offset_of(degree), columns_of(changes)[order].to(torch.int32)


@operator
def locate_changes(
    offset: Tensor, neighbors: Tensor, changes: Tensor, parallel: Parallel, num_rows: int
) -> tuple[Tensor, Located]:
    """Where the sorted changes apply to a CSR with ascending rows, and the offsets of the changed one, int64
    [num_rows + 1]; rows that the CSR lacks are empty."""
    offset = torch.cat((offset, offset.new_full((num_rows + 1 - len(offset),), len(neighbors))))
    arcs = (sorting.expand_rows(offset) << 32) | (neighbors.to(torch.int64) << 1)
    pair = changes & ~1
    begin, end = torch.searchsorted(arcs, pair), torch.searchsorted(arcs, pair, right=True)
    is_first = torch.ones_like(pair, dtype=torch.bool)
    is_first[1:] = pair[1:] != pair[:-1]
    replaces = is_first & (torch.full_like(is_first, parallel != "keep") | ~inserts(changes))
    place = torch.where(replaces, begin, end)
    skip = torch.where(replaces, end - begin, 0)
    growth = inserts(changes).to(torch.int64) - skip
    moved = torch.cumsum(growth, 0)
    target = place + moved - growth
    by_row = torch.zeros(num_rows, dtype=torch.int64, device=changes.device).index_add_(0, rows_of(changes), growth)
    changed = offset.clone()
    changed[1:] += torch.cumsum(by_row, 0)
    return changed, Located(changes, place, skip.to(torch.int32), target, int(changed[-1]))


@operator
def splice(base: Tensor, items: Tensor | None, located: Located, out: Tensor | None = None) -> Tensor:
    """`base`, a number [m] for each arc of a CSR, with the changes applied, [located.size]: `items`
    [k], of which those of deletions are not read, are put in, or without them the columns of the changes. `out` : where
    the result goes, else to new memory."""
    out = base.new_empty(located.size) if out is None else out
    there = inserts(located.changes)
    put = columns_of(located.changes).to(base.dtype) if items is None else items
    bound = torch.zeros(len(base) + 1, dtype=torch.int64, device=base.device)
    bound.index_add_(0, located.place, torch.where(located.skip > 0, 1, 0))
    bound.index_add_(0, located.place + located.skip, torch.where(located.skip > 0, -1, 0))
    stays = torch.cumsum(bound[:-1], 0) == 0
    free = torch.ones(located.size, dtype=torch.bool, device=base.device)
    free[located.target[there]] = False
    out[free] = base[stays]
    out[located.target[there]] = put[there]
    return out


class Readable:
    """Sorted changes with their columns of arc data, as rows are read from them again and again. kept : what a backend
    keeps to do so sooner."""

    changes: Tensor
    columns: tuple[Tensor, ...]

    __slots__ = ("changes", "columns", "kept")

    def __init__(self, changes: Tensor, columns: tuple[Tensor, ...]):
        self.changes, self.columns = changes, columns
        self.kept: Any = None


@operator
def read_rows(
    arcs: tuple[Tensor, ...], runs: Sequence[Readable], rows: Tensor, parallel: Parallel
) -> tuple[Tensor, ...]:
    """Rows of a CSR with the changes of runs: (offset [k + 1], neighbors, *columns of arc data).

    arcs : (offset, neighbors, *columns) of the CSR. runs : oldest first. rows : int64 [k]; those that the CSR lacks are
    empty there. parallel : "last" or "keep".
    """
    offset, neighbors, *data = arcs
    known = torch.where(rows < len(offset) - 1, rows, 0) if len(offset) > 1 else rows[:0]
    degree = torch.zeros_like(rows) if not len(known) else (offset[known + 1] - offset[known]) * (known == rows)
    row, place = _stretches(offset[known] if len(known) else degree, degree)
    parts = [(_changes(row, neighbors[place], 1), *(column[place] for column in data))]
    for run in runs:
        first, last = (torch.searchsorted(run.changes, bound) for bound in (rows << 32, (rows + 1) << 32))
        row, place = _stretches(first, last - first)
        found = run.changes[place]
        parts.append((_changes(row, columns_of(found), found & 1), *(column[place] for column in run.columns)))
    together, *data = (torch.cat(column) for column in zip(*parts, strict=True))
    merged, order = _in_order(together, parallel, True)
    assert order is not None
    there = inserts(merged)
    merged, order = merged[there], order[there]
    degree = torch.bincount(rows_of(merged), minlength=len(rows))
    return offset_of(degree), columns_of(merged).to(neighbors.dtype), *(column[order] for column in data)


def _changes(row: Tensor, column: Tensor, there: Tensor | int) -> Tensor:
    return row << 32 | column.to(torch.int64) << 1 | there


def _stretches(first: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
    """The row and the place of each entry of rows [k] that begin at `first`."""
    offset, place = gather_stretches(first, length)
    return sorting.expand_rows(offset), place
