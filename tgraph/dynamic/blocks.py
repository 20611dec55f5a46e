"""The arcs of a version as blocks that are streamed: each is read from the CSR with the runs of changes merged in."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import xxhash
from torch import Tensor

from tgraph.core.rows import offset_of
from tgraph.dynamic.runs import WEIGHTS, Arcs, Run, Schema, merged, spliced
from tgraph.dynamic.version import Version
from tgraph.stream.file.container import Extent, as_bytes
from tgraph.stream.file.writing import ArcRange, GraphInfo, block_size, cut, local_offset
from tgraph.stream.memory import let_go, read_ahead
from tgraph.stream.run.budget import BLOCKS_IN_MEMORY, block_count, budget_for, vertex_bytes
from tgraph.stream.run.out_arcs import OutArcs

_WORK = 48  # bytes that merging takes for each change of a block
_LAST = 2**63 - 1  # behind all changes


class Part(NamedTuple):
    """Where a block comes from: the rows from `first_row` to `end_row - 1`, of which the first and the last may have
    arcs in other blocks, the arcs [begin, end) of the CSR, and the changes [begins[i], ends[i]) of each run."""

    first_row: int
    end_row: int
    begin: int
    end: int
    begins: list[int]
    ends: list[int]

    @property
    def changes(self) -> int:
        """How many changes there are."""
        return sum(self.ends) - sum(self.begins)


class VersionBlocks(OutArcs):
    """The arcs of a version of a graph with the interface of a `BlockFile`.

    version, directed, ids : of the snapshot. memory : the budget, in bytes, from which the size of blocks follows.
    folder : where in-arcs are sorted, if anything needs their rows. beside : whether the data of vertices comes beside
    the budget, which is then for blocks alone.

    A block ends where a pair of vertices does, so that a row may lie in several. Where there are runs, one pass over
    all arcs counts those of each row.
    Raises MemoryBudgetError where the vertex data does not fit the budget.
    """

    pushes = True

    def __init__(
        self,
        version: Version,
        directed: bool,
        ids: Any,
        memory: int,
        folder: Path | None = None,
        beside: bool = False,
    ):
        self.path, self.direct = str((folder or Path(tempfile.gettempdir())) / "snapshot"), False
        self.directed, self._ids = directed, ids
        self._checked_blocks = set()
        base, runs = version.known()
        base.verified(runs)
        self._schema, self._base, self._runs = _with_weights_alone(version.schema, base, runs)
        self._is_mapped = base.mapped, [run.mapped for run in runs]
        self._working = 0
        self.num_vertices, self.neighbor_dtype = version.num_vertices, torch.int32
        self.weight_dtype = self._schema.columns.get(WEIGHTS)
        self.memory = self._memory = budget_for(memory + vertex_bytes(self)) if beside else memory
        self._parts = self._planned()
        self._offset, firsts = self._counted()
        self.num_arcs = int(firsts[-1])
        info = GraphInfo(self.num_vertices, self.num_arcs, self.directed, self.neighbor_dtype, self.weight_dtype)
        blocks = cut(self._offset, firsts)
        self.index = [Extent(0, *block, 0, block_size(block, info), 0) for block in blocks]
        self._own = len(self.index)

    def close(self) -> None:
        """Let go of sorted in-arcs."""
        if self._reverse is not None:
            self._reverse.close()

    # ---- what is resident ------------------------------------------------------------------------------------------

    def offset(self, section: str = "rows") -> Tensor:
        """See `BlockFile.offset`."""
        return self._offset if self._section(section) == 0 else self._transpose().offset()

    @property
    def weight_statistics(self) -> None:
        """None: unknown without a pass over the arcs."""
        return None

    @property
    def order(self) -> None:
        """None: vertices are numbered as they came."""
        return None

    @property
    def vertices(self) -> Any:
        """The ids of the snapshot."""
        return self._ids

    def identity(self) -> list[Tensor]:
        """The offsets, and a checksum of the arcs that depends neither on runs nor on blocks."""
        sums = [xxhash.xxh3_64(), xxhash.xxh3_64()]
        for number in range(self._own):
            arcs = self._merged(self._parts[number])
            for total, tensor in zip(sums, (arcs.neighbors, *arcs.data), strict=False):
                total.update(as_bytes(tensor))
        return [self._offset, torch.tensor(list(b"".join(total.digest() for total in sums)), dtype=torch.uint8)]

    @property
    def working_bytes(self) -> int:
        """Bytes that merging a block takes."""
        return self._working

    # ---- planning --------------------------------------------------------------------------------------------------

    def _planned(self) -> list[Part]:
        """The parts, each of no more arcs and changes than suit the budget, unless they are of one pair."""
        pending, count = sum(run.size for run in self._runs), len(self._runs) + 1
        most = len(self._base.neighbors) + pending
        width = self.neighbor_dtype.itemsize + (0 if self.weight_dtype is None else self.weight_dtype.itemsize)
        work = (width + (_WORK if pending else 0)) * most // BLOCKS_IN_MEMORY  # of one block, of changes alone
        blocks = block_count(self, width * most + work, self._memory)
        size = max(most // blocks, 1)
        step = max(size // (2 * count), 1)
        places = torch.arange(step, max(len(self._base.neighbors), step), step)
        keys = [self._base_keys(places), *(run.changes[step::step] & ~1 for run in self._runs)]
        found = torch.unique(torch.cat(keys).sort().values[count - 1 :: count])
        parts = self._between([0, *found[found > 0].tolist(), _LAST])
        self._working = max(part.changes for part in parts) * _WORK + size * width
        return parts

    def _base_keys(self, places: Tensor) -> Tensor:
        """The changes that would insert these arcs of the CSR, but for the lowest bit."""
        rows = torch.searchsorted(self._base.offset, places, right=True) - 1
        return rows << 32 | self._base.neighbors[places].to(torch.int64) << 1

    def _between(self, keys: Sequence[int]) -> list[Part]:
        """The parts between ascending keys."""
        bases = [self._base_place(key) for key in keys]
        runs = [torch.searchsorted(run.changes, torch.tensor(keys)).tolist() for run in self._runs]
        rows = [key >> 32 for key in keys[:-1]] + [self.num_vertices]
        parts = []
        for number, key in enumerate(keys[1:]):
            end_row = min((key - 1 >> 32) + 1, self.num_vertices)
            begins, ends = ([places[at] for places in runs] for at in (number, number + 1))
            parts.append(Part(rows[number], end_row, bases[number], bases[number + 1], begins, ends))
        return parts

    def _base_place(self, key: int) -> int:
        """Which arc of the CSR is the first that is not before a key."""
        offset, row = self._base.offset, key >> 32
        if row >= len(offset) - 1:
            return len(self._base.neighbors)
        begin, end = offset[row : row + 2].tolist()
        return begin + int(torch.searchsorted(self._base.neighbors[begin:end], (key >> 1) & 0x7FFFFFFF))

    def _counted(self) -> tuple[Tensor, Tensor]:
        """(the offsets of all rows, the first arc of each block and the number of arcs)"""
        base = self._base
        if not self._runs:
            offset = torch.full((self.num_vertices + 1,), len(base.neighbors))
            offset[: len(base.offset)] = base.offset
            return offset, torch.tensor([*(part.begin for part in self._parts), len(base.neighbors)])
        degree, firsts = torch.zeros(self.num_vertices, dtype=torch.int64), [0]
        for part in self._parts:
            offset = self._merged(part, data=False).offset
            degree[part.first_row : part.end_row] += offset.diff()
            firsts.append(firsts[-1] + int(offset[-1]))
            self._let_go(part)
        return offset_of(degree), torch.tensor(firsts)

    # ---- blocks ----------------------------------------------------------------------------------------------------

    def _merged(self, part: Part, data: bool = True) -> Arcs:
        """The arcs of a part, with offsets of its rows from 0; those of the CSR itself where nothing is changed."""
        base, rows = self._base, len(self._base.offset) - 1
        given = base.data if data else ()
        columns = tuple(column[part.begin : part.end] for column in given)
        block = ArcRange(min(part.first_row, rows), min(part.end_row, rows), part.begin, part.end)
        arcs = Arcs(local_offset(base.offset, block), base.neighbors[part.begin : part.end], columns)
        num_rows = part.end_row - part.first_row
        if not part.changes:
            missing = num_rows + 1 - len(arcs.offset)
            return arcs._replace(offset=torch.cat((arcs.offset, arcs.offset[-1:].expand(missing))))
        schema = self._schema if data else Schema(self._schema.parallel, {})
        changes = [
            Run(run.changes[begin:end] - (part.first_row << 32), _cut(run.data[: len(given)], begin, end), 0)
            for run, begin, end in zip(self._runs, part.begins, part.ends, strict=True)
            if begin < end
        ]
        return spliced(schema, arcs, merged(schema, changes), num_rows)

    def _fetch(self, block: int, memory: Tensor) -> None:
        """Have the system read it; it is put into `memory` by `_verify`, beside the reading of the next."""
        read_ahead(self._mapped(self._parts[block]))

    def _verify(self, block: int, memory: Tensor) -> None:
        part, views = self._parts[block], self.views(block, memory)
        arcs, skipped = self._merged(part), views.first_row - part.first_row
        views.offset.copy_(arcs.offset[skipped : skipped + len(views.offset)])
        views.neighbors.copy_(arcs.neighbors)
        if views.weights is not None:
            views.weights.copy_(arcs.data[0])
        self._let_go(part)
        self._check_entries(block, memory)

    def _let_go(self, part: Part) -> None:
        let_go(self._mapped(part))

    def _mapped(self, part: Part) -> list[Tensor]:
        """What of a part lies on maps of files."""
        base, found = self._base, list[Tensor]()
        if self._is_mapped[0]:
            found += (
                base.offset[part.first_row : part.end_row],
                *_cut((base.neighbors, *base.data), part.begin, part.end),
            )
        for run, is_mapped, begin, end in zip(self._runs, self._is_mapped[1], part.begins, part.ends, strict=True):
            found += _cut((run.changes, *run.data), begin, end) if is_mapped else ()
        return found


def _cut(columns: Sequence[Tensor], begin: int, end: int) -> tuple[Tensor, ...]:
    return tuple(column[begin:end] for column in columns)


def _with_weights_alone(schema: Schema, base: Arcs, runs: Sequence[Run]) -> tuple[Schema, Arcs, list[Run]]:
    """What a version keeps, without other columns of arc data."""
    chosen = [place for place, name in enumerate(schema.columns) if name == WEIGHTS]
    return (
        Schema(schema.parallel, {name: schema.columns[name] for name in schema.columns if name == WEIGHTS}),
        Arcs(base.offset, base.neighbors, tuple(base.data[place] for place in chosen)),
        [Run(run.changes, tuple(run.data[place] for place in chosen), run.num_vertices) for run in runs],
    )
