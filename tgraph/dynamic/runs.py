"""Sorted runs of changes, and the arcs in CSR that they are merged into."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tgraph.core import sums
from tgraph.core.building import sorting
from tgraph.core.rows import offset_of
from tgraph.dynamic.columns import Place
from tgraph.kernels.operators import changes as kernels
from tgraph.kernels.operators.changes import Located, Parallel, Readable

WEIGHTS = "weights"
TIMES = "times"


class Schema(NamedTuple):
    """The columns of an arc in a store: the rule for parallel arcs, and the dtype of each column of arc data by name.
    The rule "sum" adds up the column `weights`; of other columns the last value stays."""

    parallel: Parallel
    columns: dict[str, torch.dtype]

    @property
    def summed(self) -> int | None:
        """The place of the weights among the columns, where they are added up; else None."""
        return list(self.columns).index(WEIGHTS) if self.parallel == "sum" and WEIGHTS in self.columns else None


class Run:
    """Sorted changes int64 [k], see `tgraph.kernels.operators.changes`, and the columns of arc data [k] each, with
    arbitrary values for deletions.

    size : k; the length of a tensor takes a microsecond. num_vertices : one more than the largest vertex.
    """

    __slots__ = ("_readable", "changes", "data", "num_vertices", "size")

    def __init__(self, changes: Tensor, data: tuple[Tensor, ...], num_vertices: int):
        self.changes: Tensor = changes
        self.data: tuple[Tensor, ...] = data
        self.size: int = changes.shape[0]
        self.num_vertices: int = num_vertices
        self._readable: Readable | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the changes and of the data."""
        return self.changes.nbytes + sum(column.nbytes for column in self.data)

    def readable(self) -> Readable:
        """The run as a `Readable`, for `read_rows`."""
        if self._readable is None:
            self._readable = Readable(self.changes, self.data)
        return self._readable


class Arcs(NamedTuple):
    """Arcs in CSR, int64 [n + 1] and int32 [m], rows ascending, and the columns of arc data [m] each."""

    offset: Tensor
    neighbors: Tensor
    data: Sequence[Tensor]

    def verified(self, runs: Sequence[Run]) -> None:
        """Compare the files of these arcs and of runs with their checksums, unless that was done."""

    def places_of(self, part: Arcs | Run) -> list[Place]:
        """The places in files of the neighbours or changes, and then of the columns, of these arcs or of a run over
        them; empty for arcs and runs in memory, or in removed files."""
        return []

    @property
    def nbytes(self) -> int:
        """Bytes of the tensors."""
        return self.offset.nbytes + self.neighbors.nbytes + bytes_of(self.data)

    def changed(self, schema: Schema, runs: Sequence[Run], num_rows: int) -> Arcs:
        """The arcs with the runs applied, oldest first, in `num_rows` rows, at least as many as before; their data are
        `SplicedColumns`."""
        made, columns = located(schema, self, merged(schema, runs) if runs else no_changes(self), num_rows)
        return made._replace(data=columns)

    def settled(self) -> Arcs:
        """The same arcs, once all columns are there."""
        tuple(self.data)
        return self


class SplicedColumns(Sequence[Tensor]):
    """The columns of arc data [m] each with the changes of a run applied, each at its first use: few programs need
    them. What they are made from is kept until all are there."""

    def __init__(self, schema: Schema, before: Sequence[Tensor], run: Run, located: Located):
        """before : the columns of the arcs that the changes were located in."""
        self._summed, self._size, self._making = schema.summed, located.size, threading.Lock()
        self._made: list[Tensor | None] = [None] * len(before)
        self._sources: tuple[Sequence[Tensor], Run, Located] | None = tuple(before), run, located
        self.nbytes: int = sum(located.size * column.dtype.itemsize for column in before)

    def __len__(self) -> int:
        return len(self._made)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return tuple(self[each] for each in range(len(self))[place])
        if (made := self._made[place]) is None:
            with self._making:
                if (made := self._made[place]) is None:
                    made = self._made[place] = self.splice(place)
                    if all(column is not None for column in self._made):
                        self._sources = None
        return made

    def splice(self, place: int, out: Tensor | None = None) -> Tensor:
        """A column anew, [m]. out : where it goes, else to new memory."""
        assert self._sources is not None
        columns, run, located = self._sources
        before, items = columns[place], run.data[place]
        if place == self._summed:
            to, items = located.added_to(), items.clone()
            items[to] += before[located.place[to]]
        return kernels.splice(before, items, located, out)


def bytes_of(columns: Sequence[Tensor]) -> int:
    """Bytes of columns of arc data."""
    return columns.nbytes if isinstance(columns, SplicedColumns) else sum(column.nbytes for column in columns)


def no_arcs(schema: Schema) -> Arcs:
    """The arcs of an empty store."""
    data = tuple(torch.empty(0, dtype=dtype) for dtype in schema.columns.values())
    return Arcs(torch.zeros(1, dtype=torch.int64), torch.empty(0, dtype=torch.int32), data)


