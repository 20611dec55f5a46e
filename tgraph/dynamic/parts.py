"""Parts of a version, each read from the CSR and the runs of changes, and merged, by itself."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.dynamic.columns import Column, Place, columns_of, read_ranges
from tgraph.dynamic.runs import WEIGHTS, Arcs, Run, Schema, merged, spliced
from tgraph.dynamic.version import Version
from tgraph.stream.file.writing import ArcRange, local_offset

_COLUMN = 2**31 - 1
_LAST = 2**63 - 1  # behind all changes


class Part(NamedTuple):
    """A part of the arcs: the rows from `first_row` to `end_row - 1`, of which the first and the last may continue in
    other parts; the arcs [begin, end) of the CSR; the changes [begins[i], ends[i]) of each run."""

    first_row: int
    end_row: int
    begin: int
    end: int
    begins: list[int]
    ends: list[int]

    @property
    def changes(self) -> int:
        """The number of changes."""
        return sum(self.ends) - sum(self.begins)


# The columns of a part as read, of the CSR and then of each run with changes there, and the memory that holds them.
Read = tuple[list[Tensor], Tensor]


class VersionParts:
    """The arcs of a version with their weights, and no other columns of arc data.

    held : bytes; runs that together take no more are merged in memory at once.

    Attributes: schema, base and runs, of the tensors in memory or on maps; `nbytes`, of the runs merged at once.
    """

    schema: Schema
    nbytes: int

    def __init__(self, version: Version, held: int):
        base, runs = version.known()
        base.verified(runs)
        columns = version.schema.columns
        self._chosen = [place for place, name in enumerate(columns) if name == WEIGHTS]
        self.schema = Schema(version.schema.parallel, {name: columns[name] for name in columns if name == WEIGHTS})
        self.base: Arcs = Arcs(base.offset, base.neighbors, self._of(base.data))
        self.runs = [Run(run.changes, self._of(run.data), run.num_vertices) for run in runs]
        self._columns = [self._opened((base.neighbors, *base.data), base.places_of(base))]
        self.nbytes = 0
        if len(runs) > 1 and sum(run.nbytes for run in self.runs) <= held:
            self.runs = [merged(self.schema, self.runs)]
            self.nbytes = self.runs[0].nbytes
            self._columns.append(columns_of((self.runs[0].changes, *self.runs[0].data), []))
        else:
            self._columns += [self._opened((run.changes, *run.data), base.places_of(run)) for run in runs]

    def _of(self, data: Sequence[Tensor]) -> tuple[Tensor, ...]:
        return tuple(data[place] for place in self._chosen)

    def _opened(self, tensors: Sequence[Tensor], places: Sequence[Place]) -> list[Column]:
        columns = columns_of(tensors, places)
        return [columns[place] for place in (0, *(place + 1 for place in self._chosen))]

    def close(self) -> None:
        """Close the files."""
        for columns in self._columns:
            for column in columns:
                column.close()

    @property
    def pending(self) -> int:
        """The number of changes."""
        return sum(run.size for run in self.runs)

    # ---- planning --------------------------------------------------------------------------------------------------

    def cut(self, size: int, num_vertices: int) -> list[Part]:
        """Parts of at most `size` items, of which a change counts two and an arc one; a part of a single pair of
        vertices may be larger."""
        sources = 1 + len(self.runs)
        step = max(size // (2 * sources), 1)
        places = torch.arange(step, max(len(self.base.neighbors), step), step)
        rows = torch.searchsorted(self.base.offset, places, right=True) - 1
        keys = [rows << 32 | self.base.neighbors[places].to(torch.int64) << 1]
        keys += [run.changes[each::each] & ~1 for run in self.runs for each in [max(step // 2, 1)]]
        found = torch.unique(torch.cat(keys).sort().values[sources - 1 :: sources])
        parts = self._between([0, *found[found > 0].tolist(), _LAST], num_vertices)
        for columns in self._columns:
            columns[0].let_go()
        return parts

    def _between(self, keys: Sequence[int], num_vertices: int) -> list[Part]:
        """The parts between ascending changes."""
        bases = [self._base_place(key) for key in keys]
        runs = [torch.searchsorted(run.changes, torch.tensor(keys)).tolist() for run in self.runs]
        parts = []
        for number, (key, following) in enumerate(itertools.pairwise(keys)):
            end_row = min((following - 1 >> 32) + 1, num_vertices)
            begins, ends = ([places[at] for places in runs] for at in (number, number + 1))
            parts.append(Part(key >> 32, end_row, bases[number], bases[number + 1], begins, ends))
        return parts

    def _base_place(self, key: int) -> int:
        """The first arc of the CSR that is not before a change."""
        row = key >> 32
        if row >= len(self.base.offset) - 1:
            return len(self.base.neighbors)
        begin, end = self.base.offset[row : row + 2].tolist()
        return begin + int(torch.searchsorted(self.base.neighbors[begin:end], key >> 1 & _COLUMN))

    # ---- parts -----------------------------------------------------------------------------------------------------

    def read(self, part: Part, memory: Tensor | None = None, data: bool = True) -> Read:
        """Read a part, without weights if not `data`, into `memory` where that suffices."""
        width = self._width(data)
        wanted = [(column, part.begin, part.end) for column in self._columns[0][:width]]
        for columns, begin, end in zip(self._columns[1:], part.begins, part.ends, strict=True):
            if begin < end:
                wanted += [(column, begin, end) for column in columns[:width]]
        return read_ranges(wanted, memory)

    def merge(self, part: Part, tensors: Sequence[Tensor], out: Sequence[Tensor] = (), data: bool = True) -> Arcs:
        """The arcs of a part from its tensors as read, with offsets of its rows from 0. out : tensors to write the
        neighbours and weights to; without them new ones are made if anything changes."""
        width, rows = self._width(data), len(self.base.offset) - 1
        block = ArcRange(min(part.first_row, rows), min(part.end_row, rows), part.begin, part.end)
        arcs = Arcs(local_offset(self.base.offset, block), tensors[0], tuple(tensors[1:width]))
        num_rows = part.end_row - part.first_row
        if not part.changes:
            for place, column in zip(out, (arcs.neighbors, *arcs.data), strict=False):
                place.copy_(column)
            missing = num_rows + 1 - len(arcs.offset)
            return arcs._replace(offset=torch.cat((arcs.offset, arcs.offset[-1:].expand(missing))))
        schema = self.schema if data else Schema(self.schema.parallel, {})
        run = merged(
            schema,
            [Run(tensors[at], tuple(tensors[at + 1 : at + width]), 0) for at in range(width, len(tensors), width)],
        )
        moved = Run(run.changes - (part.first_row << 32), run.data, 0)
        return spliced(schema, arcs, moved, num_rows, out)

    def _width(self, data: bool) -> int:
        """The number of columns to read, of arcs or of a run."""
        return 1 + (len(self._chosen) if data else 0)
