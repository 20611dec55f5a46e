"""Selecting rows of a CSR structure without a loop over rows (the paper's Algorithm 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, cast

import torch
from torch import Tensor

from tgraph.core.building import soundness
from tgraph.core.derived import AtFirstUse, computed_once
from tgraph.core.storage import CsrTensors, Rows, Storage


def offset_of(degree: Tensor) -> Tensor:
    """Where the arcs of each row begin, int64 [n + 1], from their numbers [n]."""
    offset = torch.zeros(len(degree) + 1, dtype=torch.int64, device=degree.device)
    torch.cumsum(degree, 0, out=offset[1:])
    return offset


def gather_rows(
    offset: Tensor, rows: Tensor | None, *, num_arcs: int | None = None, width: int | None = None
) -> tuple[Tensor, Tensor]:
    """Where the arcs of the given rows (None: of all) are stored, row after row.

    `offset` is int64 [n + 1], `rows` an index tensor [k]. Returns the offsets of the selection, int64 [k + 1], and
    the stored position of each selected arc, int64 [e]. Costs O(k + e). `num_arcs`, where the caller knows e, spares
    a device-to-host read; `width` takes at most so many arcs of each row.
    """
    first, degree = _stretches(offset, rows, width)
    return gather_stretches(first, degree, num_arcs=num_arcs)


def gather_stretches(first: Tensor, degree: Tensor, *, num_arcs: int | None = None) -> tuple[Tensor, Tensor]:
    """The same for rows [k] whose arcs are stored from `first` on, `degree` of each, integers [k]."""
    selected, shift = _shifts(first, degree)
    total = int(selected[-1]) if num_arcs is None else num_arcs
    shift = torch.repeat_interleave(shift, degree, output_size=total)
    return selected, shift + torch.arange(total, device=first.device)


def row_shifts(offset: Tensor, rows: Tensor | None, width: int | None) -> tuple[Tensor, Tensor]:
    """The offsets of a selection as in `gather_rows`, int64 [k + 1], and how far from there its arcs are stored: arc j
    of the selection, in row i, at j + shift[i], int64 [k]. O(k), and nothing is waited for."""
    return _shifts(*_stretches(offset, rows, width))


def _stretches(offset: Tensor, rows: Tensor | None, width: int | None) -> tuple[Tensor, Tensor]:
    """(where the arcs of each row begin, how many of them are selected)"""
    first = offset[:-1] if rows is None else offset.index_select(0, rows)
    degree = (offset[1:] if rows is None else offset.index_select(0, rows + 1)) - first
    return first, degree if width is None else degree.clamp(max=width)


def _shifts(first: Tensor, degree: Tensor) -> tuple[Tensor, Tensor]:
    selected = torch.zeros(len(first) + 1, dtype=torch.int64, device=first.device)
    torch.cumsum(degree, 0, out=selected[1:])
    return selected, first - selected[:-1]


class Selection:
    """The arcs of some rows of a CSR structure: (offset [k + 1], neighbors [e], positions [e]), as which it unpacks.

    Arcs are gathered at first use of a tensor; kernels that read the stored rows use none of them. For all rows these
    are the stored tensors, not copied, and positions is None.

    stored_offset, stored_neighbors : the structure, int64 [n + 1] and int32/int64 [m].
    rows : the rows selected, an index tensor [k], or None for all of them in order.
    width : at most so many arcs of each row, the first ones; None takes all.
    weights : those of the arcs, [e], where they come with the rows (a graph in a layout of its own), else None.
    """

    stored_offset: Tensor
    stored_neighbors: Tensor
    rows: Tensor | None
    width: int | None

    weights: Tensor | None = None

    def __init__(
        self,
        stored_offset: Tensor,
        stored_neighbors: Tensor,
        rows: Tensor | None = None,
        *,
        width: int | None = None,
        num_arcs: int | None = None,
    ):
        self.stored_offset, self.stored_neighbors, self.rows, self.width = stored_offset, stored_neighbors, rows, width
        self._num_arcs = stored_neighbors.shape[0] if self.is_whole else num_arcs

    def ensure_valid(self, num_columns: int) -> None:
        """Check the structure; see `tgraph.core.building.soundness`."""
        if not torch.compiler.is_compiling():
            soundness.ensure_sound(self.stored_offset, self.stored_neighbors, num_columns)

    @property
    def is_whole(self) -> bool:
        """True where every arc of every row is selected."""
        return self.rows is None and self.width is None

    @property
    def num_rows(self) -> int:
        """k, the rows selected."""
        return self.stored_offset.shape[0] - 1 if self.rows is None else self.rows.shape[0]

    @property
    def known_num_arcs(self) -> int | None:
        """e, where it is known without gathering or a device-to-host read."""
        return self._num_arcs

    @computed_once
    def _gathered(self) -> tuple[Tensor, Tensor | None]:
        if self.is_whole:
            return self.stored_offset, None
        return gather_rows(self.stored_offset, self.rows, num_arcs=self._num_arcs, width=self.width)

    @property
    def offset(self) -> Tensor:
        """Where each selected row begins among the selected arcs, int64 [k + 1]."""
        return self._gathered[0]

    @property
    def positions(self) -> Tensor | None:
        """Where each selected arc is stored, int64 [e], or None where all are held in stored order."""
        return self._gathered[1]

    @computed_once
    def neighbors(self) -> Tensor:
        """The neighbour that each selected arc leads to, [e]."""
        return (
            self.stored_neighbors if self.positions is None else self.stored_neighbors.index_select(0, self.positions)
        )

    @property
    def num_arcs(self) -> int:
        """e, the arcs selected."""
        if self._num_arcs is None:
            self._num_arcs = len(self.neighbors)
        return self._num_arcs

    def __iter__(self) -> Iterator[Tensor | None]:
        return iter((self.offset, self.neighbors, self.positions))


class DeferredSelection(Selection):
    """All rows of a graph whose tensors are read or made when they are first used."""

    stored_offset = cast(Tensor, AtFirstUse())
    stored_neighbors = cast(Tensor, AtFirstUse())
    _num_arcs = cast("int | None", AtFirstUse())

    def __init__(self, graph: CsrTensors):
        self._graph, self.rows, self.width = graph, None, None

    def _at_first_use(self, name: str) -> Any:
        return len(self.stored_neighbors) if name == "_num_arcs" else getattr(self._graph, name.removeprefix("stored_"))


class InLayout(Protocol):
    """The interface of a graph in a layout to its selections; implemented by `tgraph.Graph`."""

    @property
    def storage(self) -> Storage: ...

    @property
    def num_arcs(self) -> int: ...

    def decoded(self) -> CsrTensors: ...

    def row_offset(self) -> Tensor: ...


class LayoutSelection(Selection):
    """A selection of rows of a graph in a layout. `offset`, `neighbors` and `weights` of some rows decode these rows
    only; the stored structure is that of `graph.decoded()`."""

    graph: InLayout
    rows: Tensor | None
    width: int | None

    def __init__(self, graph: InLayout, rows: Tensor | None, width: int | None, num_arcs: int | None):
        self.graph, self.rows, self.width = graph, rows, width
        self._num_arcs = graph.num_arcs if self.is_whole else num_arcs

    def ensure_valid(self, num_columns: int) -> None:
        """Nothing: a layout was checked when it was made."""

    @property
    def stored_offset(self) -> Tensor:  # type: ignore[override]
        """See `Selection`; decodes the graph."""
        return self.graph.decoded().offset

    @property
    def stored_neighbors(self) -> Tensor:  # type: ignore[override]
        """See `Selection`; decodes the graph."""
        return self.graph.decoded().neighbors

    @computed_once
    def _decoded(self) -> Rows:
        """(offset, neighbors, weights) of the rows selected."""
        if self.rows is None:
            stored = self.graph.decoded()
            offset, neighbors, weights = stored.offset, stored.neighbors, stored.weights
        else:
            offset, neighbors, weights = self.graph.storage.rows(self.rows.to(torch.int64))
        if self.width is None:
            return offset, neighbors, weights
        kept, arcs = gather_rows(offset, None, width=self.width)
        return kept, neighbors.index_select(0, arcs), None if weights is None else weights.index_select(0, arcs)

    @property
    def offset(self) -> Tensor:
        """See `Selection`."""
        return self._decoded[0]

    @property
    def neighbors(self) -> Tensor:
        """See `Selection`."""
        return self._decoded[1]

    @property
    def weights(self) -> Tensor | None:  # type: ignore[override]
        """The weight of each selected arc, [e], or None."""
        return self._decoded[2]

    @computed_once
    def positions(self) -> Tensor | None:
        """Position of each selected arc in CSR, int64 [e], or None where the selection is the whole graph."""
        if self.is_whole:
            return None
        return gather_rows(self.graph.row_offset(), self.rows, num_arcs=self.num_arcs, width=self.width)[1]


class Decoded(Selection):
    """Some rows of a graph in a layout as a structure of their own, so that kernels read them: row i of it is the i-th
    row selected. `positions` are still those of the arcs in the whole graph."""

    def __init__(self, selected: LayoutSelection):
        self._selected = selected
        offset, neighbors = selected.offset, selected.neighbors
        rows = torch.arange(len(offset) - 1, device=offset.device)
        super().__init__(offset, neighbors, rows, num_arcs=len(neighbors))

    def ensure_valid(self, num_columns: int) -> None:
        """Nothing: a layout was checked when it was made."""

    @property
    def offset(self) -> Tensor:
        """See `Selection`."""
        return self.stored_offset

    @property
    def positions(self) -> Tensor | None:
        """See `Selection`."""
        return self._selected.positions

    @property
    def neighbors(self) -> Tensor:
        """See `Selection`."""
        return self.stored_neighbors

    @property
    def weights(self) -> Tensor | None:  # type: ignore[override]
        """The weight of each selected arc, [e], or None."""
        return self._selected.weights


def partition(items: Tensor, keep: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The items [e] that are marked in keep [e], `count` of them, and the others, each in order; no host read."""
    kept = keep.cumsum(0, dtype=torch.int64)
    position = torch.arange(len(items), device=items.device)
    place = torch.where(keep, kept - 1, count + position - kept)
    ordered = torch.empty_like(items).scatter_(0, place, items)
    return ordered[:count], ordered[count:]