def no_changes(arcs: Arcs) -> Run:
    """An empty run over arcs."""
    return Run(torch.empty(0, dtype=torch.int64), tuple(column[:0] for column in arcs.data), 0)


def sorted_run(schema: Schema, src: Tensor, dst: Tensor, data: Sequence[Tensor], directed: bool) -> Run:
    """The run that inserts the arcs src[i] -> dst[i], integers [k], with these columns of data; undirected ones in both
    directions. Raises ArgumentError for numbers that are no vertices, and for sums of weights that their dtype cannot
    hold."""
    items = None
    if not directed:
        src, dst, items = both_ways(src, dst)
    changes, order, num_vertices = kernels.sort_changes(src, dst, True, schema.parallel, bool(data))
    if order is not None:
        order = order if items is None else items[order]
        data = tuple(column[order] for column in data)
    return _added_up(schema, Run(changes, tuple(data), num_vertices), checks=True)


def deleting_run(schema: Schema, src: Tensor, dst: Tensor, directed: bool) -> Run:
    """The run that deletes all arcs src[i] -> dst[i], integers [k], and of undirected edges their reverses."""
    if not directed:
        src, dst, _ = both_ways(src, dst)
    changes, _, num_vertices = kernels.sort_changes(src, dst, False, schema.parallel, False)
    data = tuple(torch.zeros(len(changes), dtype=dtype) for dtype in schema.columns.values())
    return Run(changes, data, num_vertices)


def both_ways(src: Tensor, dst: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Each arc followed by its reverse, except for self-loops, and the index of the given arc, int64."""
    ends, others = torch.stack((src, dst), 1), torch.stack((dst, src), 1)
    item = torch.arange(len(src)).repeat_interleave(2)
    stays = torch.ones_like(ends, dtype=torch.bool)
    stays[:, 1] = src != dst
    if bool(stays.all()):
        return ends.view(-1), others.view(-1), item
    return ends[stays], others[stays], item[stays.view(-1)]


def merged(schema: Schema, runs: Sequence[Run]) -> Run:
    """Runs, oldest first, as one."""
    if len(runs) == 1:
        return runs[0]
    changes, order = kernels.merge_changes([run.changes for run in runs], schema.parallel, bool(schema.columns))
    columns = zip(*(run.data for run in runs), strict=True)
    data = () if order is None else tuple(torch.cat(column)[order] for column in columns)
    return _added_up(schema, Run(changes, data, max([run.num_vertices for run in runs])))


def rows_added_up(
    schema: Schema, offset: Tensor, neighbors: Tensor, data: Sequence[Tensor]
) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
    """Rows with columns of arc data in which parallel arcs follow each other, with their weights added up."""
    row = sorting.expand_rows(offset)
    run = _added_up(schema, Run(row << 32 | neighbors.to(torch.int64), tuple(data), 0))
    degree = torch.bincount(run.changes >> 32, minlength=len(offset) - 1)
    return offset_of(degree), (run.changes & 0xFFFFFFFF).to(neighbors.dtype), run.data


def _added_up(schema: Schema, run: Run, checks: bool = False) -> Run:
    """The run with the weights of parallel arcs added up, where the rule says so; checks : whether the sums fit. Sums
    of runs of checked batches may wrap round, but are right once they are added to the weights before."""
    if schema.parallel != "sum" or run.size < 2:
        return run
    ends = torch.ones(run.size, dtype=torch.bool)
    torch.ne(run.changes[1:], run.changes[:-1], out=ends[:-1])
    if bool(ends.all()):
        return run
    data = [column[ends] for column in run.data]
    if schema.summed is not None:
        group = torch.cumsum(ends, 0) - ends.to(torch.int64)
        weights = run.data[schema.summed]
        if checks:
            added = sums.by_group(weights, group, len(data[0]), weights.dtype, "weights: those of parallel arcs")
        else:
            added = torch.zeros(len(data[0]), dtype=weights.dtype).index_add_(0, group, weights)
        data[schema.summed] = added
    return Run(run.changes[ends], tuple(data), run.num_vertices)


def spliced(schema: Schema, arcs: Arcs, run: Run, num_rows: int, out: Sequence[Tensor] = ()) -> Arcs:
    """The arcs with the changes of a run applied, in `num_rows` rows, at least as many as before. out : tensors for
    neighbours and columns, else new ones are made."""
    made, columns = located(schema, arcs, run, num_rows, *out[:1])
    data = (columns.splice(place, out[place + 1] if out else None) for place in range(len(columns)))
    return made._replace(data=tuple(data))


def located(
    schema: Schema, arcs: Arcs, run: Run, num_rows: int, out: Tensor | None = None
) -> tuple[Arcs, SplicedColumns]:
    """The same without data, and the columns of that. out : a tensor for the neighbours."""
    offset, where = kernels.locate_changes(arcs.offset, arcs.neighbors, run.changes, schema.parallel, num_rows)
    neighbors = kernels.splice(arcs.neighbors, None, where, out)
    return Arcs(offset, neighbors, ()), SplicedColumns(schema, arcs.data, run, where)
