"""Changes of the arcs of a graph, in torch operators.

A change is one number, so that sorted changes lie by row, then column: the row in bits 32 to 62, the column in bits 1
to 31, and bit 0 says that the arc is there. A deletion comes before the arcs of its pair that were inserted after it:
what follows a deletion is all that is left of the pair.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
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
) -> tuple[Tensor, Tensor | None]:
    """The sorted changes of a batch that inserts or deletes the arcs rows[i] -> columns[i], integers [k]; those of one
    pair in the order given, and of deletions, or where the `last` of parallel arcs stays, the last one only.

    Returns the changes and, if `numbered`, the place of each in the batch, int32. Raises ArgumentError for a vertex
    that is negative or above 2^31 - 2.
    """
    if bool(((rows | columns) < 0).any()) or bool((torch.maximum(rows, columns) > LARGEST_VERTEX).any()):
        refuse_vertex(rows, columns)
    changes, items = torch.sort(rows.to(torch.int64) << 32 | columns.to(torch.int64) << 1 | int(there), stable=True)
    if parallel == "last" or not there:
        stays = torch.ones_like(changes, dtype=torch.bool)
        stays[:-1] = changes[:-1] != changes[1:]
        changes, items = changes[stays], items[stays]
    return changes, items.to(torch.int32) if numbered else None


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
def merge_changes(
    older: Tensor, newer: Tensor, parallel: Parallel, numbered: bool
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Two sorted runs of changes, int64 [k] and [l], as one that says the same of every graph.

    If `numbered`, also the place of each change, that of a newer one counted from k on, int64; and, where weights are
    added up (`sum`), the place of the newer arc that is added to it, or -1.
    """
    changes, place = torch.sort(torch.cat((older, newer)), stable=True)
    pair = changes >> 1
    is_new = place >= len(older)
    _, group = torch.unique_consecutive(pair, return_inverse=True)
    groups = int(group[-1]) + 1 if len(group) else 0

    def any_of(condition: Tensor) -> Tensor:
        found = torch.zeros(groups, dtype=torch.bool, device=changes.device)
        found[group[condition]] = True
        return found[group]

    renewed = any_of(is_new) if parallel == "last" else any_of(is_new & ~inserts(changes))
    stays = is_new | ~renewed
    second = None
    if parallel == "sum":
        older_arc = ~is_new & inserts(changes) & stays
        newer_arc = is_new & inserts(changes) & any_of(older_arc)
        arc_of = torch.full((groups,), -1, dtype=torch.int64, device=changes.device)
        arc_of[group[newer_arc]] = place[newer_arc]
        second = torch.where(older_arc, arc_of[group], -1)
        stays = stays & ~newer_arc
        second = second[stays]
    return changes[stays], place[stays] if numbered else None, second if numbered else None


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
def splice(base: Tensor, items: Tensor | None, located: Located, out: Tensor) -> Tensor:
    """`base`, a number [m] for each arc of a CSR, with the changes applied, written to `out` [located.size]: `items`
    [k], of which those of deletions are not read, are put in, or without them the columns of the changes."""
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