class Scratch:
    """A table with an entry for each vertex that is never filled: only the entries that an operation names are written
    and read, so that the cost follows the operation. Allocated at first use and used again: fresh memory costs a page
    fault for every entry touched."""

    def __init__(self, size: int):
        self.size = size
        self._table: Tensor | None = None
        self._slots: dict[torch.dtype, Tensor] = {}
        self._bitmap: Tensor | None = None

    def slots(self, dtype: torch.dtype) -> Tensor:
        """A table for the compiled kernels, of an integer dtype [size] on the CPU: no entry means anything yet."""
        if dtype not in self._slots:
            self._slots[dtype] = torch.empty(self.size, dtype=dtype, device="cpu")
        return self._slots[dtype]

    def bitmap(self, device: torch.device) -> Tensor:
        """A bit for each vertex, int32 [ceil(size / 32)], none of them set: a caller clears the bits that it sets."""
        if self._bitmap is None or self._bitmap.device != device:
            self._bitmap = torch.zeros(-(-self.size // 32), dtype=torch.int32, device=device)
        return self._bitmap

    def distinct(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """(keep, slot) for vertices [e]: `keep` marks the first occurrence of each distinct one, and `slot` says which
        of the kept ones, in order, each element equals. O(e)."""
        position = torch.arange(len(index), device=index.device)
        first = self._first_position(index, position)
        keep = first == position
        return keep, (keep.cumsum(0, dtype=torch.int64) - 1).index_select(0, first)

    def first_marked(self, index: Tensor, marked: Tensor) -> Tensor:
        """The first marked occurrence of each distinct vertex, bool [e]. O(e)."""
        position = torch.arange(len(index), device=index.device)
        return self._first_position(index, torch.where(marked, position, len(index))) == position

    def _first_position(self, index: Tensor, position: Tensor) -> Tensor:
        """For each element the least position at which its vertex occurs, [e]."""
        if self._table is None or self._table.device != index.device:
            self._table = torch.empty(self.size, dtype=torch.int64, device=index.device)
        self._table[index] = len(index)
        self._table.scatter_reduce_(0, index, position, "amin")
        return self._table.index_select(0, index)
